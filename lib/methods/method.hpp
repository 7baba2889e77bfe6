#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"
#include "core/explainer.hpp"
#include "core/scenario.hpp"
#include "peers/plugin.hpp"

namespace opshap::methods {

/// What a method is asked: the Shapley values of one game, and where they come from.
struct Question {
  const Game& game;
  const Scenario* scenario = nullptr;  ///< the field behind the game; null for a game without one
  Budget budget = {};                  ///< for methods that use one
  std::uint64_t seed = 0;
  /// v(∅) and v(N) where the asker has them, from another input with the same baseline or another query of the same
  /// input. A method that asks for nothing else does not evaluate them again.
  std::optional<double> empty = {}, grand = {};
};

/// Whatever explains: an estimator, a trained explainer, the uniform attribution. Reports have a column for each.
/// Evaluations, comparisons and commands know methods by this alone.
///
/// Immutable.
class Method {
 public:
  virtual ~Method() = default;
  /// The key of its rows: the registry name of an estimator, "operator_shap", "uniform".
  virtual std::string_view name() const = 0;
  /// The name of its weights, where rows must tell several explainers apart.
  virtual std::optional<std::string> explainer() const { return std::nullopt; }
  /// The checksum of those weights, by which a run knows them again. Empty where there are none.
  virtual std::string checksum() const { return ""; }
  /// What it sees, as rows have it: "values" (of coalitions), "gradient", "amortised" (the input alone, after
  /// training), "none".
  virtual std::string_view access() const = 0;
  /// What it promises of every game; nothing for a method that promises nothing.
  virtual std::optional<Guarantees> guarantees() const { return std::nullopt; }
  /// Whether it spends the budget that it is given. The others take what they need.
  bool uses_budget() const;
  /// What a trained explainer was trained for; empty where nobody says.
  virtual TrainedFor trained_for() const { return {}; }
  /// Whether it explains every point of the output; an explainer that was trained for one point does not.
  virtual bool any_query() const { return true; }
  /// A remark on its answer to this question; empty where there is nothing to say.
  virtual std::string remark(const Question&) const { return ""; }
  /// Whether a seed changes its answer, as far as its kind can tell.
  virtual bool uses_seed() const { return false; }

  /// Values, and what they cost. Throws InvalidArgument for a budget or a game that cannot work, and for a game without
  /// a scenario where the method needs the field.
  virtual Attribution attribute(const Question& question) const = 0;
};

/// The estimator as a method. A registered one is referred to, another one is owned.
std::unique_ptr<Method> of_estimator(const Estimator& estimator);
std::unique_ptr<Method> of_estimator(std::unique_ptr<Estimator> estimator);

/// A trained explainer as the method "operator_shap": its densities integrated over the players' cells and shifted to
/// v(N) − v(∅). Two evaluations of the game, less those that the question answers, and the passes of its base. `name`
/// tells it apart from others of the same run, and `checksum` from itself after another training.
std::unique_ptr<Method> of_explainer(std::unique_ptr<Explainer> explainer,
                                     std::optional<std::string> name = std::nullopt, std::string checksum = "");

/// The attribution that knows nothing but v(∅) and v(N): each player gets the share of its volume. What any method has
/// to beat. Two evaluations, less those that the question answers.
std::unique_ptr<Method> uniform();

/// Makers of the methods that are named "kind:argument", by their kind.
using Kinds = std::map<std::string, std::function<std::unique_ptr<Method>(const std::string& argument)>, std::less<>>;

/// "uniform", the registered estimator of that name, or "kind:argument" of one of `kinds`. Throws InvalidArgument
/// naming the nearest estimator or the kinds.
std::unique_ptr<Method> resolve(std::string_view name, const Kinds& kinds = {});

/// The question's scenario. Throws InvalidArgument, starting with `who`, where there is none.
const Scenario& scenario_of(std::string_view who, const Question& question);

/// A program in any language as the method "peer:<its name>", through the protocol opshap-peer/1.
///
/// It spends the budget that it is given, which the game counts and not the program. It promises what its plugin.toml
/// claims. Its time is what the host waits for it, without its start. One question at a time: threads wait for each
/// other. attribute() throws peers::Failure for a program that has no attribution to give.
std::unique_ptr<Method> of_peer(peers::Plugin plugin);

/// The same for the plugin of a folder. Throws DataError where there is none, or its plugin.toml cannot be read.
std::unique_ptr<Method> of_peer(const std::filesystem::path& folder);

}  // namespace opshap::methods
