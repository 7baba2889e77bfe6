#include "operators/torch_script.hpp"

#include <ATen/Context.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/script.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"

namespace opshap::operators {

using torch::Tensor;
using Shape = std::vector<std::int64_t>;
namespace fs = std::filesystem;

namespace {

constexpr int most_script_channels = 4096;
constexpr std::int64_t few_channels = 8;

/// The extra file of an archive, which says what fields its model takes.
constexpr const char* spaces_file = "opshap.json";

/// What an error of a foreign module says before its traceback, C++'s or its own: the last line that has words.
std::string last_words(const std::string& text) {
  // LibTorch's own traceback comes after what it has to say.
  std::istringstream lines(text.substr(0, text.find("\nException raised from ")));
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" ~^<-") != std::string::npos) last = line;
  return last;
}

/// A field of few waves, the same function on every grid: [batch, channels, shape...]. The fields of a batch are equal.
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

/// The module of a TorchScript archive as a function of tensors, in one precision.
class ScriptModel {
 public:
  ScriptModel(torch::jit::Module module, const torch::TensorOptions& options)
      : module_(std::move(module)), options_(options) {
    if (const auto forward = module_.find_method("forward")) {
      const auto graph = forward->graph()->copy();
      torch::jit::Inline(*graph);
      has_kinks_ = has_kinks_in(*graph->block());
    }
  }

  struct Answer {
    Tensor output;
    std::string failure;  ///< empty where the output is a field on the input's grid
  };
  /// [B, Cin, points...] to [B, Cout, points...]. Memory that is not there is no failure of the model: that is thrown.
  Answer ask(const Tensor& input) const {
    try {
      const torch::jit::IValue value = module_.get_method("forward")({input});
      if (!value.isTensor()) return {.failure = "its answer is no tensor"};
      const Tensor output = value.toTensor();
      const bool fits = output.dim() == input.dim() && output.size(0) == input.size(0) && output.size(1) >= 1 &&
                        output.sizes().slice(2) == input.sizes().slice(2) && output.is_floating_point();
      if (!fits) return {.failure = message("its answer to ", input.sizes(), " is ", output.sizes())};
      return {.output = output.to(options_)};
    } catch (const std::exception& failure) {
      const std::string words = last_words(failure.what());
      if (words.find("memory") != std::string::npos) throw;
      return {.failure = words};
    }
  }

  /// Whether an activation with kinks is among what it calls.
  bool has_kinks() const { return has_kinks_; }

  const torch::TensorOptions& options() const { return options_; }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all;
    for (const Tensor& parameter : module_.parameters()) all.push_back(parameter);
    return all;
  }

 private:
  static bool has_kinks_in(const torch::jit::Block& block) {
    static const std::set<std::string_view> kinked = {"aten::relu",        "aten::relu_",    "aten::leaky_relu",
                                                      "aten::leaky_relu_", "aten::relu6",    "aten::hardtanh",
                                                      "aten::prelu",       "aten::threshold"};
    return std::ranges::any_of(block.nodes(), [](const torch::jit::Node* node) {
      return kinked.contains(node->kind().toQualString()) ||
             std::ranges::any_of(node->blocks(), [](const torch::jit::Block* inner) { return has_kinks_in(*inner); });
    });
  }

  torch::jit::Module module_;
  torch::TensorOptions options_;
  bool has_kinks_ = false;
};

/// The fields that a model takes; or what an archive says of them in its extra file, 0 and empty where it is silent.
struct ScriptSpaces {
  int dimension = 0, in_channels = 0, out_channels = 0;
  bool mesh = false;           ///< fields are [B, C, N] on the points of a mesh
  bool one_at_a_time = false;  ///< it takes batches of one alone
  Shape shape = {};            ///< of the grid that it was tried on, or of one that it takes
};

