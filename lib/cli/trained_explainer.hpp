#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "core/domain.hpp"
#include "core/measured.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "data/dataset.hpp"
#include "evaluation/held_out.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// The trained explainer of a weight file as a method. `name` tells it apart from others.
/// Throws as load_explainer().
std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device,
                                                   std::optional<std::string> name = std::nullopt);

/// What an explainer of this recipe is trained on: the data set of a profile, at the resolutions of the recipe, and the
/// further inputs that the recipe wants. Throws InvalidArgument where these cannot be drawn.
data::Dataset explainer_data(data::Dataset data, const Profile& profile, const networks::ExplainerRecipe& recipe,
                             std::uint64_t seed);

/// Throws InvalidArgument, starting with `who`, for an explainer of one point or target unless that alone is to be
/// explained: the centre of the domain, or the point of it that is nearest to a position.
void require_explains(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                      const Domain& domain, const ScenarioRule& rule, const std::vector<Readout>& readouts);

/// Refuses an explainer that was trained for another operator, baseline, rule of players, masked channels or output
/// channel than those of the question; with `force` a remark on standard error says so. One that does not say what it
/// was trained for is taken with a remark, and so is one with a base for another operator of the same problem. Throws
/// InvalidArgument.
void require_trained_for(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                         const Operator& op, const ScenarioRule& rule, bool force);

/// A remark on standard error where an operator says that it learned another problem than that of the data. Nothing is
/// refused: an operator may be asked of any field.
void note_other_problem(const std::string& who, const Operator& op, const data::Dataset& data);

/// What a training ends with, at one resolution: the error of the explainer, and that of the mean field beside it,
/// which needs no training.
struct HeldOutScore {
  evaluation::HeldOutErrors errors;  ///< empty where the Shapley values of all inputs are 0
  statistics::Interval interval;     ///< of the median
  /// Median NRMSE of the method mean_field on the same inputs; undefined with the reason where there is none.
  Measured mean_field;

  bool any() const { return !errors.nrmse.empty(); }
  int inputs() const { return static_cast<int>(errors.nrmse.size()) + errors.left_out; }
};

/// The test inputs of a data set that a rule explains, or the first `most` of them.
data::SampleFields test_inputs(const data::Dataset& data, const ScenarioRule& rule,
                               int most = std::numeric_limits<int>::max());

/// One score for each resolution of the plan. Throws as evaluation::HeldOut.
std::vector<HeldOutScore> held_out_scores(const evaluation::HeldOutPlan& plan, const methods::Method& explainer);

/// Rows {"shape","players","inputs","left_out","nrmse","interval","reference_error","forward_equivalents","seconds",
/// "mean_field_nrmse"}. What is undefined is null, with its reason beside it.
nlohmann::ordered_json json_of(const std::vector<HeldOutScore>& scores);

/// The same as a table, and a sentence where the mean field is nearer. `at` says where the queries are.
std::string in_words(const std::vector<HeldOutScore>& scores, const std::string& at);

/// What `opshap train explainer --inputs` is told.
struct OwnOperator {
  std::filesystem::path op, inputs;
  std::string domain;                   ///< "periodic", "bounded", or empty: as the weights say
  std::vector<Resolution> resolutions;  ///< empty: data::usual_resolutions()
  int samples = 8000;                   ///< inputs, each at a resolution and a query of its own, that are labelled
};

/// Trains an explainer of somebody's operator from inputs alone, for any query, and scores it on held-out inputs at
/// random queries against certified references. Target, coordinates and padding are chosen by what the operator and its
/// domain allow; --config replaces all other settings.
///
/// Writes the weights to --out, a .safetensors file, beside a folder of the training which may be resumed. Prints the
/// errors by resolution, with intervals.
void train_own_operator(const OwnOperator& asked, const Globals& globals);

}  // namespace opshap::cli
