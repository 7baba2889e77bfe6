#include "operators/multiwavelets.hpp"

#include <cmath>
#include <cstdint>

#include "core/gauss_legendre.hpp"

namespace opshap::operators {

namespace {

/// φ_0..φ_{k−1} at x.
std::vector<double> orthonormal_legendre(int k, double x) {
  const double t = 2 * x - 1;
  std::vector<double> values(static_cast<std::size_t>(k), 1);
  double before = 0, now = 1;
  for (int i = 1; i < k; ++i) {
    const double next = ((2 * i - 1) * t * now - (i - 1) * before) / i;
    before = now;
    now = next;
    values[static_cast<std::size_t>(i)] = std::sqrt(2 * i + 1) * now;
  }
  return values;
}

}  // namespace

Multiwavelets::Multiwavelets(int k) {
  // Rows 0..k−1 are [h0 h1], the others [g0 g1].
  const std::int64_t count = k;
  const torch::Tensor rows = torch::zeros({2 * count, 2 * count}, torch::kFloat64);
  auto entry = rows.accessor<double, 2>();
  const GaussLegendre rule(k);  // exact for the degree 2k − 2 of the products
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double x = rule.nodes[node], weight = rule.weights[node] / std::sqrt(2.0);
    const std::vector<double> of_half = orthonormal_legendre(k, x);
    for (const int half : {0, 1}) {
      const std::vector<double> of_all = orthonormal_legendre(k, (x + half) / 2);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < count; ++j)
          entry[i][half * count + j] +=
              weight * of_all[static_cast<std::size_t>(i)] * of_half[static_cast<std::size_t>(j)];
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    torch::Tensor row = torch::zeros({2 * count}, torch::kFloat64);
    row[i] = 1;
    const torch::Tensor others = rows.narrow(0, 0, count + i);
    for (int pass = 0; pass < 2; ++pass) row = row - torch::mv(others.t(), torch::mv(others, row));  // twice is enough
    rows[count + i].copy_(row / row.norm());
  }
  const auto block = [&](std::int64_t first_row, std::int64_t first_column) {
    return rows.narrow(0, first_row, count).narrow(1, first_column, count).contiguous();
  };
  h0 = block(0, 0);
  h1 = block(0, count);
  g0 = block(count, 0);
  g1 = block(count, count);
}

}  // namespace opshap::operators
