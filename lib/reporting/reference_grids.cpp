#include "reporting/reference_grids.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace opshap::reporting {

namespace {

/// Of the finer values the part that belongs to the cells around every second point: the neighbours' cells are cut in
/// half.
std::vector<double> coarsened(const std::vector<double>& fine) {
  std::vector<double> coarse;
  for (std::size_t i = 0; i + 1 < fine.size(); i += 2)
    coarse.push_back(fine[i] + (fine[(i + fine.size() - 1) % fine.size()] + fine[i + 1]) / 2);
  return coarse;
}

}  // namespace

std::optional<double> distance_of_references(const Scoreboard& scores, std::int64_t sample, int players, int finer) {
  const runs::ValuesRow* coarse = scores.values(Discretisation::line(players), sample, "reference");
  const runs::ValuesRow* fine = scores.values(Discretisation::line(finer), sample, "reference");
  if (coarse == nullptr || fine == nullptr) return std::nullopt;
  std::vector<double> summed = fine->values;
  while (summed.size() > coarse->values.size()) summed = coarsened(summed);
  if (summed.size() != coarse->values.size()) return std::nullopt;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < summed.size(); ++i) {
    difference = std::hypot(difference, summed[i] - coarse->values[i]);
    size = std::hypot(size, coarse->values[i]);
  }
  if (size == 0) return std::nullopt;
  return difference / size;
}

}  // namespace opshap::reporting
