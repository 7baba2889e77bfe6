#include "data/import_adapters.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/field.hpp"
#include "core/process.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

/// A source that passes on what another one says, but for one option and one note.
class Adapter : public ImportSource {
 public:
  explicit Adapter(const ImportSource& source) : source_(source) {}

  std::string name() const final { return source_.name(); }
  std::string equation() const final { return source_.equation(); }
  pde::Space input() const override { return source_.input(); }
  pde::Space output() const override { return source_.output(); }
  std::int64_t samples() const override { return source_.samples(); }
  std::vector<std::filesystem::path> files() const final { return source_.files(); }
  Json options() const final {
    Json options = source_.options();
    options.update(own_options());
    return options;
  }
  Json facts() const final {
    Json facts = source_.facts();
    const std::string own = note();
    if (!own.empty()) facts["notes"].push_back(own);
    return facts;
  }

 protected:
  virtual Json own_options() const = 0;
  virtual std::string note() const = 0;

  const ImportSource& source_;
};

class FiniteSamples final : public Adapter {
 public:
  explicit FiniteSamples(const ImportSource& source) : Adapter(source) {
    for (std::int64_t sample = 0; sample < source.samples(); ++sample) {
      throw_if_stopped("data import");
      std::vector<float> inputs, targets;
      source.read(sample, 1, inputs, targets);
      const auto finite = [](float value) { return std::isfinite(value); };
      const bool whole = std::ranges::all_of(inputs, finite) && std::ranges::all_of(targets, finite);
      (whole ? kept_ : skipped_).push_back(sample);
    }
    require<DataError>(!kept_.empty(), "data import: file=", source.files().front().string(),
                       ", samples=", source.samples(), " (each has values that are not finite). Correct the file.");
  }

  std::int64_t samples() const override { return std::ssize(kept_); }
  void read(std::int64_t first, std::int64_t count, std::vector<float>& inputs,
            std::vector<float>& targets) const override {
    for (std::int64_t sample = first; sample < first + count; ++sample)
      source_.read(kept_[static_cast<std::size_t>(sample)], 1, inputs, targets);
  }

 private:
  Json own_options() const override { return {{"skip_nonfinite", skipped_}}; }
  std::string note() const override {
    if (skipped_.empty()) return "";
    std::string numbers;
    for (const std::int64_t sample : skipped_) numbers += message(numbers.empty() ? "" : ", ", sample);
    return message(skipped_.size() == 1 ? "Sample " : "Samples ", numbers, " of the source ",
                   skipped_.size() == 1 ? "has" : "have", " values that are not finite. ",
                   skipped_.size() == 1 ? "It is" : "They are", " left out.");
  }

  std::vector<std::int64_t> kept_, skipped_;
};

class Interpolated final : public Adapter {
 public:
  Interpolated(const ImportSource& source, const Resolution& grid)
      : Adapter(source), grid_(grid), input_(source.input()), output_(source.output()) {
    shape_ = grid.shape(input_.domain.dimension());
    require(grid.fewest() >= 2, "data import: --interpolate=", grid, " (an axis has 2 points or more). Give more.");
    std::vector<Axis> axes;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      axes.push_back(input_.domain.axes()[axis].resampled(shape_[axis]));
    from_ = std::exchange(input_.domain, Domain::grid(std::move(axes)));
    output_.domain = input_.domain;
  }

  pde::Space input() const override { return input_; }
  pde::Space output() const override { return output_; }
  void read(std::int64_t first, std::int64_t count, std::vector<float>& inputs,
            std::vector<float>& targets) const override {
    std::vector<float> old_inputs, old_targets;
    source_.read(first, count, old_inputs, old_targets);
    append(old_inputs, count, input_.channel_count(), inputs);
    append(old_targets, count, output_.channel_count(), targets);
  }

 private:
  void append(const std::vector<float>& old, std::int64_t count, int channels, std::vector<float>& values) const {
    const FieldBatch found = opshap::interpolated({from_, count, channels, {old.begin(), old.end()}}, shape_);
    for (const double value : found.values) values.push_back(static_cast<float>(value));
  }
  Json own_options() const override { return {{"interpolate", grid_}}; }
  std::string note() const override { return message("The fields are interpolated from a ", from_.describe(), "."); }

  Resolution grid_;
  std::vector<int> shape_;
  pde::Space input_, output_;
  Domain from_;
};

}  // namespace

std::unique_ptr<ImportSource> finite_samples(const ImportSource& source) {
  return std::make_unique<FiniteSamples>(source);
}

std::unique_ptr<ImportSource> interpolated_source(const ImportSource& source, const Resolution& grid) {
  return std::make_unique<Interpolated>(source, grid);
}

}  // namespace opshap::data
