// Training of an explainer by the FastSHAP loss (Jethani et al. 2022; OperatorSHAP, Algorithm 1).

#include <algorithm>
#include <functional>
#include <future>
#include <span>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/kernel_law.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "operators/network.hpp"
#include "training/batch_loss.hpp"
#include "training/fastshap_loss.hpp"
#include "training/identity.hpp"
#include "training/loop.hpp"
#include "training/resolution_batches.hpp"
#include "training/samples.hpp"
#include "training/training.hpp"

namespace opshap::training {

namespace {

constexpr int validation_coalitions = 32;
enum Purpose : std::uint32_t { training_stream, validation_stream };

/// Coalitions of one sample: pairs of a coalition from the Shapley kernel and its complement, as 0/1 rows [K, n].
torch::Tensor draw_pairs(const KernelLaw& law, int count, Rng rng) {
  const auto n = static_cast<std::size_t>(law.players());
  torch::Tensor rows = torch::empty({count, law.players()}, torch::kFloat32);
  float* out = rows.data_ptr<float>();
  Coalitions drawn(law.players(), 1);
  for (int pair = 0; pair < count / 2; ++pair) {
    auto row = drawn.row(0);
    std::fill(row.begin(), row.end(), 0);
    law.draw_subset(rng, law.draw_size(rng), row);
    float* first = out + static_cast<std::size_t>(2 * pair) * n;
    for (std::size_t player = 0; player < n; ++player) {
      const bool member = contains(row, static_cast<int>(player));
      first[player] = member ? 1.0F : 0.0F;
      first[n + player] = member ? 0.0F : 1.0F;
    }
  }
  return rows;
}

/// One resolution's games: players are grid points, the baseline is zero, the query is the centre.
class Games {
 public:
  Games(const Operator& backbone, const FieldBatch& fields, const ResolutionGroup& group) : backbone_(backbone) {
    if (group.samples.empty()) return;
    inputs_ = at_resolution(fields, group.samples.front(), group.points);
    inputs_.values.clear();
    inputs_.batch = 0;
    for (const std::int64_t sample : group.samples) {
      const FieldBatch one = at_resolution(fields, sample, group.points);
      inputs_.values.insert(inputs_.values.end(), one.values.begin(), one.values.end());
      ++inputs_.batch;
    }
    partition_ = Partition::one_player_per_point(inputs_.domain);
    query_ = {.point = inputs_.domain.centre()};
    const FieldBatch baseline = FieldBatch::zeros(inputs_.domain, 1, inputs_.channels);
    has_engine_ = backbone.coalition_engine(baseline, baseline, partition_, query_) != nullptr;
    empty_ = backbone.values_at(baseline, query_).front();
    grand_ = backbone.values_at(inputs_, query_);
  }

  /// v(N) − v(∅) of a batch's members, [B].
  torch::Tensor gains(const std::vector<std::int64_t>& members) const {
    std::vector<float> gains;
    for (const std::int64_t member : members)
      gains.push_back(static_cast<float>(grand_[static_cast<std::size_t>(member)] - empty_));
    return torch::tensor(gains);
  }

  /// v(S) − v(∅) for coalitions [B, K, n] of a batch's members, [B, K].
  torch::Tensor coalition_gains(const std::vector<std::int64_t>& members, const torch::Tensor& coalitions) const {
    const std::int64_t count = coalitions.size(1);
    const std::vector<double> values =
        has_engine_ ? engine_values(members, coalitions) : operator_values(members, coalitions);
    torch::Tensor gains = torch::empty({static_cast<std::int64_t>(members.size()), count}, torch::kFloat32);
    float* out = gains.data_ptr<float>();
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<float>(values[i] - empty_);
    return gains;
  }

  const Domain& domain() const { return inputs_.domain; }
  bool has_engine() const { return has_engine_; }

