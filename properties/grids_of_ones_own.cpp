// Arrays on grids of other shapes than squares, from their import to the report of a run in profile smoke.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "data/dataset.hpp"
#include "data/npy.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"
#include "support/refusal.hpp"
#include "support/staying_program.hpp"

namespace opshap {
namespace {

/// One wave a sample, and its shift.
class GridsOfOnesOwn : public StayingProgram {
 protected:
  void write(const std::string& name, int nx, int ny, double shift) const {
    std::vector<double> values;
    for (int sample = 0; sample < 16; ++sample) {
      for (int i = 0; i < nx; ++i)
        for (int j = 0; j < ny; ++j)
          values.push_back(
              std::sin(2 * std::numbers::pi * (i / double(nx) + (1 + sample % 3) * j / double(ny)) + shift + sample));
    }
    data::write_npy(path(name), {{16, 1, nx, ny}, data::Dtype::float64, values});
  }

  /// The commands of the stages fit the profile as the whole chain does; smoke wants 16 points and 8 test inputs.
  void expect_the_stages_to_fit() const {
    const std::string common = " --data " + path("set.h5") + " --profile smoke --config " + path("small.toml") + " -q";
    const std::string op = " --operator " + path("stage/model.safetensors");
    for (const auto& command : {"reproduce" + common + " --out " + path("run"),  // the stored profile is the same
                                "train backbone" + common + " --out " + path("stage"),
                                "train explainer" + common + op + " --out " + path("explainer"),
                                "evaluate" + common + op + " --explainer " + path("explainer/model.safetensors") +
                                    " --out " + path("scored")})
      done(command);
  }

  const std::string small_ =
      "[operator]\nmodes = 4\nwidth = 8\nlayers = 2\n[backbone]\nepochs = 2\n[explainer]\nepochs = 1\ncoalitions = 4\n"
      "[evaluation]\ninputs = 1\nmethods = ['mean_field']\nreference_error = 0.5\nreference_budget = 64\n"
      "faithfulness_coalitions = 50\ncurves = []\n";
};

TEST_F(GridsOfOnesOwn, AreImportedLookedAtTrainedOnAndEvaluated) {
  const std::map<std::pair<int, int>, std::vector<std::vector<int>>> shapes = {
      {{24, 40}, {{6, 10}, {12, 20}, {24, 40}}}, {{32, 128}, {{4, 16}, {8, 32}}}};
  for (const auto& [shape, served] : shapes) {
    const auto [nx, ny] = shape;
    write("u.npy", nx, ny, 0);
    write("v.npy", nx, ny, 0.5);
    const Outcome made = done("data import npy --input " + path("u.npy") + " --target " + path("v.npy") +
                              " --periodic true --train 10 --validation 4 --test 2 --name own --out " + path("set.h5") +
                              (nx == 32 ? " --resolutions 4x16,8x32" : ""));
    EXPECT_TRUE(has(made.out, "periodic; y: " + std::to_string(ny) + " points on [0, 1), periodic"))
        << "the kind of the grid is told\n"
        << made.out;
    done("data info " + path("set.h5"));
    done("data verify " + path("set.h5"));
    done("data preview " + path("set.h5") + " --out " + path("sheet.html"));
    done("reproduce --profile smoke --data " + path("set.h5") + " --config " + file("small.toml", small_) + " --out " +
         path("run") + " -q");
    std::set<std::vector<int>> found;
    for (const auto& row : runs::read_results(path("run/npy_own")).attributions) found.insert(row.shape);
    EXPECT_EQ(std::set<std::vector<int>>(served.begin(), served.end()), found);
    EXPECT_EQ(std::vector<Resolution>{}, runs::read_run(path("run/npy_own")).missing_resolutions());
    EXPECT_TRUE(is_there(std::filesystem::path(path("run/npy_own")) / "report.html"));
    if (nx == 24) expect_the_stages_to_fit();
    for (const char* name : {"run", "stage", "explainer", "scored", "set.h5"}) std::filesystem::remove_all(path(name));
  }
}

}  // namespace
}  // namespace opshap
