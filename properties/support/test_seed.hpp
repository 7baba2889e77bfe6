#pragma once

#include <cstdint>
#include <string>

namespace opshap {

/// What all random tests start from: OPSHAP_TEST_SEED, or a fixed number. A nightly run rotates it:
/// OPSHAP_TEST_SEED=$(date +%Y%m%d) ctest --preset release
std::uint64_t test_seed();

/// Gives RapidCheck that seed, and the number of a property's cases: fifty with the fixed number, whose cases are the
/// same in every run, and a hundred with another one. So replay() repeats the cases of either. RC_PARAMS in the
/// environment comes first.
void use_test_seed();

/// "replay: OPSHAP_TEST_SEED=7 <this executable> --gtest_filter=<the running test>"
std::string replay();

}  // namespace opshap
