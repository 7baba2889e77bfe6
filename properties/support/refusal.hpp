#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/text.hpp"

namespace opshap {

/// What is given, and what the message that refuses it must contain; "" where any message will do.
template <typename Given = std::string>
using Refusals = std::vector<std::pair<Given, std::string>>;

/// Holds `take` to refuse each row of a table with an Error that says why.
template <typename Error, typename Given, typename Take>
void expect_refusals(const Refusals<Given>& table, const Take& take) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string message = refusal<Error>([&] { take(table[row].first); });
    EXPECT_NE("", message) << "row " << row << " was taken, wanted: " << table[row].second;
    EXPECT_TRUE(has(message, table[row].second)) << "row " << row;
  }
}

}  // namespace opshap