 private:
  /// Each member has few coalitions, so each thread takes whole members.
  std::vector<double> engine_values(const std::vector<std::int64_t>& members, const torch::Tensor& coalitions) const {
    const FieldBatch baseline = FieldBatch::zeros(inputs_.domain, 1, inputs_.channels);
    const auto count = static_cast<std::size_t>(coalitions.size(1)), n = static_cast<std::size_t>(coalitions.size(2));
    std::vector<double> values(members.size() * count);
    const float* rows = coalitions.data_ptr<float>();
    parallel_for(members.size(), [&](std::size_t b) {
      Coalitions drawn(static_cast<int>(n), count);
      for (std::size_t k = 0; k < count; ++k) {
        const float* row = rows + (b * count + k) * n;
        for (std::size_t player = 0; player < n; ++player)
          if (row[player] > 0) drawn.insert(k, static_cast<int>(player));
      }
      backbone_.coalition_engine(inputs_.one(members[b]), baseline, partition_, query_)
          ->values(drawn, 0, std::span(values).subspan(b * count, count));
    });
    return values;
  }

  std::vector<double> operator_values(const std::vector<std::int64_t>& members, const torch::Tensor& coalitions) const {
    const std::int64_t count = coalitions.size(1), n = coalitions.size(2);
    FieldBatch masked =
        FieldBatch::zeros(inputs_.domain, static_cast<std::int64_t>(members.size()) * count, inputs_.channels);
    const float* rows = coalitions.data_ptr<float>();
    for (std::size_t b = 0; b < members.size(); ++b) {
      const auto input = inputs_.field(members[b]);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t index = static_cast<std::int64_t>(b) * count + k;
        const float* row = rows + index * n;
        const auto field = masked.field(index);
        for (std::size_t i = 0; i < field.size(); ++i) field[i] = row[i % static_cast<std::size_t>(n)] * input[i];
      }
    }
    return backbone_.values_at(masked, query_);
  }

  const Operator& backbone_;
  FieldBatch inputs_;
  Partition partition_;
  Query query_;
  bool has_engine_ = false;
  double empty_ = 0;
  std::vector<double> grand_;
};

/// A batch's coalitions, [B, K, n], and v(S) − v(∅) of each, [B, K].
struct Played {
  torch::Tensor coalitions, gains;
};

std::vector<Games> games_of(const Operator& backbone, const FieldBatch& fields,
                            const std::vector<ResolutionGroup>& groups) {
  std::vector<Games> games;
  for (const ResolutionGroup& group : groups) games.emplace_back(backbone, fields, group);
  return games;
}

/// Coalitions of a batch's members, [B, K, n]; each member's depend on its number in the data set, the purpose and the epoch alone.
torch::Tensor draw_coalitions(const ResolutionGroup& group, const Batch& batch, int players, int count, const Rng& rng,
                              Purpose purpose, std::int64_t epoch) {
  const KernelLaw law(players);
  std::vector<torch::Tensor> rows;
  for (const std::int64_t member : batch.members) {
    const auto sample = static_cast<std::uint64_t>(group.samples[static_cast<std::size_t>(member)]);
    rows.push_back(draw_pairs(law, count, rng.stream(purpose, static_cast<std::uint64_t>(epoch) << 32 | sample)));
  }
  return torch::stack(rows);
}

}  // namespace

