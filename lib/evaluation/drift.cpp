#include "evaluation/drift.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/field.hpp"
#include "core/measured.hpp"

namespace opshap::evaluation {

namespace {

std::vector<double> density_of(const runs::ValuesRow& row, const Domain& domain) {
  std::vector<double> density = row.values;
  for (std::size_t point = 0; point < density.size(); ++point)
    density[point] /= domain.volume(static_cast<std::int64_t>(point));
  return density;
}

}  // namespace

Measured drift(std::span<const double> density, const Domain& domain, std::span<const double> finer,
               const Domain& finer_domain, const Readout& readout) {
  require(static_cast<std::int64_t>(density.size()) == domain.points() &&
              static_cast<std::int64_t>(finer.size()) == finer_domain.points(),
          "drift: densities=", density.size(), " and ", finer.size(), " values (the grids have ", domain.points(),
          " and ", finer_domain.points(), " points). Give one for each point.");
  FieldBatch fine = FieldBatch::zeros(finer_domain, 1, 1);
  std::ranges::copy(finer, fine.field(0).begin());
  const FieldBatch common = strided(fine, domain.shape());
  const std::int64_t left_out = readout.is_query() ? readout.query().point : -1;
  double mean = 0, shift = 0, scale = 0, squares = 0;
  const auto each = [&](const auto& use) {
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const auto i = static_cast<std::size_t>(point);
      if (point != left_out) use(density[i], common.values[i]);
    }
  };
  const auto others = static_cast<double>(domain.points() - (left_out < 0 ? 0 : 1));
  each([&](double a, double b) {
    mean += b / others;
    shift += (a - b) / others;
  });
  each([&](double a, double b) {
    squares += std::pow(a - b - shift, 2);
    scale += std::pow(b - mean, 2);
  });
  return relative(std::sqrt(squares), std::sqrt(scale));
}

std::vector<runs::DriftRow> drift_rows(const std::vector<runs::ValuesRow>& values,
                                       const std::vector<ExplainedGrid>& grids) {
  const ExplainedGrid& finest = grids.back();
  const auto of_explainer_on = [&](const runs::ValuesRow& row, const Domain& domain) {
    return row.method == "operator_shap" && row.shape == domain.shape() && row.players == domain.points();
  };
  std::vector<runs::DriftRow> rows;
  for (const runs::ValuesRow& fine : values) {
    if (!of_explainer_on(fine, finest.domain)) continue;
    for (std::size_t grid = 0; grid + 1 < grids.size(); ++grid) {
      const Domain& domain = grids[grid].domain;
      const auto coarse = std::ranges::find_if(values, [&](const runs::ValuesRow& row) {
        return of_explainer_on(row, domain) && row.explainer == fine.explainer && row.sample == fine.sample;
      });
      if (coarse == values.end()) continue;
      auto row = std::ranges::find_if(rows, [&](const runs::DriftRow& known) {
        return known.explainer == fine.explainer && known.shape == domain.shape();
      });
      if (row == rows.end()) {
        rows.push_back({.pde = fine.pde,
                        .method = fine.method,
                        .explainer = fine.explainer,
                        .shape = domain.shape(),
                        .finest = finest.domain.shape(),
                        .drifts = {}});
        row = rows.end() - 1;
      }
      const Measured found = drift(density_of(*coarse, domain), domain, density_of(fine, finest.domain), finest.domain,
                                   grids[grid].readout);
      if (found.value) row->drifts.push_back(*found.value);
    }
  }
  return rows;
}

}  // namespace opshap::evaluation
