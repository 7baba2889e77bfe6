#include "reporting/backbone_errors.hpp"

#include <set>

namespace opshap::reporting {

std::optional<std::vector<std::int64_t>> samples_of(const Scoreboard& scores, const runs::OperatorRow& errors) {
  std::set<std::int64_t> samples;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.shape != errors.shape) continue;
    for (const runs::AttributionRow* reference : scores.references(on)) samples.insert(reference->sample);
  }
  if (samples.size() != errors.relative_errors.size()) return std::nullopt;
  return std::vector<std::int64_t>(samples.begin(), samples.end());
}

std::map<std::int64_t, double> backbone_errors(const Scoreboard& scores, const std::vector<int>& shape) {
  std::map<std::int64_t, double> found;
  for (const runs::OperatorRow& row : scores.run().results.operators) {
    if (row.pde != scores.run().pde || row.shape != shape) continue;
    const auto samples = samples_of(scores, row);
    if (!samples) continue;
    for (std::size_t i = 0; i < samples->size(); ++i)
      if (row.relative_errors[i].value) found.emplace((*samples)[i], *row.relative_errors[i].value);
  }
  return found;
}

}  // namespace opshap::reporting
