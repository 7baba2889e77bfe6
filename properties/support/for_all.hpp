#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <utility>

#include "core/rng.hpp"
#include "support/test_seed.hpp"

namespace opshap {

/// Holds a property of generated values to be true; a failing case is shrunk and fails the running GoogleTest test.
/// Inside, RC_ASSERT(mismatch(...) == "") shows what went wrong.
void for_all(auto&& property) {
  use_test_seed();
  SCOPED_TRACE(replay());
  rc::detail::checkGTest(std::forward<decltype(property)>(property));
}

/// A property of what is easier to draw than to generate: each case draws from a stream of its own.
void for_all_streams(const auto& property) {
  for_all([&property] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    property(rng);
  });
}

}  // namespace opshap