/// The text of the extra file, {"dimension": 1, "in_channels": 2}. Throws DataError naming the key that does not fit.
ScriptSpaces said_spaces(const std::string& text, const std::string& who) {
  ScriptSpaces said;
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

/// One kind of fields that a model may take, and the grid to try it on.
struct Candidate {
  int dimension;
  std::int64_t channels;
  Shape shape;
};

/// The kinds of fields that an array may be, as `opshap attribute` takes arrays.
std::vector<Candidate> candidates_of(const Shape& input) {
  if (input.size() == 1) return {{1, 1, input}};
  if (input.size() == 2) return {{1, input[0], {input[1]}}, {2, 1, input}};
  if (input.size() == 3) return {{2, input[0], {input[1], input[2]}}, {1, input[1], {input[2]}}};
  if (input.size() == 4) return {{2, input[1], {input[2], input[3]}}};
  return {};
}

/// The same for a batch of fields without an axis of channels.
std::vector<Candidate> candidates_without_channels(const Shape& input) {
  if (input.size() == 2) return {{1, 1, {input[1]}}};
  if (input.size() == 3) return {{2, 1, {input[1], input[2]}}};
  return {};
}

/// Few channels, and those that the sizes of parameters suggest: a first layer often gets the coordinates too.
std::vector<Candidate> usual_candidates(const ScriptModel& model, const ScriptSpaces& said) {
  std::set<std::int64_t> channels;
  for (std::int64_t count = 1; count <= few_channels; ++count) channels.insert(count);
  for (const Tensor& parameter : model.parameters())
    for (const std::int64_t size : parameter.sizes())
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
struct Trial {
  std::vector<ScriptSpaces> in_batches, one_at_a_time;  ///< those that it takes
  std::string failure;                                  ///< the last one

  Trial(const ScriptModel& model, const ScriptSpaces& said, const std::vector<Candidate>& candidates) {
    for (const Candidate& each : candidates) {
      if (each.channels > most_script_channels || (said.dimension > 0 && said.dimension != each.dimension) ||
          (said.in_channels > 0 && said.in_channels != each.channels))
        continue;
      const auto ask = [&](std::int64_t batch) {
        return model.ask(smooth_field(each.shape, batch, each.channels, model.options()));
      };
      const ScriptModel::Answer one = ask(1);
      if (!one.failure.empty()) {
        failure = one.failure;
        continue;
      }
      ScriptSpaces spaces{.dimension = each.dimension,
                          .in_channels = static_cast<int>(each.channels),
                          .out_channels = static_cast<int>(one.output.size(1)),
                          .shape = each.shape};
      const auto same = [&](std::int64_t batch) {
        const ScriptModel::Answer several = ask(batch);
        return several.failure.empty() && several.output.size(1) == one.output.size(1);
      };
      spaces.one_at_a_time = !(same(2) && same(3));
      (spaces.one_at_a_time ? one_at_a_time : in_batches).push_back(std::move(spaces));
    }
  }
};

/// The fields that the model takes, found by asking it.
///
/// `input` is the shape of an array that the user wants to give it, or empty: [n], [C, n], [nx, ny], [C, nx, ny], or a
/// batch of such. It decides the axes, the channels and the grid. Without it one and two axes are tried, with few
/// channels and with as many as the sizes of its parameters suggest. A model has to answer to batches of one, of two
/// and of three: an unbatched convolution in the plane takes a batch of one line for a channel, but not all three. A
/// model that takes batches of one alone is asked field by field. Throws DataError where it takes no field, or several
/// kinds.
ScriptSpaces found_spaces(const ScriptModel& model, const ScriptSpaces& said, const Shape& input,
                          const std::string& who) {
  if (said.mesh) return said;  // it may take one number of points only, so nothing can be tried
  const torch::NoGradGuard no_grad;
  // Batches tell more than the input does: a model of planes takes a line as a plane of one row, one at a time. Another
  // input than the model takes is refused later, by what it takes.
  std::string failure;
  std::vector<ScriptSpaces> taken, one_at_a_time;
  for (const auto& candidates :
       {candidates_of(input), candidates_without_channels(input), usual_candidates(model, said)}) {
    if (!taken.empty()) break;
    Trial trial(model, said, candidates);
    taken = std::move(trial.in_batches);
    if (one_at_a_time.empty()) one_at_a_time = std::move(trial.one_at_a_time);
    if (failure.empty()) failure = trial.failure;
  }
  if (taken.empty()) taken = std::move(one_at_a_time);
  if (taken.empty() && said.out_channels > 0)
    return {.dimension = said.dimension, .in_channels = said.in_channels, .out_channels = said.out_channels};
  require<DataError>(
      !taken.empty(), "weights: file=", who, " (the model takes no field ",
      said.dimension > 0 ? "of the kind that it names"
      : input.empty()    ? "of up to 8 channels, or of as many as its parameters suggest, on one or two axes"
                         : message("of the input's shape ", at::IntArrayRef(input)),
      ": ", failure, "). Write a model that maps [B, C, n] or [B, C, nx, ny] to a field on the same grid",
      input.empty() ? "; one that takes a single grid is tried on that of --input" : "", ".");
  std::string list, ways;
  for (const ScriptSpaces& spaces : taken) {
    list += message(list.empty() ? "" : ", ", spaces.in_channels, " channels on ", spaces.dimension,
                    spaces.dimension == 1 ? " axis" : " axes");
    if (&spaces != &taken.front() && ways.size() > 100) continue;
    ways += message(ways.empty() ? "" : " or ", "'{\"dimension\": ", spaces.dimension,
                    ", \"in_channels\": ", spaces.in_channels, "}'");
  }
  require<DataError>(taken.size() == 1, "weights: file=", who, " (the model takes ", list,
                     "). Say which is meant: torch.jit.save(model, path, _extra_files={\"", spaces_file, "\": ", ways,
                     "}).");
  return taken.front();
}

class JitNetwork final : public ScriptNetwork {
 public:
  JitNetwork(const fs::path& path, ScriptModel model, ScriptSpaces spaces)
      : ScriptNetwork(model.options()),
        who_(path.filename().string()),
        checksum_(xxh64(read_file(path))),
        model_(std::move(model)),
        spaces_(std::move(spaces)) {}

  std::string checksum() const override { return checksum_; }
  networks::NetworkConfig config() const override {
    nlohmann::ordered_json config = {{"model", "torch_script"},
                                     {"dimension", spaces_.dimension},
                                     {"in_channels", spaces_.in_channels},
                                     {"out_channels", spaces_.out_channels}};
    if (spaces_.mesh) config["mesh"] = true;
    return {config.dump()};
  }
  std::string describe() const override {
    return message("TorchScript ", who_, " ", spaces_.dimension, spaces_.mesh ? "D on meshes, " : "D, ",
                   spaces_.in_channels, " to ", spaces_.out_channels, " channels");
  }
  int dimension() const override { return spaces_.dimension; }
  int input_channels() const override { return spaces_.in_channels; }
  int output_channels() const override { return spaces_.out_channels; }

  Tensor forward(const Tensor& fields, const Domain& domain) const override {
    require(domain.is_grid() != spaces_.mesh, describe(), ": domain=", domain.describe(), " (the model works on ",
            spaces_.mesh ? "meshes" : "grids", "). Give a field on one",
            spaces_.mesh ? " by --mesh." : message(", or write \"mesh\": true into the archive's ", spaces_file, "."));
    Shape sizes = sizes_of(domain);
    sizes.insert(sizes.begin(), {fields.size(1), fields.size(2)});
    const Tensor input = fields.permute({1, 2, 0}).reshape(sizes);
    std::vector<Tensor> outputs;
    const std::int64_t together = spaces_.one_at_a_time ? 1 : input.size(0);
    for (std::int64_t first = 0; first < input.size(0); first += together)
      outputs.push_back(answer(input.narrow(0, first, together), domain));
    const Tensor output = outputs.size() == 1 ? outputs.front() : torch::cat(outputs);
    return output.reshape({fields.size(1), output.size(1), domain.points()}).permute({2, 0, 1});
  }
  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    return forward(fields, domain).select(0, point);
  }
  bool has_kinks() const override { return model_.has_kinks(); }
  /// A guess at the width of the layers: 64 channels.
  std::int64_t activations(const Domain& domain) const override { return 64 * domain.points(); }

  void check_gradients(const FieldBatch& fields, Query query) const override {
    std::call_once(checked_, [&] { compare_with_differences(mean_of(fields), query); });
  }

  std::vector<Tensor> weights() const override { return model_.parameters(); }

  std::vector<GridTest> test_grids() const override {
    if (spaces_.mesh) return {};
    const torch::NoGradGuard no_grad;
    std::vector<GridTest> tests;
    std::vector<Tensor> outputs;
    const auto test_on = [&](const std::vector<std::int64_t>& shape) {
      const auto answer = model_.ask(smooth_field(shape, 1, spaces_.in_channels, options()));
      tests.push_back({.shape = {shape.begin(), shape.end()}, .failure = answer.failure});
      outputs.push_back(answer.failure.empty() ? answer.output : Tensor());
    };
    const int least = spaces_.dimension == 1 ? 16 : 8, most = spaces_.dimension == 1 ? 256 : 64;
    for (int points = least; points <= most; points *= 2)
      test_on(std::vector<std::int64_t>(static_cast<std::size_t>(spaces_.dimension), points));
    for (std::size_t i = 0; i + 1 < tests.size(); ++i)
      if (outputs[i].defined() && outputs[i + 1].defined()) tests[i].change = change(outputs[i], outputs[i + 1]);
    const std::vector<int> tried(spaces_.shape.begin(), spaces_.shape.end());
    if (!tried.empty() && std::ranges::find(tests, tried, &GridTest::shape) == tests.end()) test_on(spaces_.shape);
    return tests;
  }

 private:
  Tensor answer(const Tensor& input, const Domain& domain) const {
    const ScriptModel::Answer answer = model_.ask(input);
    require(answer.failure.empty(), describe(), ": domain=", domain.describe(),
            " (the model does not take it: ", answer.failure,
            spaces_.mesh ? "). Give the mesh that it was made for."
                         : "). Give fields on a grid that it takes; opshap operator inspect lists some.");
    require<DataError>(answer.output.size(1) == spaces_.out_channels, describe(), ": channels=", answer.output.size(1),
                       " (its answer has another number than it says). Correct out_channels in ", spaces_file, ".");
    return answer.output;
  }

  static FieldBatch mean_of(const FieldBatch& fields) {
    FieldBatch mean = FieldBatch::zeros(fields.domain, 1, fields.channels);
    for (std::int64_t index = 0; index < fields.batch; ++index)
      for (std::size_t i = 0; i < mean.values.size(); ++i)
        mean.values[i] += fields.field(index)[i] / static_cast<double>(fields.batch);
    return mean;
  }

  /// The slope along one random direction of ±1, times the size of the field, against central differences with three
  /// steps. The best of them counts: a large step sees the curvature, a small one the rounding.
  void compare_with_differences(const FieldBatch& at, Query query) const {
    const double epsilon = options().dtype() == torch::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                                : std::numeric_limits<float>::epsilon();
    double size = 0;
    for (const double value : at.values) size = std::max(size, std::abs(value));
    if (size == 0) size = 1;
    FieldBatch direction = FieldBatch::zeros(at.domain, 1, at.channels);
    Rng rng(1, "gradient of an archive");
    for (double& value : direction.values) value = rng.below(2) == 0 ? -size : size;

    const auto value_of = [&](const Tensor& field) {
      return forward_at(field, at.domain, query.point).select(1, query.channel).sum();
    };
    const Tensor field = to_tensor(at, 0, 1, options()), along = to_tensor(direction, 0, 1, options());
    const Tensor gradient = gradient_of(value_of, field).to(torch::kFloat64);
    const double slope = (gradient * along).sum().item<double>(),
                 expected = gradient.norm().item<double>() * size;  // of a random direction
    const torch::NoGradGuard no_grad;
    double best = std::numeric_limits<double>::infinity(), nearest = 0;
    bool agrees = false;
    for (const double step : {1e-1, 1e-2, 1e-3}) {
      const double above = value_of(field + step * along).item<double>(),
                   below = value_of(field - step * along).item<double>();
      const double difference = (above - below) / (2 * step), off = std::abs(difference - slope);
      constexpr double layers = 16;  // that round
      const double rounding = layers * epsilon * std::max(std::abs(above), std::abs(below)) / step;
      agrees = agrees || off <= 0.1 * std::max(expected, std::abs(difference)) + rounding;
      if (off < best) nearest = difference;
      best = std::min(best, off);
    }
    require<NumericalError>(agrees, describe(), ": gradient=", slope,
                            " (along a random direction; central differences of its values give ", nearest,
                            " there, so LibTorch ", TORCH_VERSION,
                            " does not differentiate this archive). Use a method that asks for values alone, such as "
                            "permutation_antithetic, or write the model with other layers.");
  }

  template <typename Value>
  Tensor gradient_of(const Value& value_of, const Tensor& at) const {
    std::string failure = "its answer is cut off from its input, as by detach()";
    try {
      const torch::AutoGradMode with_grad(true);
      const Tensor field = at.detach().clone().set_requires_grad(true), value = value_of(field);
      if (value.requires_grad()) return torch::autograd::grad({value}, {field})[0];
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      failure = last_words(error.what());
      if (failure.find("memory") != std::string::npos) throw;
    }
    throw NumericalError(message(describe(), ": gradient (the archive has none: ", failure,
                                 "). Use a method that asks for values alone, such as permutation_antithetic."));
  }

  double change(const Tensor& coarse, const Tensor& fine) const {
    Tensor common = fine;
    for (std::int64_t axis = 2; axis < fine.dim(); ++axis) common = common.slice(axis, 0, fine.size(axis), 2);
    const double size = common.norm().item<double>();
    return size > 0 ? (coarse - common).norm().item<double>() / size : 0;
  }

  std::string who_, checksum_;
  ScriptModel model_;
  ScriptSpaces spaces_;
  mutable std::once_flag checked_;
};

/// All floating-point parameters and buffers.
std::vector<Tensor> floating_tensors(const torch::jit::Module& module) {
  std::vector<Tensor> all;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter);
  for (const Tensor& buffer : module.buffers()) all.push_back(buffer);
  std::erase_if(all, [](const Tensor& tensor) { return !tensor.is_floating_point() && !tensor.is_complex(); });
  return all;
}

