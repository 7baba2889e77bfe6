#include "data/sample_fields.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace opshap::data {

SampleFields::SampleFields(FieldBatch fields) { parts_.push_back(std::move(fields)); }

SampleFields::SampleFields(const std::vector<Domain>& domains, std::vector<std::int32_t> domain_of, int channels)
    : domain_of_(std::move(domain_of)) {
  require(!domains.empty(), "data set: domains=0 (a field lives on one). Give one or more.");
  std::vector<std::int64_t> counts(domains.size(), 0);
  for (const std::int32_t number : domain_of_) {
    require(number >= 0 && static_cast<std::size_t>(number) < domains.size(), "data set: domain=", number,
            " (there are ", domains.size(), "). Give one of them.");
    place_.push_back(counts[static_cast<std::size_t>(number)]++);
  }
  for (std::size_t number = 0; number < domains.size(); ++number)
    parts_.push_back(FieldBatch::zeros(domains[number], counts[number], channels));
  if (parts_.size() > 1) return;
  domain_of_.clear();
  place_.clear();
}

std::int64_t SampleFields::count() const {
  return on_one_domain() ? parts_.front().batch : static_cast<std::int64_t>(domain_of_.size());
}

const FieldBatch& SampleFields::batch() const {
  require(on_one_domain(), "data set: domains=", parts_.size(),
          " (its samples are on meshes of their own, and one domain is asked for). Use a data set on one domain.");
  return parts_.front();
}

FieldBatch& SampleFields::batch() { return const_cast<FieldBatch&>(std::as_const(*this).batch()); }

std::array<double, 4> SampleFields::box() const {
  constexpr double far = std::numeric_limits<double>::infinity();
  std::array<double, 4> found = {far, -far, far, -far};
  for (const FieldBatch& part : parts_) {
    for (std::int64_t point = 0; point < part.domain.points(); ++point) {
      const std::vector<double> at = part.domain.position(point);
      found = {std::min(found[0], at[0]), std::max(found[1], at[0]), std::min(found[2], at[1]),
               std::max(found[3], at[1])};
    }
  }
  return found;
}

bool SampleFields::has_domains_of(const SampleFields& other) const {
  return domain_of_ == other.domain_of_ &&
         std::ranges::equal(parts_, other.parts_, {}, &FieldBatch::domain, &FieldBatch::domain);
}

std::size_t SampleFields::domain_of(std::int64_t sample) const {
  return on_one_domain() ? 0 : static_cast<std::size_t>(domain_of_[static_cast<std::size_t>(sample)]);
}

SampleFields SampleFields::chosen(std::span<const std::int64_t> samples) const {
  std::vector<std::size_t> used;
  for (const std::int64_t sample : samples) used.push_back(domain_of(sample));
  if (samples.empty()) used.push_back(0);
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  std::vector<Domain> domains;
  for (const std::size_t number : used) domains.push_back(domain(number));
  std::vector<std::int32_t> of;
  for (const std::int64_t sample : samples)
    of.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(used, domain_of(sample)) - used.begin()));
  SampleFields fields(domains, std::move(of), channels());
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::ranges::copy(field(samples[i]), fields.field(static_cast<std::int64_t>(i)).begin());
  return fields;
}

FieldBatch SampleFields::one(std::int64_t sample) const {
  return on_one_domain() ? parts_.front().one(sample)
                         : parts_[domain_of(sample)].one(place_[static_cast<std::size_t>(sample)]);
}

std::span<const double> SampleFields::field(std::int64_t sample) const {
  return on_one_domain() ? parts_.front().field(sample)
                         : parts_[domain_of(sample)].field(place_[static_cast<std::size_t>(sample)]);
}

std::span<double> SampleFields::field(std::int64_t sample) {
  return on_one_domain() ? parts_.front().field(sample)
                         : parts_[domain_of(sample)].field(place_[static_cast<std::size_t>(sample)]);
}

}  // namespace opshap::data
