// What README.md says to write and to type works: its example estimator is registered, and its commands run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "estimators/registry.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

// The axioms run on it because it is one of these: CMake compiles the page's code with the page's line of the registry.
TEST(Readme, ItsExampleEstimatorIsRegistered) {
  const Estimator& example = estimators::find(OPSHAP_EXAMPLE);
  EXPECT_EQ(OPSHAP_EXAMPLE, example.name());
  EXPECT_TRUE(example.guarantees().uses_budget()) << "an example that takes what it needs shows half of the interface";
}

/// The lines of the page's blocks of commands, without their comments: blocks without a language, but for the tree.
std::vector<std::string> commands() {
  std::istringstream page(read_file(fs::path(OPSHAP_SOURCE_DIR) / "README.md"));
  std::vector<std::string> found;
  std::string section, fence;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = line;
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
    } else if (fence == "```" && section != "## The tree" && !line.empty()) {
      line.resize(std::min(line.size(), line.find(" #")));
      line.resize(line.find_last_not_of(' ') + 1);
      found.push_back(line);
    }
  }
  return found;
}

/// The page's blocks of Python, one after the other.
std::string python_blocks() {
  std::istringstream page(read_file(fs::path(OPSHAP_SOURCE_DIR) / "README.md"));
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```python";
    } else if (inside) {
      text += line + '\n';
    }
  }
  return text;
}

/// Whether a command builds the project, which is what CI does with it, needs a LibTorch that is not here, or installs,
/// which is a test of its own.
bool builds(const std::string& command) {
  return command == "./reproduce" || command == "./verify" || command.starts_with("cmake --preset ") ||
         command.starts_with("cmake --install ");
}

using ReadmeCommands = Program;

TEST_F(ReadmeCommands, Run) {
  file("game.json",
       R"({"players":8,"terms":[{"coalition":[0,1],"coefficient":2},{"coalition":[2],"coefficient":-1}]})");
  data::Safetensors network =
      data::read_safetensors(fs::path(OPSHAP_SOURCE_DIR) / "reference_data/neuraloperator/plain.safetensors");
  file("config.json", network.metadata.extract("config").mapped());
  data::write_safetensors(path("state_dict.safetensors"), network);  // the page makes an operator of the two
  std::vector<double> field(1024);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = std::sin(0.01 * static_cast<double>(i));
  data::write_npy(path("u.npy"), {.shape = {1024}, .dtype = data::Dtype::float32, .values = field});
  fs::copy_file(fs::path(OPSHAP_SOURCE_DIR) / "reference_data/pdebench/1D_Advection_Sols_beta1.0.hdf5",
                path("1D_Advection_Sols_beta1.0.hdf5"));
  const fs::path meshes = fs::path(OPSHAP_SOURCE_DIR) / "reference_data/meshes";
  fs::copy_file(meshes / "plate_4_1.msh", path("plate.msh"));
  fs::copy_file(meshes / "plate_model.pt", path("model.pt"));
  const std::vector<double> on_plate(field.begin(), field.begin() + 76);
  data::write_npy(path("plate_u.npy"), {.shape = {76}, .dtype = data::Dtype::float32, .values = on_plate});
  const std::vector<double> fields(field.begin(), field.begin() + 640);
  data::write_npy(path("fields.npy"), {.shape = {20, 32}, .dtype = data::Dtype::float32, .values = fields});
  for (const char* name : {"inputs.npy", "targets.npy"})
    data::write_npy(path(name), {.shape = {8, 128}, .dtype = data::Dtype::float32, .values = field});
  file("my_model/plugin.toml",
       "name = 'my_model'\nrole = 'operator'\ncommand = ['python3', 'model.py']\n"
       "[env]\nPYTHONPATH = '" OPSHAP_SOURCE_DIR "/python'\n");
  file("my_model/model.py", "from opshap_peer import operator\noperator(1)(lambda fields: fields ** 2).serve()\n");
  // The attribution that the page certifies is of the game of its next command.
  const Outcome mine = opshap("attribute --game unanimity_sum --players 64 --method permutation --budget 1024 --json");
  ASSERT_EQ(0, mine.code) << mine.err;
  file("mine.json", mine.out);

  const bool numpy = std::system("python3 -c 'import numpy' > /dev/null 2>&1") == 0;  // tools/setup installs it
  int run = 0;
  for (const std::string& command : commands()) {
    if (builds(command)) continue;
    ASSERT_TRUE(command.starts_with("opshap ")) << command << ": say here how to run it";
    if (!numpy && command.find("my_") != std::string::npos) continue;
#ifndef OPSHAP_WITH_NETWORKS
    if (command.find("operator") != std::string::npos) continue;
#endif
    const bool trains = command.starts_with("opshap train ");  // for minutes
    const Outcome outcome =
        shell("cd " + folder_.string() + " && " + OPSHAP_BINARY_DIR + "/" + command + (trains ? " --samples 32" : ""));
    EXPECT_EQ(0, outcome.code) << command << "\n" << outcome.err;
    EXPECT_NE("", outcome.out) << command;
    ++run;
  }
  EXPECT_GE(run, 3) << "the page's commands were not found";
#ifdef OPSHAP_WITH_NETWORKS
  ASSERT_NE(std::string::npos, python_blocks().find("opshap.load"));
  file("page.py", "import sys\nsys.path.insert(0, '" OPSHAP_SOURCE_DIR
                  "/python')\nimport numpy as np\n"
                  "u, weights = np.load('u.npy'), np.arange(64.0)\n" +
                      python_blocks());
  const Outcome python = shell("cd " + folder_.string() + " && OPSHAP=" OPSHAP_BINARY_DIR "/opshap python3 page.py");
  EXPECT_TRUE(!numpy || python.code == 0) << python.err;
#endif
}

}  // namespace
}  // namespace opshap
