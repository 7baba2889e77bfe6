#include "estimators/quadrature.hpp"

#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "core/names.hpp"

namespace opshap::estimators {

std::vector<double> Quadrature::integral(const std::vector<double>& values) const {
  const std::size_t size = values.size() / nodes.size();
  std::vector<double> sum(size, 0.0);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (std::size_t i = 0; i < size; ++i) sum[i] += weights[node] * values[node * size + i];
  }
  return sum;
}

Rule find_rule(std::string_view name) {
  if (name == "midpoint") return Rule::midpoint;
  if (name == "gauss_legendre") return Rule::gauss_legendre;
  throw InvalidArgument(message("quadrature: rule=", name, " (not a quadrature rule).",
                                suggestion(name, {"midpoint", "gauss_legendre"}), " Give midpoint or gauss_legendre."));
}

Quadrature quadrature(Rule rule, int nodes, std::string_view who) {
  require(nodes >= 1 && nodes <= max_quadrature_nodes, who, ": nodes=", nodes, " (needs 1..", max_quadrature_nodes,
          "). Give a number in that range.");
  const auto count = static_cast<std::size_t>(nodes);
  Quadrature result{.nodes = std::vector<double>(count), .weights = std::vector<double>(count, 1.0 / nodes)};
  if (rule == Rule::midpoint) {
    for (std::size_t k = 0; k < count; ++k) result.nodes[k] = (static_cast<double>(k) + 0.5) / nodes;
    return result;
  }
  GaussLegendre gauss_legendre(nodes);
  result.nodes = std::move(gauss_legendre.nodes);
  result.weights = std::move(gauss_legendre.weights);
  return result;
}

}  // namespace opshap::estimators
