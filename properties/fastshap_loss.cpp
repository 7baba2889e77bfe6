// The loss explainers are trained by, beside stored values and gradients.

#include "training/fastshap_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "operators/torch.hpp"
#include "support/golden.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

torch::Tensor row(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64).unsqueeze(0); }

TEST(FastShapLoss, HasTheStoredValueAndGradient) {
  int found = 0;
  for (const golden::Json& entry : golden::cases("fastshap_loss")) {
    // Ours shifts by equal shares; the file also has the loss without a shift and with one by areas.
    if (entry.at("normalisation") != "equal") continue;
    ++found;
    const int players = entry.at("players").get<int>();
    const Domain domain = Domain::unit({players});
    const double empty = entry.at("empty").get<double>(), grand = entry.at("grand").get<double>();
    const Coalitions drawn = golden::coalitions(players, entry.at("coalitions"));
    const auto count = static_cast<std::int64_t>(drawn.size());
    torch::Tensor coalitions = torch::zeros({1, count, players}, torch::kFloat64);
    for (std::size_t k = 0; k < drawn.size(); ++k)
      for (int player = 0; player < players; ++player)
        if (drawn.contains(k, player)) coalitions[0][static_cast<std::int64_t>(k)][player] = 1.0;
    // Densities whose cell values are the stored ones.
    const torch::Tensor densities =
        (row(golden::numbers(entry.at("values"))).t().unsqueeze(2) / domain.volume(0)).requires_grad_(true);
    const torch::Tensor loss =
        training::fastshap_errors(densities, domain, torch::full({1}, grand - empty, torch::kFloat64), coalitions,
                                  row(golden::numbers(entry.at("coalition_values"))) - empty) /
        static_cast<double>(count);
    EXPECT_EQ("", mismatch(entry.at("loss").get<double>(), loss.item<double>(), rounding(100, 1)));
    const torch::Tensor gradient =
        (torch::autograd::grad({loss}, {densities})[0].flatten() / domain.volume(0)).contiguous();
    const std::vector<double> ours(gradient.data_ptr<double>(), gradient.data_ptr<double>() + players);
    EXPECT_EQ("", mismatch(golden::numbers(entry.at("gradient")), ours, rounding(100, 1)));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace opshap
