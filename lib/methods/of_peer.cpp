#include "methods/of_peer.hpp"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "peers/peer.hpp"

namespace opshap::methods {

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
    Attribution attribution;
    attribution.empty = counted.empty();
    attribution.grand = counted.grand();
    peers::Task task{.players = counted.players(),
                     .budget = counted.budget().coalitions,
                     .seed = question.seed,
                     .empty = attribution.empty,
                     .grand = attribution.grand};
    if (question.scenario != nullptr) task.volumes = question.scenario->partition.volumes;
    const peers::Doors doors{
        .values = [&counted](const Coalitions& coalitions) { return counted.values(coalitions); },
        .gradients = [&counted](std::span<const double> nodes) { return counted.diagonal_gradients(nodes); }};
    peers::Answer answer = peer_.run(task, doors);
    if (answer.ending == peers::Ending::soft_timeout)
      std::cerr << name_ << ": soft_timeout (its time was over, so its last values count). Raise limits.seconds in "
                << "plugin.toml, or make it faster.\n";
    attribution.values = std::move(answer.values);
    attribution.standard_errors = std::move(answer.standard_errors);
    attribution.distinct = counted.distinct();
    attribution.evaluations = counted.evaluations();
    attribution.gradients = counted.gradients();
    attribution.game_seconds = counted.seconds();
    attribution.estimator_seconds = answer.peer_seconds;
    return attribution;
  }

 private:
  std::string name_;
  mutable peers::Peer peer_;
  mutable std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Method> of_peer(peers::Plugin plugin) { return std::make_unique<OfPeer>(std::move(plugin)); }

std::unique_ptr<Method> of_peer(const std::filesystem::path& folder) { return of_peer(peers::read_plugin(folder)); }

}  // namespace opshap::methods
