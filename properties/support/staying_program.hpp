#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file.hpp"
#include "support/program.hpp"

namespace opshap {

/// `opshap serve` (cli/kept_program.hpp): one process that runs one command line after the other.
class Server {
 public:
  Server() {
    std::filesystem::create_directories(folder_);
    const std::string answers = folder_ / "answers";
    ::mkfifo(answers.c_str(), 0600);
    requests_ = popen(("OPSHAP_FD_IN=3 OPSHAP_FD_OUT=4 exec " OPSHAP_BINARY_DIR "/opshap serve 3<&0 4>" + answers +
                       " </dev/null >>" + out_ + " 2>>" + err_)
                          .c_str(),
                      "we");
    answers_.open(answers);
    std::string hello;
    std::getline(answers_, hello);
  }
  ~Server() {
    end();
    std::filesystem::remove_all(folder_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  bool is_there() const { return requests_ != nullptr; }

  Outcome run(const std::string& arguments) {
    std::filesystem::resize_file(out_, 0);
    std::filesystem::resize_file(err_, 0);
    nlohmann::json words = nlohmann::json::array();
    wordexp_t split = {};
    EXPECT_EQ(0, wordexp(arguments.c_str(), &split, WRDE_NOCMD)) << arguments;
    for (std::size_t word = 0; word < split.we_wordc; ++word) words.push_back(split.we_wordv[word]);
    wordfree(&split);
    std::fputs((nlohmann::json{{"type", "run"}, {"id", 1}, {"words", words}}.dump() + '\n').c_str(), requests_);
    std::fflush(requests_);
    std::string line;
    const int code = std::getline(answers_, line) ? nlohmann::json::parse(line).at("code").get<int>() : end();
    return {.code = code, .out = read_file(out_), .err = read_file(err_)};
  }

 private:
  /// Its exit code, or what the shell makes of its signal.
  int end() {
    if (requests_ == nullptr) return -1;
    const int status = pclose(requests_);
    requests_ = nullptr;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  inline static int made_ = 0;
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                        ("opshap_server_" + std::to_string(::getpid()) + "_" + std::to_string(made_++));
  const std::string out_ = folder_ / "stdout", err_ = folder_ / "stderr";
  FILE* requests_ = nullptr;
  std::ifstream answers_;
};

/// Runs its commands in one process for all its tests, which loads LibTorch once: that takes most of the time of a
/// short command. What a process keeps for all its commands, as trust in the code of files, wants fresh().
class StayingProgram : public Program {
 protected:
  Outcome opshap(const std::string& arguments) const override {
    static std::unique_ptr<Server> server;
    if (server == nullptr || !server->is_there()) server = std::make_unique<Server>();
    return server->run(arguments);
  }
  /// The same in a process of its own.
  Outcome fresh(const std::string& arguments) const { return shell(program(arguments)); }
};

}  // namespace opshap
