// The loss explainers are trained by, beside stored values and gradients.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "operators/torch.hpp"
#include "support/golden.hpp"
#include "support/tolerance.hpp"
#include "training/target_fastshap.hpp"

namespace opshap {
namespace {

torch::Tensor row(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64).unsqueeze(0); }

/// Players with these volumes. Each has `points` points of a mesh on [0, 1], which share its volume equally.
struct Players {
  Domain domain;
  Partition partition;

  Players(const std::vector<double>& volumes_of_players, int points) {
    std::vector<double> positions, volumes;
    std::vector<std::int64_t> labels;
    for (std::size_t player = 0; player < volumes_of_players.size(); ++player) {
      for (int point = 0; point < points; ++point) {
        positions.push_back(static_cast<double>(positions.size()) / 100);
        volumes.push_back(volumes_of_players[player] / points);
        labels.push_back(static_cast<std::int64_t>(player));
      }
    }
    domain = Domain::mesh(Mesh::of_points(1, positions, volumes));
    partition = Partition::from_labels(domain, labels);
  }
};

/// Loss and gradient of an entry of the file, with the entry's values spread over the points of the players.
void expect_stored(const golden::Json& entry, const Players& players) {
  const int n = players.partition.players;
  const double empty = entry.at("empty").get<double>(), grand = entry.at("grand").get<double>();
  const Coalitions drawn = golden::coalitions(n, entry.at("coalitions"));
  const auto count = static_cast<std::int64_t>(drawn.size());
  torch::Tensor coalitions = torch::zeros({1, count, n}, torch::kFloat64);
  for (std::size_t k = 0; k < drawn.size(); ++k)
    for (int player = 0; player < n; ++player)
      if (drawn.contains(k, player)) coalitions[0][static_cast<std::int64_t>(k)][player] = 1.0;
  // Densities whose integrals over the players are the stored values.
  const std::vector<double> values = golden::numbers(entry.at("values")),
                            slopes = golden::numbers(entry.at("gradient"));
  std::vector<double> density, slope_of_density;
  for (std::int64_t point = 0; point < players.domain.points(); ++point) {
    const auto player = static_cast<std::size_t>(players.partition.player_of[static_cast<std::size_t>(point)]);
    density.push_back(values[player] / players.partition.volumes[player]);
    slope_of_density.push_back(slopes[player] * players.domain.volume(point));
  }
  const torch::Tensor densities = row(density).t().unsqueeze(2).clone().requires_grad_(true);
  const training::PlayerVolumes volumes = training::player_volumes(players.domain, players.partition, torch::kFloat64);
  const torch::Tensor loss =
      training::fastshap_errors(densities, volumes, torch::full({1}, grand - empty, torch::kFloat64), coalitions,
                                row(golden::numbers(entry.at("coalition_values"))) - empty) /
      static_cast<double>(count);
  EXPECT_EQ("", mismatch(entry.at("loss").get<double>(), loss.item<double>(), rounding(100, 1)));
  const torch::Tensor gradient = torch::autograd::grad({loss}, {densities})[0].flatten().contiguous();
  EXPECT_EQ("",
            mismatch(slope_of_density, {gradient.data_ptr<double>(), gradient.data_ptr<double>() + gradient.numel()},
                     rounding(100, 1)));
}

// The file has the loss with shifts by equal shares, which is players of equal volume, and by areas. It also has one
// without a shift, which is not ours.
TEST(FastShapLoss, HasTheStoredValueAndGradient) {
  int found = 0;
  for (const golden::Json& entry : golden::cases("fastshap_loss")) {
    const std::string normalisation = entry.at("normalisation");
    if (normalisation == "none") continue;
    std::vector<double> volumes = golden::numbers(entry.at("areas"));
    if (normalisation == "equal") volumes.assign(volumes.size(), 1.0 / static_cast<double>(volumes.size()));
    for (const int points : {1, 3}) expect_stored(entry, Players(volumes, points));
    ++found;
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace opshap
