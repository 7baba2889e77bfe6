#include "metrics/registry.hpp"

#include <algorithm>

#include "core/names.hpp"

namespace opshap::metrics {

#define METRIC(name) Metric describe_##name();
#include "metrics/registry.def"
#undef METRIC

const std::vector<Metric>& all() {
  static const std::vector<Metric> metrics = {
#define METRIC(name) describe_##name(),
#include "metrics/registry.def"
#undef METRIC
  };
  return metrics;
}

const Metric& find(std::string_view name) {
  std::vector<std::string> names;
  for (const Metric& metric : all()) {
    if (metric.name == name) return metric;
    names.emplace_back(metric.name);
  }
  throw_unknown_name("metric", name, names);
}

const std::vector<Metric>& in_tables() {
  static const std::vector<Metric> ordered = [] {
    std::vector<Metric> metrics = all();
    std::ranges::stable_partition(metrics, [](const Metric& metric) { return metric.name == "nrmse"; });
    return metrics;
  }();
  return ordered;
}

Scores score(const Scored& scored) {
  Scores scores;
  for (const Metric& metric : all()) {
    if (!metric.needs_coalitions || scored.coalitions != nullptr) scores[metric.name] = metric.score(scored);
  }
  return scores;
}

Scores no_scores(const std::string& why, bool with_coalitions) {
  Scores scores;
  for (const Metric& metric : all()) {
    if (!metric.needs_coalitions || with_coalitions) scores[metric.name] = Measured::undefined(why);
  }
  return scores;
}

}  // namespace opshap::metrics
