#include "operators/normalisation.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>

#include "core/error.hpp"
#include "data/npy.hpp"
#include "operators/config_reader.hpp"
#include "operators/weights.hpp"

namespace opshap::operators {

namespace {

using nlohmann::ordered_json;

constexpr const char* config_key = "normalization";
constexpr std::size_t axes_before = 2;  // batch and channels

struct Side {
  const char *key, *tensors;
  std::optional<Normaliser> Normalisation::*member;
};
constexpr Side sides[] = {{"input", "in_normalizer", &Normalisation::input},
                          {"output", "out_normalizer", &Normalisation::output}};

std::string size_text(const std::vector<std::int64_t>& sizes, std::size_t first, const char* between) {
  std::string text;
  for (std::size_t i = first; i < sizes.size(); ++i) text += message(text.empty() ? "" : between, sizes[i]);
  return text;
}

std::vector<double> numbers_of(const data::StoredTensor& stored, const std::string& name, const std::string& who) {
  require<DataError>(stored.dtype == "F32" || stored.dtype == "F64", "weights: ", name, "=", stored.dtype, " (", who,
                     " needs real numbers there). Export the model again.");
  const torch::Tensor values = stored_values(stored).to(torch::kFloat64);
  const std::vector<double> numbers(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
  require<DataError>(std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); }),
                     "weights: ", name, " (", who, " has numbers there that are not finite). Export the model again.");
  return numbers;
}

/// In single precision where that holds all of the numbers.
data::StoredTensor stored(const std::vector<std::int64_t>& shape, const std::vector<double>& numbers) {
  const torch::Tensor exact = torch::tensor(numbers, torch::kFloat64).view(shape), single = exact.to(torch::kFloat32);
  return stored_tensor(single.to(torch::kFloat64).equal(exact) ? single : exact);
}

/// The normaliser of one side, from its object in the CONFIG and its tensors, which are taken out.
Normaliser take(const Side& side, const ordered_json& said, data::Safetensors& content, const std::string& who) {
  const auto tensor = [&](const char* which) {
    const std::string name = message(side.tensors, ".", which);
    auto found = content.tensors.extract(name);
    require<DataError>(!found.empty(), "weights: ", name, " (is missing: the config of ", who, " has ", config_key, ".",
                       side.key, "). Export the model again, with its normalisers.");
    return std::move(found.mapped());
  };
  const bool known = said.is_object() && said.size() == 1 && said.contains("eps") && said["eps"].is_number();
  require<DataError>(known && said["eps"].get<double>() >= 0, "weights: ", config_key, ".", side.key, "=",
                     said.dump().substr(0, 60), " (", who,
                     " needs {\"eps\": e} there, e not negative). Correct the config.");
  const data::StoredTensor mean = tensor("mean"), std = tensor("std");
  require<DataError>(mean.shape == std.shape, "weights: ", side.tensors, ".std=", data::shape_text(std.shape), " (",
                     who, " has a mean of ", data::shape_text(mean.shape), "). Export the model again.");
  Normaliser normaliser{.shape = mean.shape,
                        .mean = numbers_of(mean, message(side.tensors, ".mean"), who),
                        .std = numbers_of(std, message(side.tensors, ".std"), who),
                        .eps = said["eps"].get<double>()};
  for (const double number : normaliser.std)
    require<DataError>(number >= 0 && number + normaliser.eps > 0, "weights: ", side.tensors, ".std=", number, " (",
                       who, " divides by it plus eps=", normaliser.eps,
                       ", which has to be positive). Fit the normaliser again, with a larger eps.");
  return normaliser;
}

/// Fields of a batch in physical units to those in normalised ones, or back: calls map(value, mean, scale).
template <typename Map>
FieldBatch mapped(FieldBatch fields, const Normaliser& by, const Map& map) {
  const std::int64_t points = fields.domain.points();
  for (int channel = 0; channel < fields.channels; ++channel)
    for (std::int64_t point = 0; point < points; ++point) {
      const double mean = by.mean_at(fields.domain, channel, point), scale = by.scale_at(fields.domain, channel, point);
      for (std::int64_t index = 0; index < fields.batch; ++index) {
        double& value = fields.field(index)[static_cast<std::size_t>(channel * points + point)];
        value = map(value, mean, scale);
      }
    }
  return fields;
}

