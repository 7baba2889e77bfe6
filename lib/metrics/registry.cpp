#include "metrics/registry.hpp"

#include "core/names.hpp"

namespace opshap::metrics {

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

}  // namespace opshap::metrics
