#include "data/verify.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/hdf5.hpp"
#include "pde/registry.hpp"

namespace opshap {

namespace {

using Json = nlohmann::json;

/// Samples made again may differ by rounding when another compiler, library or processor made the file.
constexpr double other_machine = 1e-6;

template <typename T>
const std::vector<T>& held(const Column& column) {
  const auto* values = std::get_if<std::vector<T>>(&column.values);
  require<DataError>(values != nullptr, "data verify: column=", column.name,
                     " (has another type than a data set's). Generate the set again.");
  return *values;
}

class Verification {
 public:
  Verification(std::string bytes, const std::string& name)
      : file_(std::move(bytes), name),
        metadata_(Json::parse(file_.metadata())),
        request_(metadata_.at("request")),
        u0_(file_.column("/u0")),
        target_(file_.column("/target")) {
    samples_ = request_.at("samples").get<std::int64_t>();
    const Column checksums = file_.column("/crc32c");
    require<DataError>(
        samples_ >= 1 && u0_.shape[0] == samples_ && target_.shape == u0_.shape && checksums.shape[0] == samples_,
        "data verify: file=", name, ", samples=", samples_, " (its columns have other sizes). Generate the set again.");
    stored_checksums_ = held<std::uint32_t>(checksums);
    inputs_ = held<float>(u0_);
    targets_ = held<float>(target_);
  }

  DataCheck checksums() const {
    const auto found = sample_checksums(inputs_, targets_, samples_);
    const auto [stored, computed] = std::mismatch(stored_checksums_.begin(), stored_checksums_.end(), found.begin());
    if (stored != stored_checksums_.end())
      return {"sample_checksums", false, message("sample ", stored - stored_checksums_.begin(), " does not match")};
    return {"sample_checksums", true, message(samples_, " match")};
  }

  DataCheck content() const {
    const std::string hash = content_hash(inputs_, targets_, samples_), expected = metadata_.at("content_xxh64");
    return {"content_hash", hash == expected,
            message("xxh64 ", hash, hash == expected ? "" : ", recorded " + expected)};
  }

  DataCheck finite() const {
    for (const auto* values : {&inputs_, &targets_}) {
      const auto bad =
          std::find_if_not(values->begin(), values->end(), [](float value) { return std::isfinite(value); });
      if (bad != values->end()) {
        const auto row = (bad - values->begin()) / (static_cast<std::ptrdiff_t>(values->size()) / samples_);
        return {"finite", false, message("sample ", row, " holds ", *bad)};
      }
    }
    return {"finite", true, message(inputs_.size() + targets_.size(), " numbers are finite")};
  }

  DataCheck layout() const {
    const Column split = file_.column("/split"), slot = file_.column("/resolution_slot");
    std::vector<std::int64_t> parts(3, 0);
    bool contiguous = std::is_sorted(held<std::uint8_t>(split).begin(), held<std::uint8_t>(split).end());
    for (const std::uint8_t part : held<std::uint8_t>(split)) ++parts.at(std::min<std::size_t>(part, 2));
    const bool counts =
        parts == std::vector<std::int64_t>{request_.at("train"), request_.at("validation"), request_.at("test")};
    bool slots = slot.shape[0] == samples_;
    for (std::size_t i = 0; slots && i < static_cast<std::size_t>(samples_); ++i)
      slots = held<std::uint8_t>(slot)[i] == i % request_.at("resolutions").size();
    return {"layout", contiguous && counts && slots,
            message(parts[0], " train, ", parts[1], " validation, ", parts[2], " test; ",
                    request_.at("resolutions").size(), " resolution slots", slots ? "" : " that are not in turn")};
  }

  /// The laws the solver watched, as stored, against the limits of today.
  DataCheck invariants() const {
    const Solution nothing =
        pde().solve(FieldBatch::zeros(pde().native_domain(), 1, pde().channels()), pde().target_time());
    std::string worst;
    for (const Invariant& invariant : nothing.invariants) {
      const Column column = file_.column("/qc/" + invariant.name);
      const std::vector<double>& values = held<double>(column);
      const auto bad =
          std::find_if_not(values.begin(), values.end(), [&](double value) { return value <= invariant.limit; });
      if (bad != values.end())
        return {
            "invariants", false,
            message("sample ", bad - values.begin(), " has ", invariant.name, " ", *bad, ", limit ", invariant.limit)};
      worst +=
          message(worst.empty() ? "" : ", ", invariant.name, " <= ", *std::max_element(values.begin(), values.end()));
    }
    return {"invariants", true, worst};
  }

  DataCheck regenerated() const {
    const std::size_t width = inputs_.size() / static_cast<std::size_t>(samples_);
    Rng rng(42, content_hash(inputs_, targets_, samples_));
    std::set<std::uint64_t> chosen;
    while (chosen.size() < std::min<std::size_t>(5, static_cast<std::size_t>(samples_)))
      chosen.insert(rng.below(static_cast<std::uint64_t>(samples_)));
    double difference = 0;
    for (const std::uint64_t sample : chosen) {
      const GeneratedSample again = generate_sample(pde(), request_.at("seed").get<std::uint64_t>(), sample);
      if (again.input.size() != width)
        return {"regenerated", false, message("sample ", sample, " has another size when made again")};
      double largest = 0, apart = 0;
      for (std::size_t j = 0; j < width; ++j) {
        const double input = inputs_[sample * width + j], target = targets_[sample * width + j];
        largest = std::max({largest, std::abs(input), std::abs(target)});
        apart = std::max({apart, std::abs(input - again.input[j]), std::abs(target - again.target[j])});
      }
      difference = std::max(difference, apart / largest);
      if (!(difference <= other_machine))
        return {"regenerated", false,
                message("sample ", sample, " differs by ", difference, " of its largest value when made again")};
    }
    return {"regenerated", true,
            message(chosen.size(), " samples come out ",
                    difference == 0 ? "bit for bit the same"
                                    : message("the same up to ", difference, ", as on another machine"))};
  }

 private:
  const Pde& pde() const {
    if (!pde_) {
      pde_ = pdes::find(request_.at("pde").get<std::string>()).with(request_.at("parameters").get<ParameterValues>());
    }
    return *pde_;
  }

  Hdf5Contents file_;
  Json metadata_, request_;
  Column u0_, target_;
  std::int64_t samples_ = 0;
  std::vector<std::uint32_t> stored_checksums_;
  std::vector<float> inputs_, targets_;
  mutable std::unique_ptr<Pde> pde_;
};

}  // namespace

std::vector<DataCheck> verify_dataset(const std::filesystem::path& path) try {
  std::string bytes = read_file(path);
  require<DataError>(is_sealed(bytes), "data verify: file=", path.string(),
                     " (is not a data set of opshap). Name one.");
  const std::string broken = broken_seal(bytes);
  std::vector<DataCheck> checks = {
      {"file", broken.empty(),
       broken.empty() ? message(bytes.size(), " bytes match their checksum") : "the file " + broken}};
  if (!broken.empty()) return checks;
  const Verification verification(std::move(bytes), path.string());
  checks.push_back(verification.checksums());
  checks.push_back(verification.content());
  checks.push_back(verification.finite());
  checks.push_back(verification.layout());
  checks.push_back(verification.invariants());
  checks.push_back(verification.regenerated());
  return checks;
} catch (const Json::exception& error) {
  throw DataError(
      message("data verify: file=", path.string(), " (", error.what(), " in its metadata). Generate it again."));
}

}  // namespace opshap
