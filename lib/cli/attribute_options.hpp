#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/game_options.hpp"
#include "core/estimator.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// What `opshap attribute` can be told; the same options in both programs.
struct AttributeOptions : GameOptions {
  std::string method;                  ///< --method; empty where --explainer is the method
  std::filesystem::path explainer;     ///< --explainer: trained weights that explain in place of a method
  std::filesystem::path figure;        ///< --figure: an SVG of input, output and attribution
  std::optional<std::int64_t> budget;  ///< --budget
  std::optional<int> nodes;            ///< --nodes of a quadrature
  std::optional<std::string> rule;     ///< --rule of the quadrature
  bool minimum_norm = false;           ///< --minimum-norm of a least-squares method
};

/// Adds them to the subcommand. Whether --method or --explainer is given is checked by whoever runs.
void add_attribute_options(CLI::App& command, AttributeOptions& options);

/// Throws InvalidArgument when no method is named.
void require_method(const AttributeOptions& options);

/// The program of --method peer:FOLDER as a method; nullptr when another method is asked for. Throws InvalidArgument
/// for options that a program does not take.
std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options);

/// The attribution of a question, whose budget is that of the options, by `peer` where there is one, else by the
/// method, quadrature and solution that were asked for. Throws InvalidArgument when the options do not go together, or
/// the method needs a budget and none is given.
Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question);

}  // namespace opshap::cli