TrainingSummary train_explainer(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                                std::uint64_t seed, const std::filesystem::path& folder) {
  require(recipe.model.out_channels == 1, "explainer: out_channels=", recipe.model.out_channels,
          " (a density is one channel). Set it to 1.");
  require(recipe.coalitions >= 2 && recipe.coalitions % 2 == 0, "explainer: coalitions=", recipe.coalitions,
          " (they come in complementary pairs). Give an even number of at least 2.");
  const std::string identity = training_identity(recipe, backbone, data, seed);
  TrainingSummary summary;
  if (is_finished(folder, identity, summary)) return summary;

  const Rng rng(seed, "explainer coalitions");
  const std::vector<ResolutionGroup> train = resolution_groups(data, data::Split::train, recipe.resolutions);
  const std::vector<ResolutionGroup> validation = resolution_groups(data, data::Split::validation, recipe.resolutions);
  const torch::TensorOptions options = torch::kFloat32;
  const std::vector<torch::Tensor> train_inputs = at_resolutions(data.inputs, train, options);
  const std::vector<torch::Tensor> validation_inputs = at_resolutions(data.inputs, validation, options);
  const std::vector<Games> train_games = games_of(backbone, data.inputs, train),
                           validation_games = games_of(backbone, data.inputs, validation);
  const auto network = operators::make_network(recipe.model, options);
  operators::initialise(*network, seed + 1);  // not the backbone's own initial weights

  // The validation coalitions and their values never change.
  const std::vector<Batch> validation_batches = ordered_batches(validation, recipe.batch);
  std::vector<torch::Tensor> fixed_coalitions, fixed_gains;
  for (const Batch& batch : validation_batches) {
    const Games& games = validation_games[batch.group];
    fixed_coalitions.push_back(draw_coalitions(validation[batch.group], batch,
                                               static_cast<int>(games.domain().points()), validation_coalitions, rng,
                                               validation_stream, 0));
    fixed_gains.push_back(games.coalition_gains(batch.members, fixed_coalitions.back()));
  }

  const auto train_samples = static_cast<std::int64_t>(data.indices(data::Split::train).size());
  const auto validation_samples = static_cast<std::int64_t>(data.indices(data::Split::validation).size());
  TrainingLoop loop{.name = "explainer",
                    .identity = identity,
                    .epochs = recipe.epochs,
                    .warmup_epochs = recipe.warmup_epochs,
                    .patience = recipe.patience,
                    .learning_rate = recipe.learning_rate,
                    .weight_decay = recipe.weight_decay,
                    .train = {},
                    .validate = {},
                    .evaluations_per_epoch = train_samples * recipe.coalitions,
                    // v(N) of every sample, v(∅) of every group, and the validation coalitions
                    .evaluations_once = train_samples + validation_samples * (1 + validation_coalitions) +
                                        2 * static_cast<std::int64_t>(recipe.resolutions.size())};
  // The mean of the errors over samples and coalitions; parts of it, for chunks of fields, are given to `evaluate`.
  const auto loss_of = [&](const auto& evaluate, const std::vector<torch::Tensor>& inputs, const Games& games,
                           const Batch& batch, const torch::Tensor& coalitions, const torch::Tensor& targets) {
    const torch::Tensor fields = select(inputs, batch), gains = games.gains(batch.members);
    return evaluate(*network, fields.size(1), games.domain().shape(), [&](std::int64_t first, std::int64_t count) {
      const torch::Tensor densities = network->forward(fields.narrow(1, first, count), games.domain().shape());
      return fastshap_errors(densities, games.domain(), gains.narrow(0, first, count),
                             coalitions.narrow(0, first, count), targets.narrow(0, first, count)) /
             static_cast<double>(targets.numel());
    });
  };
  // Without an engine coalitions are LibTorch's, whose threads the explainer has already.
  const auto ahead = std::ranges::any_of(train_games, &Games::has_engine) ? std::launch::async : std::launch::deferred;
  loop.train = [&](std::int64_t epoch, const std::function<void()>& step) {
    double sum = 0;
    std::size_t samples = 0;
    const std::vector<Batch> batches = epoch_batches(train, recipe.batch, seed, epoch);
    const auto play = [&](const Batch& batch) {
      const Games& games = train_games[batch.group];
      Played played;
      played.coalitions = draw_coalitions(train[batch.group], batch, static_cast<int>(games.domain().points()),
                                          recipe.coalitions, rng, training_stream, epoch);
      played.gains = games.coalition_gains(batch.members, played.coalitions);
      return played;
    };
    // The next batch's coalitions do not wait for the explainer: what a step leaves of the processor's time goes to them.
    std::future<Played> next = std::async(ahead, play, std::cref(batches.front()));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const Batch& batch = batches[i];
      const Played played = next.get();
      if (i + 1 < batches.size()) next = std::async(ahead, play, std::cref(batches[i + 1]));
      const double loss = loss_of(batch_loss_and_gradient, train_inputs, train_games[batch.group], batch,
                                  played.coalitions, played.gains);
      step();
      sum += loss * static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  loop.validate = [&] {
    double sum = 0;
    std::size_t samples = 0;
    for (std::size_t i = 0; i < validation_batches.size(); ++i) {
      const Batch& batch = validation_batches[i];
      const double loss = loss_of(batch_loss, validation_inputs, validation_games[batch.group], batch,
                                  fixed_coalitions[i], fixed_gains[i]);
      sum += loss * static_cast<double>(batch.members.size());
      samples += batch.members.size();
    }
    return sum / static_cast<double>(samples);
  };
  return run_training(loop, *network, folder);
}

}  // namespace opshap::training