/// What a readout has of the masked input itself, w ↦ ⟨readout, u_b + w ⊙ (u − u_b)⟩.
struct OwnShare {
  struct Part {
    std::int64_t point;
    int player;
    double step;  ///< of the weight of the point from 0 to 1
  };
  double hidden = 0;
  std::vector<Part> parts;

  /// Of no input.
  OwnShare() = default;
  OwnShare(const FieldBatch& shown, const FieldBatch& of_hidden, const Partition& partition, const Readout& readout)
      : hidden(readout.of(of_hidden.field(0), shown.domain.points())) {
    for (const auto& [query, weight] : readout.terms()) {
      const auto at = static_cast<std::size_t>(query.channel * shown.domain.points() + query.point);
      parts.push_back({.point = query.point,
                       .player = partition.player_of[static_cast<std::size_t>(query.point)],
                       .step = weight * (shown.values[at] - of_hidden.values[at])});
    }
  }
};

/// The values of an engine in physical units: mean + scale·value, and the own share of the input.
class PhysicalEngine final : public CoalitionEngine {
 public:
  PhysicalEngine(std::unique_ptr<CoalitionEngine> inner, double mean, double scale, OwnShare own, std::size_t points)
      : inner_(std::move(inner)),
        mean_(mean + own.hidden),
        scale_(scale),
        own_(std::move(own.parts)),
        points_(points) {}

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    inner_->values(coalitions, first, values);
    for (double& value : values) value = value * scale_ + mean_;
    for (const OwnShare::Part& part : own_)
      for (std::size_t row = 0; row < values.size(); ++row)
        if (coalitions.contains(first + row, part.player)) values[row] += part.step;
  }
  std::size_t batch() const override { return inner_->batch(); }
  bool has_slopes() const override { return inner_->has_slopes(); }
  void slopes(std::span<const double> weights, std::span<double> slopes) const override {
    inner_->slopes(weights, slopes);
    to_physical(slopes);
  }
  void mean_field_slopes(std::span<const double> weights, std::span<double> slopes) const override {
    inner_->mean_field_slopes(weights, slopes);
    to_physical(slopes);
  }

 private:
  /// [B, points].
  void to_physical(std::span<double> slopes) const {
    for (double& slope : slopes) slope *= scale_;
    for (std::size_t field = 0; field < slopes.size(); field += points_)
      for (const OwnShare::Part& part : own_) slopes[field + static_cast<std::size_t>(part.point)] += part.step;
  }

  std::unique_ptr<CoalitionEngine> inner_;
  double mean_, scale_;
  std::vector<OwnShare::Part> own_;
  std::size_t points_;
};

class PhysicalOperator final : public Operator {
 public:
  PhysicalOperator(std::unique_ptr<Operator> inner, Normalisation normalisation)
      : inner_(std::move(inner)), normalisation_(std::move(normalisation)) {}

  std::string describe() const override {
    return message(inner_->describe(), ", normalised: ", normalisation_.describe());
  }
  std::string checksum() const override { return inner_->checksum(); }
  std::string problem() const override { return inner_->problem(); }
  int dimension() const override { return inner_->dimension(); }
  int input_channels() const override { return inner_->input_channels(); }
  int output_channels() const override { return inner_->output_channels(); }
  Domain domain(const std::vector<int>& shape) const override { return inner_->domain(shape); }

  FieldBatch apply(const FieldBatch& inputs) const override {
    FieldBatch outputs = inner_->apply(normalised(inputs));
    if (!normalisation_.output) return outputs;
    require_output(outputs.domain);
    outputs = normalisation_.output->physical(std::move(outputs));
    if (!normalisation_.of_change) return outputs;
    for (std::int64_t index = 0; index < outputs.batch; ++index) {
      const std::span<const double> input = inputs.field(index);
      const std::span<double> output = outputs.field(index);
      for (std::size_t i = 0; i < output.size(); ++i) output[i] += input[i];
    }
    return outputs;
  }