/// Module::to(torch::kFloat64) would make complex parameters real.
void widen(torch::jit::Module& module, const std::string& who) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> all = floating_tensors(module);
  require(!all.empty(), "weights: file=", who,
          " (is a frozen model, whose constants stay float32). Use float32, or write it without torch.jit.freeze.");
  for (Tensor& tensor : all) tensor.set_data(tensor.to(tensor.is_complex() ? torch::kComplexDouble : torch::kFloat64));
}

bool is_double(const Tensor& tensor) {
  return tensor.scalar_type() == torch::kFloat64 || tensor.scalar_type() == torch::kComplexDouble;
}

/// The model in the precision that was asked for, or in the one that it was written in where that is wider.
std::unique_ptr<ScriptNetwork> network_of(const fs::path& path, torch::jit::Module module, const ScriptSpaces& said,
                                          const torch::TensorOptions& options, const std::vector<std::int64_t>& input) {
  const std::string who = path.string();
  const std::vector<Tensor> all = floating_tensors(module);
  const auto in = [&](const torch::TensorOptions& precision) {
    ScriptModel model(module, precision);
    ScriptSpaces spaces = found_spaces(model, said, input, path.filename().string());
    return std::make_unique<JitNetwork>(path, std::move(model), std::move(spaces));
  };
  const torch::TensorOptions wide = options.dtype(torch::kFloat64);
  if (!all.empty() && std::ranges::all_of(all, is_double)) return in(wide);
  if (options.dtype() == torch::kFloat64) {
    widen(module, who);
    return in(wide);
  }
  try {
    return in(options);
  } catch (const DataError&) {
    // The constants of a frozen model tell nobody what they are.
    if (!all.empty() && std::ranges::none_of(all, is_double)) throw;
    try {
      return in(wide);
    } catch (const DataError&) {
    }
    throw;
  }
}

