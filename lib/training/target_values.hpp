#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/estimator.hpp"
#include "networks/recipe.hpp"
#include "training/target.hpp"

namespace opshap::training {

/// Games smaller than this share of the mean count as if they were of that size, in losses that are relative.
inline constexpr double small_share = 0.1;

/// What an estimator is asked for one label.
struct LabelRequest {
  const Estimator& estimator;
  Budget budget = {};
  std::int64_t evaluations = 0;  ///< what it costs
};

/// The target whose labels are Shapley values by an estimator, asked once for each sample: squared errors of the
/// explainer's values, relative to the size of the label.
///
/// A label that knows its standard errors counts by the inverse of its variance: a sample's weight is 1/(|values|² +
/// variance/precision² + least), where |values| is the label's size without its noise, and `precision` = 0.03 the
/// relative error below which the explainer is hardly expected to come. `least` keeps games of next to nothing from
/// deciding: small_share of the mean squared v(N) − v(∅), over n. Unbiased labels may be noisy: the explainer learns
/// their mean (Covert et al. 2024, Stochastic amortization). `settings` are the label's own, as a JSON object.
/// `request` says what is asked of a game with so many players, and throws InvalidArgument where it cannot be asked.
std::unique_ptr<Target> values_target(std::string settings, std::function<LabelRequest(int players)> request);

/// How many nodes of a quadrature a label has whose recipe says what it may cost, at `pass` evaluations a node; `usual`
/// where the recipe does not say it. Throws InvalidArgument where that pays for no node, or for more than a quadrature
/// has.
int label_nodes(const char* method, const networks::ExplainerRecipe& recipe, std::int64_t pass, std::int64_t usual);

/// The settings of labels by that method.
std::string label_settings(const char* method, const networks::ExplainerRecipe& recipe);

}  // namespace opshap::training