  std::vector<double> values_at(const FieldBatch& inputs, const Readout& readout) const override {
    const Asked asked = asked_of(inputs.domain, readout);
    std::vector<double> values = inner_->values_at(normalised(inputs), asked.inner);
    for (double& value : values) value = asked.physical(value);
    add_inputs(inputs, readout, values);
    return values;
  }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    const Asked asked = asked_of(inputs.domain, readout);
    Gradient found = inner_->gradient_at(normalised(inputs), asked.inner);
    in_physical_units(found, asked);
    if (normalisation_.input)
      found.gradient = mapped(std::move(found.gradient), *normalisation_.input,
                              [](double slope, double, double scale) { return slope / scale; });
    if (!normalisation_.of_change) return found;
    add_inputs(inputs, readout, found.values);
    for (std::int64_t index = 0; index < inputs.batch; ++index)
      for (const auto& [query, weight] : readout.terms())
        found.gradient.field(index)[static_cast<std::size_t>(query.channel * inputs.domain.points() + query.point)] +=
            weight;
    return found;
  }

  bool has_kinks() const override { return inner_->has_kinks(); }
  bool has_mean_field() const override { return inner_->has_mean_field(); }
  Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                         const Readout& readout) const override {
    const Asked asked = asked_of(shown.domain, readout);
    Gradient found = inner_->mean_field_at(normalised(shown), normalised(hidden), inclusion, asked.inner);
    in_physical_units(found, asked);
    if (!normalisation_.of_change) return found;
    const Partition points = Partition::one_player_per_point(shown.domain);
    const bool one_of_each = shown.batch == 1 && hidden.batch == 1;
    const auto of = [](const FieldBatch& states, std::int64_t index) {
      return states.one(std::min(index, states.batch - 1));
    };
    OwnShare own;
    for (std::int64_t index = 0; index < inclusion.batch; ++index) {
      if (index == 0 || !one_of_each) own = OwnShare(of(shown, index), of(hidden, index), points, readout);
      double& value = found.values[static_cast<std::size_t>(index)];
      value += own.hidden;
      for (const OwnShare::Part& part : own.parts) {
        const auto point = static_cast<std::size_t>(part.point);
        value += inclusion.field(index)[point] * part.step;
        found.gradient.field(index)[point] += part.step;
      }
    }
    return found;
  }

  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override {
    if (normalisation_.of_change && shown.batch > 1) return nullptr;  // each would have a share of its own
    const Asked asked = asked_of(shown.domain, readout);
    auto engine = inner_->coalition_engine(normalised(shown), normalised(hidden), partition, asked.inner);
    if (engine == nullptr || !normalisation_.output) return engine;
    return std::make_unique<PhysicalEngine>(
        std::move(engine), asked.mean, asked.scale,
        normalisation_.of_change ? OwnShare(shown, hidden, partition, readout) : OwnShare(),
        static_cast<std::size_t>(shown.domain.points()));
  }
  std::string coalition_path(const Readout& readout) const override { return inner_->coalition_path(readout); }
  std::int64_t preferred_batch(const Domain& domain) const override { return inner_->preferred_batch(domain); }

 private:
  FieldBatch normalised(const FieldBatch& inputs) const {
    if (!normalisation_.input) return inputs;
    normalisation_.input->require_fits(inputs.domain, inputs.channels, message(describe(), ": input"));
    return normalisation_.input->normalised(inputs);
  }
  void require_output(const Domain& domain) const {
    normalisation_.output->require_fits(domain, output_channels(), message(describe(), ": output"));
  }

  /// A readout of outputs in physical units: scale times one of the outputs in normalised units, plus mean.
  struct Asked {
    Readout inner;
    double mean = 0, scale = 1;

    double physical(double value) const { return value * scale + mean; }
  };
  /// One query keeps its scale outside, in double. Several have scales of their own, which go into the weights.
  Asked asked_of(const Domain& domain, const Readout& readout) const {
    if (!normalisation_.output) return {.inner = readout};
    require_output(domain);
    const Normaliser& by = *normalisation_.output;
    if (readout.is_query()) {
      const Query query = readout.query();
      return {.inner = readout,
              .mean = by.mean_at(domain, query.channel, query.point),
              .scale = by.scale_at(domain, query.channel, query.point)};
    }
    std::vector<Readout::Term> terms = readout.terms();
    double mean = 0;
    for (auto& [query, weight] : terms) {
      mean += weight * by.mean_at(domain, query.channel, query.point);
      weight *= by.scale_at(domain, query.channel, query.point);
    }
    return {.inner = Readout(terms), .mean = mean};
  }
  /// Where the outputs are changes, what the readout has of the inputs.
  void add_inputs(const FieldBatch& inputs, const Readout& readout, std::vector<double>& values) const {
    if (!normalisation_.of_change) return;
    for (std::int64_t index = 0; index < inputs.batch; ++index)
      values[static_cast<std::size_t>(index)] += readout.of(inputs.field(index), inputs.domain.points());
  }
  static void in_physical_units(Gradient& found, const Asked& asked) {
    for (double& value : found.values) value = asked.physical(value);
    for (double& slope : found.gradient.values) slope *= asked.scale;
  }

  std::unique_ptr<Operator> inner_;
  Normalisation normalisation_;
};

