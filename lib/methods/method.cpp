#include "methods/method.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/threads.hpp"
#include "estimators/registry.hpp"
#include "peers/peer.hpp"

namespace opshap::methods {

bool Method::uses_budget() const {
  const std::optional<Guarantees> promised = guarantees();
  return promised && promised->uses_budget();
}

std::unique_ptr<Method> resolve(std::string_view name, const Kinds& kinds) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view word = name.substr(0, colon), argument = name.substr(colon + 1);
    if (word == "peer") return of_peer(std::filesystem::path(argument));
    const auto kind = kinds.find(word);
    require(kind != kinds.end(), "method: ", name,
            " (methods of this kind are not known here). Give the name of an estimator, or ",
            kinds.empty() ? "" : message(kinds.begin()->first, ":FILE, or "), "peer:FOLDER.");
    return kind->second(std::string(argument));
  }
  return name == uniform()->name() ? uniform() : of_estimator(estimators::find(name));
}

namespace {

class OfEstimator final : public Method {
 public:
  explicit OfEstimator(std::shared_ptr<const Estimator> estimator) : estimator_(std::move(estimator)) {}

  std::string_view name() const override { return estimator_->name(); }
  std::string_view access() const override {
    return estimator_->guarantees().access == Access::values ? "values" : "gradient";
  }
  std::optional<Guarantees> guarantees() const override { return estimator_->guarantees(); }
  bool uses_seed() const override { return true; }

  Attribution attribute(const Question& question) const override {
    return opshap::attribute(*estimator_, question.game, question.budget, question.seed);
  }

 private:
  std::shared_ptr<const Estimator> estimator_;
};

}  // namespace

std::unique_ptr<Method> of_estimator(const Estimator& estimator) {
  return std::make_unique<OfEstimator>(std::shared_ptr<const Estimator>(&estimator, [](const Estimator*) {}));
}

std::unique_ptr<Method> of_estimator(std::unique_ptr<Estimator> estimator) {
  return std::make_unique<OfEstimator>(std::move(estimator));
}

const Scenario& scenario_of(std::string_view who, const Question& question) {
  require(question.scenario != nullptr, who,
          ": field=none (the game was not made from an input field). Use an estimator, or a game of an operator.");
  return *question.scenario;
}

namespace {

/// The attribution of a density on the question's domain, shifted to v(N) − v(∅): cell_values() with what the two
/// evaluations cost, or those of them that the question leaves open. `density` is called once, beside the evaluations;
/// what it takes longer than they do is the estimator's time. `who` starts the message of the InvalidArgument for a
/// game without a scenario.
Attribution of_density(std::string_view who, const std::function<std::vector<double>()>& density,
                       const Question& question) {
  const Scenario& scenario = scenario_of(who, question);
  const auto start = std::chrono::steady_clock::now();
  CountedGame ends(question.game, {2});
  Attribution attribution{.distinct = 2, .forward_equivalents = 2};
  std::vector<double> found;
  parallel_for(2, [&](std::size_t part) {
    if (part == 0) {
      found = density();
    } else {
      attribution.empty = question.empty ? *question.empty : ends.empty();
      attribution.grand = question.grand ? *question.grand : ends.grand();
    }
  });
  attribution.values =
      cell_values(found, scenario.input.domain, scenario.partition, attribution.empty, attribution.grand);
  attribution.evaluations = ends.evaluations();
  attribution.game_seconds = ends.seconds();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  attribution.estimator_seconds = std::max(0.0, seconds - attribution.game_seconds);
  return attribution;
}

class OfExplainer final : public Method {
 public:
  OfExplainer(std::unique_ptr<Explainer> explainer, std::optional<std::string> name, std::string checksum)
      : explainer_(std::move(explainer)), weights_(std::move(name)), checksum_(std::move(checksum)) {}

  std::string_view name() const override { return "operator_shap"; }
  std::optional<std::string> explainer() const override { return weights_; }
  std::string checksum() const override { return checksum_; }
  std::string_view access() const override { return "amortised"; }
  bool any_query() const override { return explainer_->any_query(); }
  TrainedFor trained_for() const override { return explainer_->trained_for(); }
  std::string remark(const Question& question) const override {
    const std::vector<Resolution> known = explainer_->trained_at();
    const std::vector<int> shape = shape_of(scenario_of(name(), question).input.domain);
    if (known.empty() || known.front().is_own() || std::ranges::count(known, Resolution(shape)) > 0) return "";
    std::string sizes, asked;
    for (const Resolution& size : known) sizes += message(sizes.empty() ? "" : ", ", size);
    for (const int points : shape) asked += message(asked.empty() ? "" : " x ", points);
    return message("the explainer was trained on grids of ", sizes, " points an axis, and not of ", asked);
  }

