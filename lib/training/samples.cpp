#include "training/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/coalitions.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "explainers/operator_shap.hpp"
#include "games/cell_mask_game.hpp"
#include "games/games_together.hpp"
#include "operators/fno_coalitions.hpp"
#include "operators/network.hpp"

namespace opshap::training {

SampleGames::SampleGames(const Operator& backbone, const data::SampleFields& fields, const ResolutionGroup& group,
                         const ScenarioRule& rule, std::vector<std::int64_t> queries,
                         const torch::TensorOptions& options)
    : backbone_(backbone),
      fields_(fields),
      group_(group),
      rule_(rule),
      queries_(std::move(queries)),
      options_(options) {
  if (group.samples.empty()) return;
  const Scenario first = scenario(0);
  domain_ = first.input.domain;
  players_ = first.partition.players;
  volumes_ = player_volumes(domain_, first.partition, options_);
  if (const auto engine = backbone.coalition_engine(first.baseline, first.baseline, first.partition, first.readout))
    engine_batch_ = engine->batch();
  FieldBatch two = first.baseline;
  two.append(first.baseline);
  of_several_ = backbone.coalition_engine(two, first.baseline, first.partition, first.readout) != nullptr;

  const auto members = static_cast<std::int64_t>(group.samples.size());
  if (!queries_.empty()) {
    for (std::int64_t member = 0; member < members; ++member) {
      const Scenario of = scenario(member);
      empty_.push_back(backbone.values_at(of.baseline, of.readout).front());
      grand_.push_back(backbone.values_at(of.input, of.readout).front());
    }
    evaluations_ = 2 * members;
    return;
  }
  // All inputs go to the operator in one batch. So do the baselines, unless they are all the same.
  FieldBatch inputs = FieldBatch::zeros(domain_, 0, fields.channels()), baselines = first.baseline;
  for (std::int64_t member = 0; member < members; ++member) {
    const Scenario of = scenario(member);
    inputs.append(of.input);
    if (member > 0 && rule.baseline_depends_on_input()) baselines.append(of.baseline);
  }
  empty_ = backbone.values_at(baselines, first.readout);
  grand_ = backbone.values_at(inputs, first.readout);
  evaluations_ = baselines.batch + inputs.batch;
  empty_.resize(grand_.size(), empty_.front());
}

Scenario SampleGames::scenario(std::int64_t member) const {
  const std::int64_t sample = group_.samples[static_cast<std::size_t>(member)];
  Scenario made = scenario_at(rule_, fields_.one(sample), group_.resolution);
  if (!queries_.empty())
    made.readout = Query{.point = queries_[static_cast<std::size_t>(member)], .channel = rule_.channel};
  return made;
}

std::unique_ptr<Game> SampleGames::game(std::int64_t member) const {
  return games::cell_mask_game(backbone_, scenario(member));
}

BasedField SampleGames::based(std::int64_t member, const ExplainerBase& base, const Game& game) const {
  const Scenario of = scenario(member);
  const auto at = static_cast<std::size_t>(member);
  CountedGame counted(game, {2});
  BasedField field = with_base(base, of, base_slopes(base, counted), grand_[at] - empty_[at]);
  if (!queries_.empty()) field.input = explainers::with_query(field.input, {queries_[at]});
  return field;
}

void SampleGames::play(const std::vector<std::int64_t>& members,
                       const std::function<void(std::size_t b, const Game& game)>& work) const {
  if (queries_.empty() && !(has_engine() && options_.device().is_cpu())) {
    std::vector<Scenario> scenarios;
    for (const std::int64_t member : members) scenarios.push_back(scenario(member));
    return games::play_together(backbone_, scenarios, work);
  }
  for_each(members.size(), [&](std::size_t b) { work(b, *game(members[b])); });
}

// Each member has little work, so a thread takes whole members.
void SampleGames::for_each(std::size_t count, const std::function<void(std::size_t i)>& work) const {
  if (has_engine()) return parallel_for(count, work);
  for (std::size_t i = 0; i < count; ++i) work(i);
}

double SampleGames::mean_squared_gain() const {
  double sum = 0;
  for (std::size_t member = 0; member < grand_.size(); ++member) sum += std::pow(grand_[member] - empty_[member], 2);
  return sum / static_cast<double>(std::max<std::size_t>(1, grand_.size()));
}

torch::Tensor SampleGames::gains(const std::vector<std::int64_t>& members) const {
  std::vector<float> gains;
  for (const std::int64_t member : members) {
    const auto at = static_cast<std::size_t>(member);
    gains.push_back(static_cast<float>(grand_[at] - empty_[at]));
  }
  return torch::tensor(gains).to(options_);
}

std::size_t SampleGames::games_together(std::size_t games, std::size_t coalitions) const {
  if (!queries_.empty()) return 1;  // each has a readout of its own
  if (!has_engine()) return games;  // the operator itself takes as many fields as it likes to see
  if (!of_several_) return 1;
  constexpr std::size_t batches = 4;  // so that the last one, which is not full, does not count
  const auto all = static_cast<std::size_t>(threads());
  return std::clamp<std::size_t>(batches * engine_batch_ / coalitions, 1, (games + all - 1) / all);
}

torch::Tensor SampleGames::gains_there(const std::vector<std::int64_t>& members, const Coalitions& coalitions) const {
  if (!queries_.empty()) return {};
  std::vector<Scenario> scenarios;
  std::vector<double> empty;
  for (const std::int64_t member : members) {
    scenarios.push_back(scenario(member));
    empty.push_back(empty_[static_cast<std::size_t>(member)]);
  }
  const auto engine = games::engine_together(backbone_, scenarios);
  const auto* on_device = dynamic_cast<const operators::DeviceEngine*>(engine.get());
  if (on_device == nullptr) return {};
  const torch::Tensor values = on_device->values_there(coalitions, 0, static_cast<std::int64_t>(coalitions.size()));
  const auto there = values.options().dtype(torch::kFloat64);
  return (values.to(torch::kFloat64).view({static_cast<std::int64_t>(members.size()), -1}) -
          torch::tensor(empty, torch::kFloat64).to(there).unsqueeze(1))
      .to(options_);
}

torch::Tensor SampleGames::coalition_gains(const std::vector<std::int64_t>& members,
                                           const Coalitions& coalitions) const {
  const std::size_t games = members.size(), each = coalitions.size() / games, together = games_together(games, each);
  if (!options_.device().is_cpu())
    if (const torch::Tensor there = gains_there(members, coalitions); there.defined()) return there;
  torch::Tensor gains =
      torch::empty({static_cast<std::int64_t>(games), static_cast<std::int64_t>(each)}, torch::kFloat32);
  float* out = gains.data_ptr<float>();
  for_each((games + together - 1) / together, [&](std::size_t group) {
    const std::size_t first = group * together, last = std::min(games, first + together);
    std::vector<Scenario> scenarios;
    for (std::size_t b = first; b < last; ++b) scenarios.push_back(scenario(members[b]));
    Coalitions own(players_);
    own.reserve((last - first) * each);
    for (std::size_t row = first * each; row < last * each; ++row) own.append(coalitions.row(row));
    const std::vector<double> values = games::values_together(backbone_, scenarios, own);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double empty = empty_[static_cast<std::size_t>(members[first + i / each])];
      out[first * each + i] = static_cast<float>(values[i] - empty);
    }
  });
  return gains;
}