/// Throws unless there is a domain that it fits.
void require_possible(const Normaliser& normaliser, int axes, int channels, const char* which, const std::string& who) {
  const std::vector<std::int64_t>& shape = normaliser.shape;
  const auto rank = static_cast<int>(shape.size());
  const bool all = normaliser.mean.size() == 1 && rank <= 1;
  // Meshes have one axis of points.
  const bool per_channel = (rank == axes + 2 || rank == 3) && shape[0] == 1 && (shape[1] == 1 || shape[1] == channels);
  require<DataError>(all || per_channel, "weights: ", which, "_normalizer.mean=", data::shape_text(shape), " (", who,
                     " has ", channels, " channels on ", axes,
                     " axes there). Give one number for each channel, for each point, or one for all.");
}

}  // namespace

std::vector<std::int64_t> sizes_of(const Domain& domain) {
  if (!domain.is_grid()) return {domain.points()};
  return {domain.shape().begin(), domain.shape().end()};
}

bool Normaliser::per_point() const {
  return std::ranges::any_of(shape | std::views::drop(axes_before), [](std::int64_t size) { return size > 1; });
}

std::string Normaliser::describe() const {
  if (per_point()) return "per point on " + size_text(shape, axes_before, "x");
  return mean.size() > 1 ? "per channel" : "for all";
}

void Normaliser::require_fits(const Domain& domain, int channels, const std::string& who) const {
  if (shape.size() < axes_before) return;
  const std::vector<std::int64_t> sizes = sizes_of(domain);
  bool fits = shape.size() == sizes.size() + axes_before && (shape[1] == 1 || shape[1] == channels);
  for (std::size_t axis = 0; fits && axis < sizes.size(); ++axis)
    fits = shape[axis + axes_before] == 1 || shape[axis + axes_before] == sizes[axis];
  require(fits, who, "=", size_text(sizes, 0, "x"), " points (the model's normaliser is ", describe(),
          "). Give fields on that grid.");
}

std::size_t Normaliser::index(const Domain& domain, int channel, std::int64_t point) const {
  if (mean.size() == 1) return 0;
  const std::vector<std::int64_t> sizes = sizes_of(domain);
  std::int64_t index = 0, stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0; point /= sizes[axis]) {
    const std::int64_t known = shape[axis + axes_before];
    if (known > 1) index += stride * (point % sizes[axis]);
    stride *= known;
  }
  return static_cast<std::size_t>(index + (shape[1] > 1 ? stride * channel : 0));
}

double Normaliser::mean_at(const Domain& domain, int channel, std::int64_t point) const {
  return mean[index(domain, channel, point)];
}

double Normaliser::scale_at(const Domain& domain, int channel, std::int64_t point) const {
  return std[index(domain, channel, point)] + eps;
}

FieldBatch Normaliser::normalised(FieldBatch fields) const {
  return mapped(std::move(fields), *this,
                [](double value, double mean, double scale) { return (value - mean) / scale; });
}