/// Whether the archive is one of torch.export, by the names of its parts.
bool is_exported_program(const fs::path& path) {
  const std::string bytes = read_file(path);
  return std::ranges::any_of(std::array{"archive_format", "serialized_exported_program.json"},
                             [&](const char* part) { return bytes.find(part) != std::string::npos; });
}

/// Once in a process.
void say_that_it_is_code(const std::string& who) {
  require(!code_of_files_is_kept_out(), who,
          ": --sandbox (the archive is code, and this command has no process of its own for it). Explain it by "
          "`opshap attribute`, `reference`, `compare` or `evaluate`, or leave --sandbox out.");
  static std::once_flag said;
  if (code_of_files_is_trusted()) return;
  std::call_once(said, [&] {
    std::cerr << "opshap: note: " << who << " is a TorchScript archive: code, which runs here with your rights. Give "
              << "archives of people you trust; --trust leaves this note out.\n";
  });
}

}  // namespace

bool is_torch_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 8> start{};
  file.read(reinterpret_cast<char*>(start.data()), start.size());
  if (!file) return false;
  // A safetensors file starts with a length whose upper bytes are zero.
  const bool pickle = start[0] == 0x80 && start[1] <= 5 && (start[4] | start[5] | start[6] | start[7]) != 0;
  require<DataError>(!pickle, "weights: file=", path.string(),
                     " (is a pickle, which can run any code when it is read). Export the model: python3 "
                     "tools/export_model.py FILE.pt FILE.safetensors.");
  return start[0] == 'P' && start[1] == 'K' && start[2] == 3 && start[3] == 4;
}

