#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/domain.hpp"
#include "core/field.hpp"

namespace opshap::data {

/// The fields of the samples of a data set, by the sample's number: all on one domain, as on grids, or each on one of
/// several meshes.
class SampleFields {
 public:
  SampleFields() : SampleFields(FieldBatch{}) {}
  /// Sample i is field i. Implicit, since fields on one domain are the fields of samples.
  SampleFields(FieldBatch fields);
  /// Zeros. Sample i is on domain number domain_of[i]. Throws InvalidArgument for a domain that is not there, and
  /// without domains.
  SampleFields(const std::vector<Domain>& domains, std::vector<std::int32_t> domain_of, int channels);

  std::int64_t count() const;
  int channels() const { return parts_.front().channels; }
  int dimension() const { return parts_.front().domain.dimension(); }
  bool on_one_domain() const { return parts_.size() == 1; }
  /// The domain of all samples. Throws InvalidArgument where there are several.
  const Domain& domain() const { return batch().domain; }
  /// The fields of all samples as one batch. Throws the same.
  const FieldBatch& batch() const;
  FieldBatch& batch();

  /// x0, x1, y0, y1 of the smallest box in the plane that all points lie in.
  std::array<double, 4> box() const;
  /// Whether each sample is on the same domain in both.
  bool has_domains_of(const SampleFields& other) const;

  std::size_t domains() const { return parts_.size(); }
  const Domain& domain(std::size_t number) const { return parts_[number].domain; }
  /// The number of a sample's domain.
  std::size_t domain_of(std::int64_t sample) const;
  /// Copies of some fields, in this order, on the domains that they are on.
  SampleFields chosen(std::span<const std::int64_t> samples) const;
  /// A copy of one field, as a batch of one.
  FieldBatch one(std::int64_t sample) const;
  std::span<double> field(std::int64_t sample);
  std::span<const double> field(std::int64_t sample) const;

 private:
  std::vector<FieldBatch> parts_;        ///< one a domain; at least one
  std::vector<std::int32_t> domain_of_;  ///< of each sample; empty where there is one domain
  std::vector<std::int64_t> place_;      ///< of each sample in its batch; empty as well
};

}  // namespace opshap::data