  Attribution attribute(const Question& question) const override {
    if (explainer_->base().any()) return corrected(question);
    const Scenario& scenario = scenario_of(name(), question);
    return of_density(
        name(), [&] { return explainer_->densities(scenario.input, scenario.readout).values; }, question);
  }

 private:
  /// With a base, which asks the game for slopes after its ends are known.
  Attribution corrected(const Question& question) const {
    const auto start = std::chrono::steady_clock::now();
    const Scenario& scenario = scenario_of(name(), question);
    CountedGame counted(question.game, {2});
    Question known = question;
    if (!known.empty) known.empty = counted.empty();
    if (!known.grand) known.grand = counted.grand();
    const std::vector<double> density =
        attribution_density(*explainer_, scenario, counted, *known.grand - *known.empty);
    Attribution attribution = of_density(
        name(), [&] { return density; }, known);
    attribution.evaluations = counted.evaluations();
    attribution.gradients = counted.gradients();
    attribution.forward_equivalents = attribution.distinct + explainer_->base().evaluations();
    attribution.game_seconds = counted.seconds();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    attribution.estimator_seconds = seconds - attribution.game_seconds;
    return attribution;
  }

  std::unique_ptr<Explainer> explainer_;
  std::optional<std::string> weights_;
  std::string checksum_;
};

}  // namespace

std::unique_ptr<Method> of_explainer(std::unique_ptr<Explainer> explainer, std::optional<std::string> name,
                                     std::string checksum) {
  return std::make_unique<OfExplainer>(std::move(explainer), std::move(name), std::move(checksum));
}

namespace {

class OfPeer final : public Method {
 public:
  explicit OfPeer(peers::Plugin plugin) : name_("peer:" + plugin.name), peer_(std::move(plugin)) {}

  std::string_view name() const override { return name_; }
  std::string checksum() const override { return peer_.plugin().checksum; }
  std::string_view access() const override { return peer_.plugin().needs_only_values() ? "values" : "gradient"; }
  std::optional<Guarantees> guarantees() const override { return peer_.plugin().claims; }
  bool uses_seed() const override { return peer_.plugin().stochastic; }

  Attribution attribute(const Question& question) const override {
    const std::lock_guard lock(mutex_);
    const std::int64_t all = CountedGame(question.game, {}).all_coalitions();
    require(question.budget.coalitions >= 2, name_, ": budget=", question.budget.coalitions,
            " (the empty and the grand coalition are 2). Raise the budget.");
    CountedGame counted(question.game, {std::min(question.budget.coalitions, all)});
    peers::Task task{.players = counted.players(),
                     .budget = counted.budget().coalitions,
                     .seed = question.seed,
                     .empty = counted.empty(),
                     .grand = counted.grand()};
    if (question.scenario != nullptr) task.volumes = question.scenario->partition.volumes;
    const peers::Doors doors{.values = [&counted](const Coalitions& coalitions) { return counted.values(coalitions); },
                             .gradients =
                                 [&counted](std::span<const double> nodes) {
                                   return counted.extension_gradients("integrated_gradients",
                                                                      on_diagonal(nodes, counted.players()));
                                 }};
    peers::Answer answer = peer_.run(task, doors);
    if (answer.ending == peers::Ending::soft_timeout)
      std::cerr << name_ << ": soft_timeout (its time was over, so its last values count). Raise limits.seconds in "
                << "plugin.toml, or make it faster.\n";
    return {.values = std::move(answer.values),
            .standard_errors = std::move(answer.standard_errors),
            .empty = task.empty,
            .grand = task.grand,
            .distinct = counted.distinct(),
            .evaluations = counted.evaluations(),
            .gradients = counted.gradients(),
            .forward_equivalents = counted.forward_equivalents(),
            .game_seconds = counted.seconds(),
            .estimator_seconds = answer.peer_seconds};
  }

 private:
  std::string name_;
  mutable peers::Peer peer_;
  mutable std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Method> of_peer(peers::Plugin plugin) { return std::make_unique<OfPeer>(std::move(plugin)); }

std::unique_ptr<Method> of_peer(const std::filesystem::path& folder) { return of_peer(peers::read_plugin(folder)); }

namespace {

class Uniform final : public Method {
 public:
  std::string_view name() const override { return "uniform"; }
  std::string_view access() const override { return "none"; }

  Attribution attribute(const Question& question) const override {
    const auto points = static_cast<std::size_t>(scenario_of(name(), question).input.domain.points());
    return of_density(
        name(), [&] { return std::vector<double>(points, 0.0); }, question);
  }
};

}  // namespace

std::unique_ptr<Method> uniform() { return std::make_unique<Uniform>(); }

}  // namespace opshap::methods