std::unique_ptr<ScriptNetwork> load_torch_script(const fs::path& path, const torch::TensorOptions& options,
                                                 const std::vector<std::int64_t>& input) {
  const std::string who = path.string();
  say_that_it_is_code(who);
  // oneDNN's gelu_backward of LibTorch 1.13 gives numbers from uninitialised memory where the incoming gradient lies in
  // memory otherwise than the input, as that of one point of a plane does.
  at::globalContext().setUserEnabledMkldnn(false);
  torch::jit::ExtraFilesMap extra = {{spaces_file, ""}};
  std::optional<torch::jit::Module> module;
  std::string failure;
  try {
    module = torch::jit::load(who, options.device(), extra);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!module) {
    require<DataError>(!is_exported_program(path), "weights: file=", who,
                       " (is an archive of torch.export, .pt2, which LibTorch ", TORCH_VERSION,
                       " does not run). Write the model with torch.jit.trace and torch.jit.save, or serve it from its "
                       "own program: --operator peer:FOLDER.");
    require<DataError>(
        failure.find("constants.pkl") == std::string::npos, "weights: file=", who,
        " (is a pickle of torch.save, which can run any code when it is read). Export the model: python3 "
        "tools/export_model.py FILE.pt FILE.safetensors.");
    const std::string unknown = "Unknown builtin op: ";
    if (const auto at = failure.find(unknown); at != std::string::npos) {
      const auto begin = at + unknown.size();
      const std::string name = failure.substr(begin, failure.find_first_of(".\n ", begin) - begin);
      throw DataError(message("weights: file=", who, " (has the operation ", name, ", which LibTorch ", TORCH_VERSION,
                              " does not know). Write the model without it."));
    }
    throw DataError(message("weights: file=", who, " (is no TorchScript archive that can be read: ",
                            failure.substr(0, failure.find('\n')), "). Write it again with torch.jit.save."));
  }
  module->eval();
  return network_of(path, *std::move(module), said_spaces(extra.at(spaces_file), who), options, input);
}

}  // namespace opshap::operators
