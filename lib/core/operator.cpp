#include "core/operator.hpp"

#include "core/error.hpp"

namespace opshap {

std::vector<double> Operator::values_at(const FieldBatch& inputs, Query query) const {
  require_query(*this, inputs.domain, query);
  const FieldBatch outputs = apply(inputs);
  std::vector<double> values;
  for (std::int64_t index = 0; index < outputs.batch; ++index) {
    values.push_back(
        outputs.field(index)[static_cast<std::size_t>(query.channel * outputs.domain.points() + query.point)]);
  }
  return values;
}

Operator::Gradient Operator::mean_field_at(const FieldBatch&, const FieldBatch&, const FieldBatch&, Query) const {
  throw InvalidArgument(
      message(describe(),
              ": mean_field (its layers are not pointwise maps between integrals of the whole field). "
              "Use a sampling method such as permutation_antithetic."));
}

std::unique_ptr<CoalitionEngine> Operator::coalition_engine(const FieldBatch&, const FieldBatch&, const Partition&,
                                                            Query) const {
  return nullptr;
}

std::int64_t Operator::preferred_batch(const Domain&) const { return 64; }

void require_query(const Operator& op, const Domain& domain, Query query) {
  require(query.point >= 0 && query.point < domain.points(), "query: point=", query.point,
          " (the grid has the points 0..", domain.points() - 1, "). Give a point of the grid.");
  require(query.channel >= 0 && query.channel < op.output_channels(), "query: channel=", query.channel,
          " (the operator's outputs have the channels 0..", op.output_channels() - 1, "). Give one of them.");
}

}  // namespace opshap
