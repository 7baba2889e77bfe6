#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/game_options.hpp"
#include "core/estimator.hpp"
#include "methods/method.hpp"
#include "methods/steps.hpp"

namespace opshap::cli {

/// What `opshap attribute` can be told.
struct AttributeOptions : GameOptions {
  std::string method;               ///< --method; empty where --explainer is the method, or where opshap chooses
  std::filesystem::path explainer;  ///< --explainer: trained weights that explain in place of a method
  std::filesystem::path figure;     ///< --figure: an SVG of input, output and attribution
  std::string budget;               ///< --budget: a number, a power, or a multiple of n; empty when not given
  std::optional<int> nodes;         ///< --nodes of a quadrature
  std::string directions;           ///< --directions at each node: a number, or "all"; empty when not given
  std::string base;                 ///< --base of diagonal_second_order; empty when not given
  std::optional<std::string> rule;  ///< --rule of the quadrature
  std::optional<bool> error_bar;    ///< --error-bar or --no-error-bar of a first order
  std::optional<double> tolerance;  ///< --tolerance: the relative error that an answer may have
  std::string fallback;             ///< --fallback of diagonal_second_order beyond it; empty when not given
  bool minimum_norm = false;        ///< --minimum-norm of a least-squares method
  bool force = false;               ///< --force: an explainer that was trained for something else
  bool sorted = false;              ///< --sort: the table begins with the largest value

  /// Whether opshap chooses the method.
  bool chooses() const { return method.empty() && explainer.empty(); }
  /// The tolerance of a method that has one: of the chosen ones, and of diagonal_second_order.
  std::optional<double> tolerance_in_use() const;
};

/// Throws InvalidArgument for options that the method, the explainer or their absence do not go with, and for a
/// tolerance outside (0, 1]. To be called before the work.
void require_options_of_method(const AttributeOptions& options);

/// The program of --method peer:FOLDER as a method; nullptr when another method is asked for. Throws InvalidArgument
/// where it has no budget.
std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options);

/// The attribution of a question, whose budget is that of the options, by `peer` where there is one, else by the
/// method, quadrature and solution that were asked for. Where none was asked for, by methods::in_steps(); or, where the
/// answer to another question is given, as that one was answered. Throws InvalidArgument when the options do not go
/// with the game, or the method needs a budget and none is given.
Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question,
                       const Attribution* before = nullptr);

}  // namespace opshap::cli
