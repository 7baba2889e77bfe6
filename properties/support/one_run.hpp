#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/file.hpp"
#include "support/staying_program.hpp"

namespace opshap {

/// One run of the whole chain, by a profile of support/, for all tests of a file.
template <const char* const* profile>
class OneRun : public StayingProgram {
 protected:
  static void SetUpTestSuite() {
    run_ = std::filesystem::temp_directory_path() / ("opshap_one_run_" + std::to_string(getpid()));
    const std::string log = run_.string() + ".log";
    code_ = std::system((OPSHAP_BINARY_DIR "/opshap reproduce --profile " OPSHAP_SOURCE_DIR "/properties/support/" +
                         std::string(*profile) + " --out " + run_.string() + " > " + log + " 2>&1")
                            .c_str());
    log_ = read_file(log);
    std::filesystem::remove(log);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(run_); }
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(0, code_) << log_;
  }

  /// The weights of one of its trainings.
  static std::string weights(const std::string& stage) { return (run_ / stage / "model.safetensors").string(); }

  static inline std::filesystem::path run_;
  static inline int code_ = -1;
  static inline std::string log_;
};

}  // namespace opshap
