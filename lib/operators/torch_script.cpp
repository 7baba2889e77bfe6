#include "operators/torch_script.hpp"

#include <torch/script.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::operators {

namespace {

namespace fs = std::filesystem;
using torch::Tensor;

const char* const extra_file = "opshap.json";
constexpr int most_channels = 8;

/// What a module says before its traceback ends: the last line that has words.
std::string last_words(const std::string& text) {
  std::string last, line;
  for (const char c : text + '\n') {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.find_first_not_of(" ~^<-") != std::string::npos) last = line;
    line.clear();
  }
  return last;
}

/// A field of few waves, the same function on every grid: [1, channels, shape...].
Tensor smooth_field(const std::vector<int>& shape, int channels, const torch::TensorOptions& options) {
  std::vector<std::int64_t> sizes = {1, channels};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  Tensor field = torch::zeros(sizes, torch::kFloat64);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::int64_t> along(sizes.size(), 1);
    along[axis + 2] = shape[axis];
    const Tensor turn = 2 * std::numbers::pi * torch::arange(shape[axis], torch::kFloat64) / shape[axis];
    field += (0.5 * turn.sin() + 0.3 * (2 * turn).cos()).view(along);
  }
  return field.to(options);
}

struct Spaces {
  int dimension = 1, in_channels = 1, out_channels = 1;
  bool mesh = false;  ///< fields are [B, C, N] on the points of a mesh
};

class JitNetwork final : public ScriptNetwork {
 public:
  JitNetwork(const fs::path& path, torch::jit::Module module, std::optional<Spaces> said,
             const torch::TensorOptions& options)
      : ScriptNetwork(options), who_(path.filename().string()), module_(std::move(module)) {
    spaces_ = found(said);
  }

  NetworkConfig config() const override {
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
            spaces_.mesh ? " by --mesh." : message(", or write \"mesh\": true into the archive's ", extra_file, "."));
    std::vector<std::int64_t> sizes = {fields.size(1), fields.size(2)};
    if (spaces_.mesh) {
      sizes.push_back(domain.points());
    } else {
      sizes.insert(sizes.end(), domain.shape().begin(), domain.shape().end());
    }
    const Answer answer = ask(fields.permute({1, 2, 0}).reshape(sizes));
    require(answer.failure.empty(), describe(), ": domain=", domain.describe(),
            " (the model does not take it: ", answer.failure,
            spaces_.mesh ? "). Give the mesh that it was made for."
                         : "). Give fields on a grid that it takes; opshap operator inspect lists some.");
    require<DataError>(answer.output.size(1) == spaces_.out_channels, describe(), ": channels=", answer.output.size(1),
                       " (its answer has another number than it says). Correct out_channels in ", extra_file, ".");
    return answer.output.reshape({fields.size(1), answer.output.size(1), domain.points()}).permute({2, 0, 1});
  }
  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    return forward(fields, domain).select(0, point);
  }
  /// A guess at the width of the layers: 64 channels.
  std::int64_t activations(const Domain& domain) const override { return 64 * domain.points(); }

  std::vector<GridTest> test_grids() const override {
    if (spaces_.mesh) return {};
    const torch::NoGradGuard no_grad;
    std::vector<GridTest> tests;
    std::vector<Tensor> outputs;
    const int least = spaces_.dimension == 1 ? 16 : 8, most = spaces_.dimension == 1 ? 256 : 64;
    for (int points = least; points <= most; points *= 2) {
      GridTest test{.shape = std::vector<int>(static_cast<std::size_t>(spaces_.dimension), points), .failure = {}};
      const Answer answer = ask(smooth_field(test.shape, spaces_.in_channels, options()));
      test.failure = answer.failure;
      tests.push_back(test);
      outputs.push_back(answer.failure.empty() ? answer.output : Tensor());
    }
    for (std::size_t i = 0; i + 1 < tests.size(); ++i)
      if (outputs[i].defined() && outputs[i + 1].defined()) tests[i].change = change(outputs[i], outputs[i + 1]);
    return tests;
  }

 private:
  struct Answer {
    Tensor output;
    std::string failure;  ///< empty where the output is a field on the input's grid
  };

  /// Memory that is not there is no failure of the model.
  Answer ask(const Tensor& input) const {
    const auto sizes_of = [](const Tensor& tensor) {
      std::string text = "[";
      for (const std::int64_t size : tensor.sizes()) text += message(text.size() > 1 ? ", " : "", size);
      return text + "]";
    };
    try {
      const torch::jit::IValue value = module_.get_method("forward")({input});
      if (!value.isTensor()) return {.output = {}, .failure = "its answer is no tensor"};
      const Tensor output = value.toTensor();
      const bool fits = output.dim() == input.dim() && output.size(0) == input.size(0) && output.size(1) >= 1 &&
                        output.sizes().slice(2) == input.sizes().slice(2) && output.is_floating_point();
      if (!fits) return {.output = {}, .failure = message("its answer to ", sizes_of(input), " is ", sizes_of(output))};
      return {.output = output.to(options()), .failure = {}};
    } catch (const std::exception& failure) {
      const std::string words = last_words(failure.what());
      if (words.find("memory") != std::string::npos) throw;
      return {.output = {}, .failure = words};
    }
  }

  /// The spaces that the archive says, or the only ones that the model takes.
  Spaces found(const std::optional<Spaces>& said) const {
    if (said && said->mesh) return *said;  // it may take one number of points only, so nothing can be tried
    const torch::NoGradGuard no_grad;
    std::vector<Spaces> taken;
    std::string failure, list;
    for (int dimension = 1; dimension <= 2; ++dimension) {
      for (int channels = 1; channels <= most_channels; ++channels) {
        if (said && (said->dimension != dimension || said->in_channels != channels)) continue;
        const std::vector<int> shape(static_cast<std::size_t>(dimension), dimension == 1 ? 64 : 32);
        const Answer answer = ask(smooth_field(shape, channels, options()));
        if (!answer.failure.empty()) {
          failure = answer.failure;
          continue;
        }
        taken.push_back(
            {.dimension = dimension, .in_channels = channels, .out_channels = static_cast<int>(answer.output.size(1))});
        list += message(list.empty() ? "" : ", ", channels, " channels on ", dimension, " axes");
      }
    }
    require<DataError>(!taken.empty(), "weights: file=", who_, " (the model takes no field ",
                       said ? "of the kind that it names" : "of up to 8 channels on one or two axes", ": ", failure,
                       "). Write a model that maps [B, C, n] or [B, C, nx, ny] to a field on the same grid.");
    require<DataError>(taken.size() == 1, "weights: file=", who_, " (the model takes ", list,
                       "). Say which is meant: torch.jit.save(model, path, _extra_files={\"", extra_file,
                       "\": '{\"dimension\": 1, \"in_channels\": 1}'}).");
    return taken.front();
  }

  double change(const Tensor& coarse, const Tensor& fine) const {
    Tensor common = fine;
    for (std::int64_t axis = 2; axis < fine.dim(); ++axis) common = common.slice(axis, 0, fine.size(axis), 2);
    const double size = common.norm().item<double>();
    return size > 0 ? (coarse - common).norm().item<double>() / size : 0;
  }

  std::string who_;
  torch::jit::Module module_;
  Spaces spaces_;
};

