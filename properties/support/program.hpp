#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "support/expressions.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"

namespace opshap {

using Json = nlohmann::json;

/// What a command gave back.
struct Outcome {
  int code = -1;
  std::string out, err;
};

/// Whether an object has these entries. A failure shows the first one that differs, and the object.
inline ::testing::AssertionResult holds(const nlohmann::json& object, const nlohmann::json& entries) {
  for (const auto& [key, value] : entries.items())
    if (!object.contains(key) || object[key] != value)
      return ::testing::AssertionFailure() << "wanted: " << key << " = " << value << "\ngot: " << object;
  return ::testing::AssertionSuccess();
}

/// A JSON value for each line of a text.
inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::istringstream lines(text);
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  return found;
}

/// A folder of its own for each test, and `opshap` run through the shell as its users do.
class Program : public RunFolder {
 protected:
  void SetUp() override {
    RunFolder::SetUp();
    // Debian's programs come first: another Python may lack the packages that tools/setup installs.
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (std::string("/usr/bin:") + (path == nullptr ? "/bin" : path)).c_str(), 1);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return path(name);
  }

  static std::string program(const std::string& arguments) { return OPSHAP_BINARY_DIR "/opshap " + arguments; }
  /// Runs `opshap <arguments>`.
  virtual Outcome opshap(const std::string& arguments) const { return shell(program(arguments)); }

  /// The same of any command, which must end with this code.
  Outcome ended(const std::string& command, int code = 0) const {
    const Outcome outcome = shell(command);
    EXPECT_EQ(code, outcome.code) << command << "\n" << outcome.out << outcome.err;
    return outcome;
  }
  Outcome done(const std::string& arguments, int code = 0) const {
    const Outcome outcome = opshap(arguments);
    EXPECT_EQ(code, outcome.code) << arguments << "\n" << outcome.out << outcome.err;
    return outcome;
  }
  /// What it prints.
  std::string output(const std::string& arguments, int code = 0) const { return done(arguments, code).out; }
  /// What it says with --json, and what it wrote into a file.
  nlohmann::json answer(const std::string& arguments, int code = 0) const {
    return nlohmann::json::parse(output(arguments + " --json", code), nullptr, false);
  }

  nlohmann::json json_of(const std::string& name) const { return nlohmann::json::parse(read_file(path(name))); }

  Outcome shell(const std::string& command) const {
    const std::string errors = path("stderr");
    Outcome outcome;
    FILE* pipe = popen(("( " + command + " ) 2>" + errors).c_str(), "r");
    std::array<char, 4096> buffer;
    for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      outcome.out.append(buffer.data(), got);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.err = read_file(errors);
    std::filesystem::remove(errors);
    return outcome;
  }

  /// Exit code, the grammar "who: ... (why). What to do.", what the message must contain, and nothing new in the
  /// folder.
  void expect_refusal(const std::string& arguments, int code, const std::string& contains) const {
    const auto before = listing();
    const Outcome outcome = opshap(arguments);
    SCOPED_TRACE(arguments + "\n" + outcome.err);
    EXPECT_EQ(code, outcome.code);
    EXPECT_TRUE(has_match(outcome.err, R"([a-z0-9_ ]+: [\s\S]*\([\s\S]*\)[\s\S]*[.?])"));
    EXPECT_TRUE(has(outcome.err, contains));
    EXPECT_EQ("", outcome.out);
    EXPECT_EQ(before, listing()) << "something was left behind";
  }

  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      names.insert(entry.path().string());
    return names;
  }
};

}  // namespace opshap
