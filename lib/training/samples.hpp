#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/coalitions.hpp"
#include "core/domain.hpp"
#include "core/explainer_base.hpp"
#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "operators/torch.hpp"
#include "training/ranks.hpp"
#include "training/resolution_batches.hpp"

namespace opshap::training {

/// What a loss needs of a domain and its players, as tensors.
struct PlayerVolumes {
  torch::Tensor of_points;  ///< [points], the volume of each
  torch::Tensor owner;      ///< [points] the player of each; undefined when player i is point i
  torch::Tensor shares;     ///< [players], each player's part of the whole volume

  /// Densities [points, B, 1] as what each player's points have together, [B, players].
  torch::Tensor cells(const torch::Tensor& densities) const;
};

PlayerVolumes player_volumes(const Domain& domain, const Partition& partition, const torch::TensorOptions& options);

/// The games of the samples of one group: each sample is a scenario under one rule, and all have the same players.
///
/// Refers to the operator and to the fields. Members are positions in the group. Cost: one evaluation for each v(N) and
/// for each distinct baseline, at construction.
class SampleGames {
 public:
  /// `fields` are those of the whole data set. `queries` has the explained point of each member; without them it is the
  /// rule's. `options` are those of the tensors that it gives. Throws as make_scenario() for a rule that does not fit
  /// the fields.
  SampleGames(const Operator& backbone, const data::SampleFields& fields, const ResolutionGroup& group,
              const ScenarioRule& rule, std::vector<std::int64_t> queries = {},
              const torch::TensorOptions& options = torch::kFloat32);
  SampleGames(const Operator&, data::SampleFields&&, const ResolutionGroup&, const ScenarioRule&,
              std::vector<std::int64_t> = {}, const torch::TensorOptions& = torch::kFloat32) = delete;

  /// Whether a coalition engine computes; then every thread takes members of its own.
  bool has_engine() const { return engine_batch_ > 0; }
  const Domain& domain() const { return domain_; }
  int players() const { return players_; }
  const PlayerVolumes& volumes() const { return volumes_; }
  const torch::TensorOptions& options() const { return options_; }
  /// Operator evaluations that the construction took.
  std::int64_t evaluations() const { return evaluations_; }

  /// The scenario of a member.
  Scenario scenario(std::int64_t member) const;
  /// A member as an explainer with this base sees it, by the member's game: ExplainerBase::evaluations(). An explainer
  /// of any query is told the member's as well (explainers::with_query).
  BasedField based(std::int64_t member, const ExplainerBase& base, const Game& game) const;
  /// The game of a member. It refers to this object's operator.
  std::unique_ptr<Game> game(std::int64_t member) const;
  /// Calls work(b, game) with the game of each of a batch's members. On the CPU, where an engine computes, all threads
  /// take members of their own. Else the operator is asked for all of them together (games::play_together), unless each
  /// has a query of its own.
  void play(const std::vector<std::int64_t>& members,
            const std::function<void(std::size_t b, const Game& game)>& work) const;
  /// The mean of (v(N) − v(∅))² over all members: by what a game counts as small.
  double mean_squared_gain() const;
  /// v(N) − v(∅) of a batch's members, [B].
  torch::Tensor gains(const std::vector<std::int64_t>& members) const;
  /// v(S) − v(∅) of a batch's members, [B, K]: each has K of the coalitions, those of the first one first. Games of
  /// several members are asked together: without an engine all of them, else as many as make some of its batches.
  torch::Tensor coalition_gains(const std::vector<std::int64_t>& members, const Coalitions& coalitions) const;

 private:
  /// coalition_gains() by an engine that keeps its values on a device; not defined where there is none.
  torch::Tensor gains_there(const std::vector<std::int64_t>& members, const Coalitions& coalitions) const;
  /// Calls work(i) for so many, on all threads where an engine computes; without one the operator has threads of its
  /// own.
  void for_each(std::size_t count, const std::function<void(std::size_t i)>& work) const;
  /// How many games a thread asks at once, of so many with so many coalitions each.
  std::size_t games_together(std::size_t games, std::size_t coalitions) const;

  const Operator& backbone_;
  const data::SampleFields& fields_;
  ResolutionGroup group_;
  ScenarioRule rule_;
  std::vector<std::int64_t> queries_;
  torch::TensorOptions options_;
  Domain domain_;
  int players_ = 0;
  PlayerVolumes volumes_;
  std::size_t engine_batch_ = 0;  ///< 0 without an engine
  bool of_several_ = false;       ///< whether there are engines for several inputs
  std::int64_t evaluations_ = 0;
  std::vector<double> empty_, grand_;  ///< of each member
};

/// The samples of each group on its domain, at its resolution: one tensor [points, samples, C] per group, undefined for
/// an empty group. Groups with `queries`, one for each sample, get their coordinates as further channels
/// (explainers::with_query).
std::vector<torch::Tensor> at_resolutions(const data::SampleFields& fields, const std::vector<ResolutionGroup>& groups,
                                          const torch::TensorOptions& options,
                                          const std::vector<std::vector<std::int64_t>>& queries = {});

/// The samples of one resolution as an explainer with a base sees them.
struct BasedSamples {
  torch::Tensor inputs;     ///< [points, samples, C], what the network is given
  torch::Tensor densities;  ///< [points, samples, 1], of the base
  torch::Tensor scales;     ///< [1, samples, 1], what the network's densities are multiplied by
};

/// Those of so many members of these games, on all threads. Undefined tensors where there are none.
BasedSamples based_samples(const SampleGames& games, std::size_t members, const ExplainerBase& base,
                           const torch::TensorOptions& options = torch::kFloat32);

/// The members of a batch, [points, B, C].
torch::Tensor select(const std::vector<torch::Tensor>& groups, const Batch& batch);

}  // namespace opshap::training