std::vector<torch::Tensor> at_resolutions(const data::SampleFields& fields, const std::vector<ResolutionGroup>& groups,
                                          const torch::TensorOptions& options,
                                          const std::vector<std::vector<std::int64_t>>& queries) {
  std::vector<torch::Tensor> tensors;
  for (std::size_t number = 0; number < groups.size(); ++number) {
    const ResolutionGroup& group = groups[number];
    std::vector<torch::Tensor> samples;
    for (std::size_t member = 0; member < group.samples.size(); ++member) {
      FieldBatch field = at_resolution(fields.one(group.samples[member]), group.resolution);
      if (number < queries.size() && !queries[number].empty())
        field = explainers::with_query(field, {queries[number][member]});
      samples.push_back(operators::to_tensor(field, 0, 1, options));
    }
    tensors.push_back(samples.empty() ? torch::Tensor() : torch::cat(samples, 1));
  }
  return tensors;
}

BasedSamples based_samples(const SampleGames& games, std::size_t members, const ExplainerBase& base,
                           const torch::TensorOptions& options) {
  if (members == 0) return {};
  std::vector<BasedField> fields(members);
  std::vector<std::int64_t> all(members);
  std::iota(all.begin(), all.end(), 0);
  games.play(all, [&](std::size_t b, const Game& game) {
    throw_if_stopped("explainer");
    fields[b] = games.based(all[b], base, game);
  });
  std::vector<torch::Tensor> inputs, densities;
  std::vector<double> scales;
  for (const BasedField& field : fields) {
    inputs.push_back(operators::to_tensor(field.input, 0, 1, options));
    densities.push_back(torch::tensor(field.density, torch::kFloat64).to(options).view({-1, 1, 1}));
    scales.push_back(field.scale);
  }
  return {.inputs = torch::cat(inputs, 1),
          .densities = torch::cat(densities, 1),
          .scales = torch::tensor(scales, torch::kFloat64).to(options).view({1, -1, 1})};
}

torch::Tensor select(const std::vector<torch::Tensor>& groups, const Batch& batch) {
  return groups[batch.group].index_select(1,
                                          torch::tensor(batch.members, torch::kInt64).to(groups[batch.group].device()));
}

torch::Tensor PlayerVolumes::cells(const torch::Tensor& densities) const {
  const torch::Tensor points = densities.squeeze(2).t() * of_points;  // [B, points]
  if (!owner.defined()) return points;
  return torch::zeros({points.size(0), shares.size(0)}, points.options()).index_add(1, owner, points);
}

PlayerVolumes player_volumes(const Domain& domain, const Partition& partition, const torch::TensorOptions& options) {
  std::vector<double> of_points, shares;
  bool one_player_per_point = partition.players == domain.points();
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    of_points.push_back(domain.volume(point));
    one_player_per_point = one_player_per_point && partition.player_of[static_cast<std::size_t>(point)] == point;
  }
  const double whole = std::accumulate(partition.volumes.begin(), partition.volumes.end(), 0.0);
  for (const double volume : partition.volumes) shares.push_back(volume / whole);
  PlayerVolumes volumes{.of_points = torch::tensor(of_points, torch::kFloat64).to(options),
                        .shares = torch::tensor(shares, torch::kFloat64).to(options)};
  if (!one_player_per_point) volumes.owner = torch::tensor(partition.player_of, torch::kInt64).to(options.device());
  return volumes;
}

}  // namespace opshap::training
