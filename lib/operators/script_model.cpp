#include "operators/script_model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <utility>

#include "core/error.hpp"

namespace opshap::operators {

using torch::Tensor;
using Shape = std::vector<std::int64_t>;

namespace {

constexpr int most_script_channels = 4096;
constexpr std::int64_t few_channels = 8;

std::string sizes_text(at::IntArrayRef sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) text += message(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

/// One kind of fields that a model may take, and the grid to try it on.
struct Candidate {
  int dimension;
  std::int64_t channels;
  Shape shape;

  std::string describe() const {
    return message(channels, " channels on ", dimension, dimension == 1 ? " axis" : " axes");
  }
  std::string json() const { return message("{\"dimension\": ", dimension, ", \"in_channels\": ", channels, "}"); }
};

/// The kinds of fields that an array may be, as `opshap attribute` takes arrays.
std::vector<Candidate> candidates_of(const Shape& input) {
  switch (input.size()) {
    case 1:
      return {{1, 1, {input[0]}}};
    case 2:
      return {{1, input[0], {input[1]}}, {2, 1, input}};
    case 3:
      return {{2, input[0], {input[1], input[2]}}, {1, input[1], {input[2]}}};
    case 4:
      return {{2, input[1], {input[2], input[3]}}};
    default:
      return {};
  }
}

/// The same for a batch of fields without an axis of channels.
std::vector<Candidate> candidates_without_channels(const Shape& input) {
  if (input.size() == 2) return {{1, 1, {input[1]}}};
  if (input.size() == 3) return {{2, 1, {input[1], input[2]}}};
  return {};
}

/// Few channels, and those that the sizes of parameters suggest: a first layer often gets the coordinates too.
std::vector<Candidate> usual_candidates(const ScriptModel& model, const SaidSpaces& said) {
  std::set<std::int64_t> channels;
  for (std::int64_t count = 1; count <= few_channels; ++count) channels.insert(count);
  for (const std::int64_t size : model.parameter_sizes())
    for (std::int64_t coordinates = 0; coordinates <= 2; ++coordinates)
      if (size > coordinates && size <= most_script_channels) channels.insert(size - coordinates);
  if (said.in_channels > 0) channels = {said.in_channels};
  std::vector<Candidate> all;
  for (const int dimension : {1, 2})
    for (const std::int64_t count : channels) {
      const Shape usual(static_cast<std::size_t>(dimension), dimension == 1 ? 64 : 32);
      all.push_back({dimension, count, static_cast<int>(said.shape.size()) == dimension ? said.shape : usual});
    }
  return all;
}

/// What a model makes of candidates.
class Trial {
 public:
  Trial(const ScriptModel& model, const SaidSpaces& said) : model_(model), said_(said) {}

  using Kinds = std::vector<std::pair<Candidate, ScriptSpaces>>;
  struct Taken {
    Kinds in_batches, one_at_a_time;
  };
  Taken taken(const std::vector<Candidate>& candidates) {
    Taken taken;
    for (const Candidate& each : candidates) {
      if (each.channels > most_script_channels || (said_.dimension > 0 && said_.dimension != each.dimension) ||
          (said_.in_channels > 0 && said_.in_channels != each.channels))
        continue;
      const Tensor one = answer(each, 1);
      if (!one.defined()) continue;
      const ScriptSpaces spaces{.dimension = each.dimension,
                                .in_channels = static_cast<int>(each.channels),
                                .out_channels = static_cast<int>(one.size(1)),
                                .shape = each.shape};
      const auto same = [&](std::int64_t batch) {
        const Tensor several = answer(each, batch);
        return several.defined() && several.size(1) == one.size(1);
      };
      if (same(2) && same(3)) {
        taken.in_batches.emplace_back(each, spaces);
      } else {
        taken.one_at_a_time.emplace_back(each, spaces).second.one_at_a_time = true;
      }
    }
    return taken;
  }
  const std::string& failure() const { return failure_; }

 private:
  Tensor answer(const Candidate& candidate, std::int64_t batch) {
    const auto answer = model_.ask(smooth_field(candidate.shape, batch, candidate.channels, model_.options()));
    if (batch == 1 && !answer.failure.empty()) failure_ = answer.failure;
    return answer.failure.empty() ? answer.output : Tensor();
  }

  const ScriptModel& model_;
  const SaidSpaces& said_;
  std::string failure_;
};

}  // namespace

std::string last_words(const std::string& text) {
  std::string last, line;
  // LibTorch's own traceback comes after what it has to say.
  const std::string said = text.substr(0, text.find("\nException raised from "));
  for (const char c : said + '\n') {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.find_first_not_of(" ~^<-") != std::string::npos) last = line;
    line.clear();
  }
  return last;
}

Tensor smooth_field(const Shape& shape, std::int64_t batch, std::int64_t channels,
                    const torch::TensorOptions& options) {
  Shape sizes = {batch, channels};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  Tensor field = torch::zeros(sizes, torch::kFloat64);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    Shape along(sizes.size(), 1);
    along[axis + 2] = shape[axis];
    const Tensor turn = 2 * std::numbers::pi * torch::arange(shape[axis], torch::kFloat64) / shape[axis];
    field += (0.5 * turn.sin() + 0.3 * (2 * turn).cos()).view(along);
  }
  return field.to(options);
}