FieldBatch Normaliser::physical(FieldBatch fields) const {
  return mapped(std::move(fields), *this, [](double value, double mean, double scale) { return value * scale + mean; });
}

std::string Normalisation::describe() const {
  std::string text;
  for (const Side& side : sides)
    if (const auto& normaliser = this->*side.member)
      text += message(text.empty() ? "" : ", ", side.key, " ", normaliser->describe());
  return of_change ? text + ", added to the input" : text;
}

Normalisation take_normalisation(data::Safetensors& content, const std::string& who) {
  Normalisation normalisation;
  ordered_json said = ordered_json::object();
  const auto config = content.metadata.find(stored_config_key);
  // The reader refuses what is nested deeper than can be written again.
  if (config != content.metadata.end() && ConfigReader(networks::NetworkConfig{config->second}).has(config_key)) {
    ordered_json object = ordered_json::parse(config->second);
    said = object[config_key];
    object.erase(config_key);
    config->second = object.dump();
  }
  const auto known = std::ranges::count_if(sides, [&](const Side& side) { return said.contains(side.key); });
  const bool sound = said.is_object() && static_cast<std::size_t>(known) == said.size();
  require<DataError>(sound, "weights: ", config_key, "=", said.dump().substr(0, 60), " (", who,
                     " needs {\"input\": {\"eps\": e}, \"output\": {\"eps\": e}}). Correct the config.");
  if (const auto output = said.find("output"); output != said.end() && output->is_object() && output->contains("of")) {
    const ordered_json of = (*output)["of"];
    require<DataError>(of == "change", "weights: ", config_key, ".output.of=", of.dump().substr(0, 60), " (", who,
                       " may have \"change\" there). Correct the config.");
    normalisation.of_change = true;
    output->erase("of");
  }
  for (const Side& side : sides) {
    if (said.contains(side.key)) {
      normalisation.*side.member = take(side, said[side.key], content, who);
      continue;
    }
    const std::string prefix = message(side.tensors, ".");
    const auto found =
        std::ranges::find_if(content.tensors, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    require<DataError>(found == content.tensors.end(), "weights: ", found == content.tensors.end() ? "" : found->first,
                       " (the config of ", who, " has no ", config_key, ".", side.key,
                       ", so it is not known what to do with it). Add \"", config_key, "\": {\"", side.key,
                       "\": {\"eps\": e}} to the config, with the normaliser's eps.");
  }
  return normalisation;
}

void put_normalisation(const Normalisation& normalisation, data::Safetensors& content) {
  if (normalisation.empty()) return;
  ordered_json object = ordered_json::parse(content.metadata.at(stored_config_key));
  for (const Side& side : sides) {
    const auto& normaliser = normalisation.*side.member;
    if (!normaliser) continue;
    object[config_key][side.key] = {{"eps", normaliser->eps}};
    content.tensors[message(side.tensors, ".mean")] = stored(normaliser->shape, normaliser->mean);
    content.tensors[message(side.tensors, ".std")] = stored(normaliser->shape, normaliser->std);
  }
  if (normalisation.of_change) object[config_key]["output"]["of"] = "change";
  content.metadata[stored_config_key] = object.dump();
}

std::unique_ptr<Operator> in_physical_units(std::unique_ptr<Operator> inner, Normalisation normalisation) {
  if (normalisation.empty()) return inner;
  if (normalisation.input)
    require_possible(*normalisation.input, inner->dimension(), inner->input_channels(), "in", inner->describe());
  if (normalisation.output)
    require_possible(*normalisation.output, inner->dimension(), inner->output_channels(), "out", inner->describe());
  require<DataError>(!normalisation.of_change || inner->output_channels() <= inner->input_channels(),
                     "weights: ", config_key, ".output.of=change (", inner->describe(), " has ",
                     inner->input_channels(), " input channels for ", inner->output_channels(),
                     " outputs). Correct the config.");
  return std::make_unique<PhysicalOperator>(std::move(inner), std::move(normalisation));
}

}  // namespace opshap::operators
