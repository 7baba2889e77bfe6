// What README.md and the pages of docs/ say to write and to type works: the example estimator is registered, and the
// commands run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "data/npy.hpp"
#include "data/safetensors.hpp"
#include "estimators/registry.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

// The axioms run on it because it is one of these: CMake compiles the page's code with the page's line of the registry.
TEST(Readme, ItsExampleEstimatorIsRegistered) {
  const Estimator& example = estimators::find(OPSHAP_EXAMPLE);
  EXPECT_EQ(OPSHAP_EXAMPLE, example.name());
  EXPECT_TRUE(example.guarantees().uses_budget()) << "an example that takes what it needs shows half of the interface";
}

/// The pages, one after the other. What one makes another may use.
std::string pages() {
  std::string text;
  std::set<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(OPSHAP_SOURCE_DIR) / "docs"))
    files.insert(entry.path());
  // Weights that another page explains with are made on this one.
  text += read_file(fs::path(OPSHAP_SOURCE_DIR) / "docs/own-operator.md");
  text += read_file(fs::path(OPSHAP_SOURCE_DIR) / "README.md");
  for (const fs::path& file : files)
    if (file.filename() != "own-operator.md") text += read_file(file);
  return text;
}

/// The lines of the pages' blocks of commands, without their comments: blocks without a language, but for the tree.
std::vector<std::string> commands() {
  std::istringstream page(pages());
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

/// The pages' blocks of Python, one after the other.
std::string python_blocks() {
  std::istringstream page(pages());
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("```"))
      inside = line == "```python";
    else if (inside)
      text += line + '\n';
  return text;
}

/// Whether a command builds the project, which is what CI does with it, needs a LibTorch that is not here, or installs,
/// which is a test of its own.
bool builds(const std::string& command) {
  return command == "./reproduce" || command == "./verify" || command.starts_with("cmake --preset ") ||
         command.starts_with("cmake --install ");
}

/// What the pages show as printed by a command: the block of text behind its block.
std::string printed_under(const std::string& command) {
  const std::string text = pages(), before = command + "\n```\n\n```text\n";
  const std::size_t from = text.find(before);
  if (from == std::string::npos) return "";
  return text.substr(from + before.size(), text.find("```", from + before.size()) - from - before.size());
}

/// Word by word; numbers to three digits, since another processor rounds in another order.
void expect_shown(const std::string& shown, const std::string& printed) {
  std::istringstream expected(shown), words(printed);
  for (std::string want, word; expected >> want;) {
    ASSERT_TRUE(words >> word) << "nothing is printed for " << want;
    double number = 0, found = 0;
    const bool is_number = std::sscanf(want.c_str(), "%lf", &number) == 1 && want.find("..") == std::string::npos;
    if (is_number && std::sscanf(word.c_str(), "%lf", &found) == 1)
      EXPECT_NEAR(number, found, 1e-3 * std::abs(number)) << printed;
    else
      EXPECT_EQ(want, word) << printed;
  }
}

class ReadmeCommands : public Program {
 protected:
  /// A file with the first numbers of one wave.
  void wave(const std::string& name, const std::vector<std::int64_t>& shape) const {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.01 * static_cast<double>(i));
    data::write_npy(path(name), {.shape = shape, .dtype = data::Dtype::float32, .values = values});
  }
  /// The input of the pages' operators. Half of its points are enough where no page shows what is printed.
  void input(bool is_shown) const { wave("u.npy", {is_shown ? 1024 : 576}); }
};

TEST_F(ReadmeCommands, Run) {
  file("game.json",
       R"({"players":8,"terms":[{"coalition":[0,1],"coefficient":2},{"coalition":[2],"coefficient":-1}]})");
  data::Safetensors network =
      data::read_safetensors(fs::path(OPSHAP_SOURCE_DIR) / "reference_data/neuraloperator/plain.safetensors");
  file("config.json", network.metadata.extract("config").mapped());
  data::write_safetensors(path("state_dict.safetensors"), network);  // the page makes an operator of the two
  fs::copy_file(fs::path(OPSHAP_SOURCE_DIR) / "reference_data/pdebench/1D_Advection_Sols_beta1.0.hdf5",
                path("1D_Advection_Sols_beta1.0.hdf5"));
  fs::copy_file(fs::path(OPSHAP_BINARY_DIR) / "share/opshap/operators/burgers1d.safetensors",
                path("burgers1d.safetensors"));
  fs::copy(fs::path(OPSHAP_SOURCE_DIR) / "reference_data/meshgraphnets/cylinder_flow", path("cylinder_flow"));
  const fs::path meshes = fs::path(OPSHAP_SOURCE_DIR) / "reference_data/meshes";
  fs::copy_file(meshes / "plate_4_1.msh", path("plate.msh"));
  fs::copy_file(meshes / "plate_model.pt", path("model.pt"));
  wave("plate_u.npy", {76});
  wave("fields.npy", {20, 32});
  for (const char* name : {"inputs.npy", "targets.npy"}) wave(name, {8, 128});
  file("my_model/plugin.toml",
       "name = 'my_model'\nrole = 'operator'\ncommand = ['python3', 'model.py']\n"
       "[env]\nPYTHONPATH = '" OPSHAP_SOURCE_DIR "/python'\n");
  file("my_model/model.py", "from opshap_peer import operator\noperator(1)(lambda fields: fields ** 2).serve()\n");
  // The attribution that the page certifies is of the game of its next command.
  const Outcome mine = opshap("attribute --game unanimity_sum --players 64 --method permutation --budget 1024 --json");
  ASSERT_EQ(0, mine.code) << mine.err;
  file("mine.json", mine.out);

  const bool numpy = std::system("python3 -c 'import numpy' > /dev/null 2>&1") == 0;  // tools/setup installs it
  int run = 0, shows = 0;
  std::set<std::string> done;  // some stand on two pages
  for (const std::string& command : commands()) {
    if (builds(command) || !done.insert(command).second) continue;
    ASSERT_TRUE(command.starts_with("opshap ")) << command << ": say here how to run it";
    if (!numpy && command.find("my_") != std::string::npos) continue;
#ifndef OPSHAP_WITH_NETWORKS
    if (command.find("operator") != std::string::npos || command.starts_with("opshap reproduce ")) continue;
#endif
    input(!printed_under(command).empty());
    const bool trains = command.starts_with("opshap train ");  // for minutes
    const Outcome outcome =
        shell("cd " + folder_.string() + " && " + OPSHAP_BINARY_DIR + "/" + command + (trains ? " --samples 32" : ""));
    EXPECT_EQ(0, outcome.code) << command << "\n" << outcome.err;
    EXPECT_NE("", outcome.out) << command;
    if (const std::string shown = printed_under(command); !shown.empty()) {
      expect_shown(shown, outcome.out);
      ++shows;
    }
    ++run;
  }
  EXPECT_GE(run, 3) << "the page's commands were not found";
#ifdef OPSHAP_WITH_NETWORKS
  EXPECT_EQ(1, shows) << "what README says that a command prints";
  ASSERT_TRUE(has(python_blocks(), "opshap.load"));
  input(false);
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