ScriptModel::Answer ScriptModel::ask(const Tensor& input) const {
  try {
    const torch::jit::IValue value = module_.get_method("forward")({input});
    if (!value.isTensor()) return {.output = {}, .failure = "its answer is no tensor"};
    const Tensor output = value.toTensor();
    const bool fits = output.dim() == input.dim() && output.size(0) == input.size(0) && output.size(1) >= 1 &&
                      output.sizes().slice(2) == input.sizes().slice(2) && output.is_floating_point();
    if (!fits)
      return {.output = {},
              .failure = message("its answer to ", sizes_text(input.sizes()), " is ", sizes_text(output.sizes()))};
    return {.output = output.to(options_), .failure = {}};
  } catch (const std::exception& failure) {
    const std::string words = last_words(failure.what());
    if (words.find("memory") != std::string::npos) throw;
    return {.output = {}, .failure = words};
  }
}

Shape ScriptModel::parameter_sizes() const {
  std::set<std::int64_t> sizes;
  for (const Tensor& parameter : parameters())
    for (const std::int64_t size : parameter.sizes()) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

std::vector<Tensor> ScriptModel::parameters() const {
  std::vector<Tensor> all;
  for (const Tensor& parameter : module_.parameters()) all.push_back(parameter);
  return all;
}

SaidSpaces said_spaces(const std::string& text, const std::string& who) {
  SaidSpaces said;
  if (text.empty()) return said;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto is_count = [](const nlohmann::json& value, std::int64_t most) {
    return value.is_number_integer() && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= most;
  };
  const auto number = [&](const char* key, int most) {
    require<DataError>(json.is_object() && json.contains(key) && is_count(json[key], most), "weights: file=", who,
                       " (its ", spaces_file, " has no ", key, " from 1 to ", most,
                       "). Write it as {\"dimension\": 1, \"in_channels\": 1}.");
    return json[key].get<int>();
  };
  said.dimension = number("dimension", 2);
  said.in_channels = number("in_channels", most_script_channels);
  said.mesh = json.contains("mesh") && json["mesh"] == true;
  if (said.mesh || json.contains("out_channels")) said.out_channels = number("out_channels", most_script_channels);
  if (!json.contains("shape")) return said;
  const auto& shape = json["shape"];
  bool fits = shape.is_array() && static_cast<int>(shape.size()) == said.dimension;
  for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) fits = is_count(shape[axis], 1 << 24);
  require<DataError>(fits, "weights: file=", who, " (its ", spaces_file, " has a shape that is no list of ",
                     said.dimension, " numbers of points). Write it as \"shape\": [",
                     said.dimension == 1 ? "64" : "32, 32", "].");
  said.shape = shape.get<Shape>();
  return said;
}

ScriptSpaces found_spaces(const ScriptModel& model, const SaidSpaces& said, const Shape& input,
                          const std::string& who) {
  if (said.mesh)  // it may take one number of points only, so nothing can be tried
    return {
        .dimension = said.dimension, .in_channels = said.in_channels, .out_channels = said.out_channels, .mesh = true};
  const torch::NoGradGuard no_grad;
  Trial trial(model, said);
  // Batches tell more than the input does: a model of planes takes a line as a plane of one row, one at a time. Another
  // input than the model takes is refused later, by what it takes.
  std::string failure;
  Trial::Kinds taken, one_at_a_time;
  for (const auto& candidates :
       {candidates_of(input), candidates_without_channels(input), usual_candidates(model, said)}) {
    if (!taken.empty()) break;
    Trial::Taken found = trial.taken(candidates);
    taken = std::move(found.in_batches);
    if (one_at_a_time.empty()) one_at_a_time = std::move(found.one_at_a_time);
    if (failure.empty()) failure = trial.failure();
  }
  if (taken.empty()) taken = std::move(one_at_a_time);
  if (taken.empty() && said.out_channels > 0)
    return {.dimension = said.dimension, .in_channels = said.in_channels, .out_channels = said.out_channels};
  require<DataError>(
      !taken.empty(), "weights: file=", who, " (the model takes no field ",
      said.dimension > 0 ? "of the kind that it names"
      : input.empty()    ? "of up to 8 channels, or of as many as its parameters suggest, on one or two axes"
                         : message("of the input's shape ", sizes_text(input)),
      ": ", failure, "). Write a model that maps [B, C, n] or [B, C, nx, ny] to a field on the same grid",
      input.empty() ? "; one that takes a single grid is tried on that of --input" : "", ".");
  std::string list, ways;
  for (const auto& [candidate, spaces] : taken) {
    list += message(list.empty() ? "" : ", ", candidate.describe());
    if (&candidate != &taken.front().first && ways.size() > 100) continue;
    ways += message(ways.empty() ? "" : " or ", "'", candidate.json(), "'");
  }
  require<DataError>(taken.size() == 1, "weights: file=", who, " (the model takes ", list,
                     "). Say which is meant: torch.jit.save(model, path, _extra_files={\"", spaces_file, "\": ", ways,
                     "}).");
  return taken.front().second;
}

}  // namespace opshap::operators
