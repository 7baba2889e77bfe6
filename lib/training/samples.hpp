#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

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

PlayerVolumes player_volumes(const Domain& domain, const Partition& partition, torch::Dtype dtype);

/// The games of the samples of one group: each sample is a scenario under one rule, and all have the same players.
///
/// Refers to the operator and to the fields. Members are positions in the group. Cost: one evaluation for each v(N) and
/// for each distinct baseline, at construction.
class SampleGames {
 public:
  /// `fields` are those of the whole data set. `queries` has the explained point of each member; without them it is the
  /// rule's. Throws as make_scenario() for a rule that does not fit the fields.
  SampleGames(const Operator& backbone, const data::SampleFields& fields, const ResolutionGroup& group,
              const ScenarioRule& rule, std::vector<std::int64_t> queries = {});
  SampleGames(const Operator&, data::SampleFields&&, const ResolutionGroup&, const ScenarioRule&,
              std::vector<std::int64_t> = {}) = delete;

  /// Whether a coalition engine computes; then every thread takes members of its own.
  bool has_engine() const { return has_engine_; }
  const Domain& domain() const { return domain_; }
  int players() const { return players_; }
  /// Points and players in float32.
  const PlayerVolumes& volumes() const { return volumes_; }
  /// Operator evaluations that the construction took.
  std::int64_t evaluations() const { return evaluations_; }

  /// The scenario of a member.
  Scenario scenario(std::int64_t member) const;
  /// A member as an explainer with this base sees it: ExplainerBase::evaluations(). An explainer of any query is told
  /// the member's as well (explainers::with_query).
  BasedField based(std::int64_t member, const ExplainerBase& base) const;
  /// The game of a member. It refers to this object's operator.
  std::unique_ptr<Game> game(std::int64_t member) const;
  /// Calls play(b) for each of a batch's members, on all threads where that is faster.
  void for_each(std::size_t members, const std::function<void(std::size_t b)>& play) const;
  /// The mean of (v(N) − v(∅))² over all members: by what a game counts as small.
  double mean_squared_gain() const;
  /// v(N) − v(∅) of a batch's members, [B].
  torch::Tensor gains(const std::vector<std::int64_t>& members) const;
  /// v(S) − v(∅) for coalitions of 0 and 1 [B, K, players] of a batch's members, [B, K].
  torch::Tensor coalition_gains(const std::vector<std::int64_t>& members, const torch::Tensor& coalitions) const;

 private:
  const Operator& backbone_;
  const data::SampleFields& fields_;
  ResolutionGroup group_;
  ScenarioRule rule_;
  std::vector<std::int64_t> queries_;
  Domain domain_;
  int players_ = 0;
  PlayerVolumes volumes_;
  bool has_engine_ = false;
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
BasedSamples based_samples(const SampleGames& games, std::size_t members, const ExplainerBase& base);

/// The members of a batch, [points, B, C].
torch::Tensor select(const std::vector<torch::Tensor>& groups, const Batch& batch);

}  // namespace opshap::training
