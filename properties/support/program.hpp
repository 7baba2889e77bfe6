#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.hpp"

namespace opshap {

/// What a command gave back.
struct Outcome {
  int code = -1;
  std::string out, err;
};

/// A JSON value for each line of a text.
inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::istringstream lines(text);
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  return found;
}

/// A folder of its own for each test, and `opshap` run through the shell as its users do.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    // Debian's programs come first: another Python may lack the packages that tools/setup installs.
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (std::string("/usr/bin:") + (path == nullptr ? "/bin" : path)).c_str(), 1);
    folder_ = std::filesystem::temp_directory_path() / ("opshap_program_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return path(name);
  }

  /// Runs `opshap <arguments>`.
  Outcome opshap(const std::string& arguments) const {
    return shell(std::string(OPSHAP_BINARY_DIR) + "/opshap " + arguments);
  }

  /// The same of a command that must succeed.
  Outcome done(const std::string& arguments) const {
    const Outcome outcome = opshap(arguments);
    EXPECT_EQ(0, outcome.code) << arguments << "\n" << outcome.err;
    return outcome;
  }
  /// What `opshap <arguments>` prints. It must end with this code.
  std::string output(const std::string& arguments, int code = 0) const {
    const Outcome outcome = opshap(arguments);
    EXPECT_EQ(code, outcome.code) << arguments << "\n" << outcome.out << outcome.err;
    return outcome.out;
  }
  /// The same of a command that prints JSON.
  nlohmann::json answer(const std::string& arguments, int code = 0) const {
    return nlohmann::json::parse(output(arguments, code), nullptr, false);
  }

  /// What a command that must succeed says with --json.
  nlohmann::json told(const std::string& arguments) const {
    return nlohmann::json::parse(done(arguments + " --json").out);
  }

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
    EXPECT_EQ(code, outcome.code) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(std::regex_search(outcome.err, std::regex(R"([a-z0-9_ ]+: [\s\S]*\([\s\S]*\)[\s\S]*[.?])")))
        << arguments << "\n"
        << outcome.err;
    EXPECT_NE(std::string::npos, outcome.err.find(contains))
        << arguments << "\nwanted: " << contains << "\ngot: " << outcome.err;
    EXPECT_EQ("", outcome.out) << arguments;
    EXPECT_EQ(before, listing()) << arguments << " left something behind";
  }

  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      names.insert(entry.path().string());
    return names;
  }

  std::filesystem::path folder_;
};

}  // namespace opshap
