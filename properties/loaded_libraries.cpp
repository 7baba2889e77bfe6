// What the program has in memory: LibTorch, a BLAS, MPI, XGBoost and an OpenMP runtime only where a command needs them.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "data/npy.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

class LoadedLibraries : public Program {
 protected:
  /// The file names of all shared libraries that a command has loaded.
  std::set<std::string> loaded_by(const std::string& arguments) const {
    const Outcome outcome = shell("LD_DEBUG=libs " OPSHAP_BINARY_DIR "/opshap " + arguments);
    EXPECT_EQ(0, outcome.code) << outcome.err;
    std::set<std::string> names;
    std::istringstream lines(outcome.err);
    const std::string begins = "calling init: ";
    for (std::string line; std::getline(lines, line);) {
      if (const std::size_t at = line.find(begins); at != std::string::npos)
        names.insert(std::filesystem::path(line.substr(at + begins.size())).filename().string());
    }
    return names;
  }
};

std::set<std::string> among(const std::set<std::string>& names, std::initializer_list<const char*> parts) {
  std::set<std::string> found;
  for (const std::string& name : names) {
    for (const char* part : parts) {
      if (name.find(part) != std::string::npos) found.insert(name);
    }
  }
  return found;
}

const std::initializer_list<const char*> of_networks = {"torch", "libc10", "blas", "mkl", "libmpi", "opshap-networks"},
                                         of_threads = {"gomp", "libomp", "iomp"};

TEST_F(LoadedLibraries, OfLightCommandsAreLight) {
  for (const char* arguments : {"list estimators", "--help", "attribute --game unanimity_sum --players 8",
                                "attribute --game unanimity_sum --players 8 --method kernel_shap --budget 100"}) {
    const std::set<std::string> names = loaded_by(arguments);
    EXPECT_TRUE(names.contains("libopshap.so")) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, of_networks)) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, of_threads)) << arguments;
    EXPECT_EQ(std::set<std::string>{}, among(names, {"xgboost"})) << arguments;
  }
}

TEST_F(LoadedLibraries, OfTreesAreThereForWhoFitsTrees) {
  const std::set<std::string> names =
      loaded_by("attribute --game unanimity_sum --players 8 --method regression_msr_tree --budget 100");
  EXPECT_EQ(1u, among(names, {"libxgboost"}).size());
  EXPECT_EQ(std::set<std::string>{}, among(names, of_networks));
}

#ifdef OPSHAP_WITH_NETWORKS
TEST_F(LoadedLibraries, HaveOneOpenMpRuntimeOrTheDoctorSaysSo) {
  data::write_npy(path("u.npy"),
                  {.shape = {1, 16}, .dtype = data::Dtype::float64, .values = std::vector<double>(16, 0.5)});
  const std::string asked = message("attribute --operator ", OPSHAP_BINARY_DIR,
                                    "/share/opshap/operators/burgers1d.safetensors --query 8 --input ", path("u.npy")),
                    trees = message(asked, " --method regression_msr_tree --budget 100");
  const std::set<std::string> alone = among(loaded_by(asked), of_threads),
                              with_trees = among(loaded_by(trees), of_threads);
  EXPECT_EQ(1u, alone.size());
  const Outcome doctor = shell(OPSHAP_BINARY_DIR "/opshap doctor");
  EXPECT_EQ(with_trees.size() > 1, doctor.out.find("threads of its own") != std::string::npos) << doctor.out;
  for (const std::string& name : alone) EXPECT_NE(std::string::npos, doctor.out.find(name)) << doctor.out;
}
#endif

}  // namespace
}  // namespace opshap
