#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/estimator.hpp"

namespace opshap {

/// What `opshap attribute` can be told; the same options in both programs.
struct AttributeOptions {
  std::filesystem::path game;          ///< --game: a game file
  std::filesystem::path op;            ///< --operator: trained weights
  std::filesystem::path input;         ///< --input: the field to explain
  std::string baseline = "0";          ///< --baseline: 0 or a field
  std::vector<int> query;              ///< --query: grid index of the explained output
  int query_channel = 0;               ///< --query-channel
  std::optional<int> players;          ///< --players: contiguous groups of equal size
  std::filesystem::path partition;     ///< --partition: integer labels of the grid
  std::string method;                  ///< --method
  std::optional<std::int64_t> budget;  ///< --budget
  std::optional<int> nodes;            ///< --nodes of a quadrature
  std::optional<std::string> rule;     ///< --rule of the quadrature
};

/// Adds them to the subcommand.
void add_attribute_options(CLI::App& command, AttributeOptions& options);

/// The attribution of a game by the method, budget and quadrature that were asked for.
/// Throws InvalidArgument when the options do not go together, or the method needs a budget and none is given.
Attribution run_method(const AttributeOptions& options, const Game& game, std::uint64_t seed);

}  // namespace opshap
