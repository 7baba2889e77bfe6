#include "core/operator.hpp"

#include <cstddef>
#include <utility>

#include "core/error.hpp"

namespace opshap {

std::vector<double> Operator::values_at(const FieldBatch& inputs, const Readout& readout) const {
  require_readout(*this, inputs.domain, readout);
  const FieldBatch outputs = apply(inputs);
  std::vector<double> values;
  for (std::int64_t index = 0; index < outputs.batch; ++index)
    values.push_back(readout.of(outputs.field(index), outputs.domain.points()));
  return values;
}

Operator::Gradient Operator::by_queries(const Readout& readout, const std::function<Gradient(Query)>& at) {
  Gradient sum;
  for (const Readout::Term& term : readout.terms()) {
    Gradient found = at(term.query);
    if (sum.values.empty()) {
      sum = std::move(found);
      for (double& value : sum.values) value *= term.weight;
      for (double& slope : sum.gradient.values) slope *= term.weight;
      continue;
    }
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += term.weight * found.values[i];
    for (std::size_t i = 0; i < sum.gradient.values.size(); ++i)
      sum.gradient.values[i] += term.weight * found.gradient.values[i];
  }
  return sum;
}

Operator::Gradient Operator::mean_field_at(const FieldBatch&, const FieldBatch&, const FieldBatch&,
                                           const Readout&) const {
  throw InvalidArgument(
      message(describe(),
              ": mean_field (its layers are not pointwise maps between integrals of the whole field). "
              "Use a sampling method such as permutation_antithetic."));
}

std::unique_ptr<CoalitionEngine> Operator::coalition_engine(const FieldBatch&, const FieldBatch&, const Partition&,
                                                            const Readout&) const {
  return nullptr;
}

std::int64_t Operator::preferred_batch(const Domain&) const { return 64; }

void require_readout(const Operator& op, const Domain& domain, const Readout& readout) {
  for (const auto& [query, weight] : readout.terms()) {
    require(query.point >= 0 && query.point < domain.points(), "query: point=", query.point,
            " (the grid has the points 0..", domain.points() - 1, "). Give a point of the grid.");
    require(query.channel >= 0 && query.channel < op.output_channels(), "query: channel=", query.channel,
            " (the operator's outputs have the channels 0..", op.output_channels() - 1, "). Give one of them.");
  }
}

}  // namespace opshap
