#include "support/test_seed.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.hpp"

namespace opshap {

namespace {

constexpr std::uint64_t fixed_seed = 20261121;

}  // namespace

std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* wanted = std::getenv("OPSHAP_TEST_SEED");
    if (wanted == nullptr) return fixed_seed;
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(wanted, &end, 10);
    require(end != wanted && *end == '\0', "tests: OPSHAP_TEST_SEED=", wanted, " (not a whole number). Give one.");
    return value;
  }();
  return seed;
}

void use_test_seed() {
  const int cases = test_seed() == fixed_seed ? 50 : 100;
  setenv("RC_PARAMS", message("seed=", test_seed(), " max_success=", cases).c_str(), 0);
}

std::string replay() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe").string();
  return message("replay: OPSHAP_TEST_SEED=", test_seed(), " ", executable,
                 " --gtest_filter=", test == nullptr ? "*" : message(test->test_suite_name(), ".", test->name()));
}

}  // namespace opshap