std::optional<Spaces> spaces_said(const std::string& text, const std::string& who) {
  if (text.empty()) return std::nullopt;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* key, int most) {
    const bool good = json.is_object() && json.contains(key) && json[key].is_number_integer() &&
                      json[key].get<std::int64_t>() >= 1 && json[key].get<std::int64_t>() <= most;
    require<DataError>(good, "weights: file=", who, " (its ", extra_file, " has no ", key, " from 1 to ", most,
                       "). Write it as {\"dimension\": 1, \"in_channels\": 1}.");
    return json[key].get<int>();
  };
  Spaces said{.dimension = number("dimension", 2), .in_channels = number("in_channels", most_channels)};
  said.mesh = json.contains("mesh") && json["mesh"] == true;
  if (said.mesh) said.out_channels = number("out_channels", most_channels);
  return said;
}

/// Module::to(torch::kFloat64) would make complex parameters real.
void convert(torch::jit::Module& module, const torch::TensorOptions& options, const std::string& who) {
  if (options.dtype() == torch::kFloat32) return;
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> all;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter);
  require(!all.empty(), "weights: file=", who,
          " (is a frozen model, whose constants stay float32). Use float32, or write it without torch.jit.freeze.");
  for (const Tensor& buffer : module.buffers()) all.push_back(buffer);
  for (Tensor& tensor : all) {
    if (tensor.is_complex()) tensor.set_data(tensor.to(torch::kComplexDouble));
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(torch::kFloat64));
  }
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

std::unique_ptr<ScriptNetwork> load_torch_script(const fs::path& path, const torch::TensorOptions& options) {
  const std::string who = path.string();
  torch::jit::ExtraFilesMap extra = {{extra_file, ""}};
  std::optional<torch::jit::Module> module;
  std::string failure;
  try {
    module = torch::jit::load(who, options.device(), extra);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!module) {
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
  convert(*module, options, who);
  return std::make_unique<JitNetwork>(path, *std::move(module), spaces_said(extra.at(extra_file), who), options);
}

}  // namespace opshap::operators
