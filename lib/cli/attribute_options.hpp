#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/game_options.hpp"
#include "core/estimator.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// What `opshap attribute` can be told.
struct AttributeOptions : GameOptions {
  std::string method;               ///< --method; empty where --explainer is the method
  std::filesystem::path explainer;  ///< --explainer: trained weights that explain in place of a method
  std::filesystem::path figure;     ///< --figure: an SVG of input, output and attribution
  std::string budget;               ///< --budget: a number, a power, or a multiple of n; empty when not given
  std::optional<int> nodes;         ///< --nodes of a quadrature
  std::optional<std::string> rule;  ///< --rule of the quadrature
  bool minimum_norm = false;        ///< --minimum-norm of a least-squares method
  bool force = false;               ///< --force: an explainer that was trained for something else
  bool sorted = false;              ///< --sort: the table begins with the largest value
};

/// Adds them to the subcommand. Whether --method or --explainer is given is checked by whoever runs.
void add_attribute_options(CLI::App& command, AttributeOptions& options);

/// The method that answers where none is asked for: `exact` up to 12 players, the mean field where the game has a
/// closure, integrated gradients where it has gradients, antithetic permutations at 16n else. Sets method, and budget
/// where the method needs one, in the options. Throws InvalidArgument for options of a method that is not named.
void choose_method(AttributeOptions& options, const Game& game);

/// What JSON says beside an attribution whose method was chosen: error_bar, the relative size of its standard errors,
/// or null with error_bar_why; and steps, what was tried.
nlohmann::ordered_json chosen_json(const AttributeOptions& options, const Attribution& attribution);

/// The program of --method peer:FOLDER as a method; nullptr when another method is asked for. Throws InvalidArgument
/// for options that a program does not take.
std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options);

/// The attribution of a question, whose budget is that of the options, by `peer` where there is one, else by the
/// method, quadrature and solution that were asked for. Throws InvalidArgument when the options do not go together, or
/// the method needs a budget and none is given.
Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question);

}  // namespace opshap::cli
