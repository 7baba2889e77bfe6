#include "core/readout.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "core/error.hpp"

namespace opshap {

namespace {

std::size_t index(Query query, std::int64_t points) {
  return static_cast<std::size_t>(query.channel * points + query.point);
}

}  // namespace

Readout::Readout(const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    require(std::isfinite(term.weight), "target: weight=", term.weight, " (of point ", term.query.point, ", channel ",
            term.query.channel, " is not a finite number). Repair the weights.");
    if (term.weight != 0) terms_.push_back(term);
  }
  require(!terms_.empty(), "target: weights=0 (all of them, so there is nothing to explain). Give one that is not 0.");
}

Readout Readout::of_weights(std::span<const double> weights, std::int64_t points) {
  require(points > 0 && !weights.empty() && static_cast<std::int64_t>(weights.size()) % points == 0,
          "target: weights=", weights.size(), " (an output has ", points,
          " points a channel). Give one for each number of the output.");
  std::vector<Term> terms;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    terms.push_back({{.point = number % points, .channel = static_cast<int>(number / points)}, weights[i]});
  }
  return Readout(terms);
}

Query Readout::query() const {
  if (!is_query()) throw std::logic_error("the query of a readout of several");
  return terms_.front().query;
}

std::string Readout::describe() const {
  if (!is_query()) return message("a weighted sum of ", terms_.size(), " numbers of the output");
  return message("the value at point ", query().point, ", channel ", query().channel);
}

double Readout::of(std::span<const double> output, std::int64_t points) const {
  if (is_query()) return output[index(terms_.front().query, points)];
  double sum = 0;
  for (const Term& term : terms_) sum += term.weight * output[index(term.query, points)];
  return sum;
}

}  // namespace opshap
