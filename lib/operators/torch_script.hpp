#pragma once

#include <torch/script.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// What an error of a foreign module says before its traceback, C++'s or its own: the last line that has words.
std::string last_words(const std::string& text);

/// A field of few waves, the same function on every grid: [batch, channels, shape...]. The fields of a batch are equal.
torch::Tensor smooth_field(const std::vector<std::int64_t>& shape, std::int64_t batch, std::int64_t channels,
                           const torch::TensorOptions& options);

/// The module of a TorchScript archive as a function of tensors, in one precision.
class ScriptModel {
 public:
  ScriptModel(torch::jit::Module module, const torch::TensorOptions& options)
      : module_(std::move(module)), options_(options) {}

  struct Answer {
    torch::Tensor output;
    std::string failure;  ///< empty where the output is a field on the input's grid
  };
  /// [B, Cin, points...] to [B, Cout, points...]. Memory that is not there is no failure of the model: that is thrown.
  Answer ask(const torch::Tensor& input) const;

  const torch::TensorOptions& options() const { return options_; }
  /// The sizes of its parameters' axes, each once.
  std::vector<std::int64_t> parameter_sizes() const;
  std::vector<torch::Tensor> parameters() const;

 private:
  torch::jit::Module module_;
  torch::TensorOptions options_;
};

/// The fields that a model takes.
struct ScriptSpaces {
  int dimension = 1, in_channels = 1, out_channels = 1;
  bool mesh = false;                     ///< fields are [B, C, N] on the points of a mesh
  bool one_at_a_time = false;            ///< it takes batches of one alone
  std::vector<std::int64_t> shape = {};  ///< of the grid that it was tried on
};

/// What an archive says of its fields in its extra file; 0 and empty where it is silent.
struct SaidSpaces {
  int dimension = 0, in_channels = 0, out_channels = 0;
  bool mesh = false;
  std::vector<std::int64_t> shape;  ///< of a grid that it takes
};

/// The text of that file, {"dimension": 1, "in_channels": 2}. Throws DataError naming the key that does not fit.
SaidSpaces said_spaces(const std::string& text, const std::string& who);
/// The name of that file in the archive.
inline constexpr const char* spaces_file = "opshap.json";

/// The fields that the model takes, found by asking it.
///
/// `input` is the shape of an array that the user wants to give it, or empty: [n], [C, n], [nx, ny], [C, nx, ny], or a
/// batch of such. It decides the axes, the channels and the grid. Without it one and two axes are tried, with few
/// channels and with as many as the sizes of its parameters suggest. A model has to answer to batches of one, of two
/// and of three: an unbatched convolution in the plane takes a batch of one line for a channel, but not all three. A
/// model that takes batches of one alone is asked field by field. Throws DataError where it takes no field, or several
/// kinds.
ScriptSpaces found_spaces(const ScriptModel& model, const SaidSpaces& said, const std::vector<std::int64_t>& input,
                          const std::string& who);

/// Whether the file is a TorchScript archive, by its contents. Throws DataError for a pickle of torch.save, which can
/// run any code when it is read.
bool is_torch_script(const std::filesystem::path& path);

/// What a model made of one grid.
struct GridTest {
  std::vector<int> shape;
  std::string failure;  ///< the model's own words; empty where it answered with a field on that grid
  /// How far the answer to a smooth field is from the answer on twice as many points per axis, at the common points and
  /// relative to its size. Negative where the model does not take one of the two grids. Near 1 a branch over the size
  /// was probably traced for another grid.
  double change = -1;
};

/// A model of which nothing is known but its answers, from a TorchScript archive: [B, Cin, n] to [B, Cout, n], or with
/// two axes. It has no parameters to train here, no closure and no engine; gradients are LibTorch's.
class ScriptNetwork : public Network {
 public:
  using Network::Network;
  /// Its answers to a smooth field on grids of 16 to 256 points, or 8² to 64², and on the one that it was tried on.
  virtual std::vector<GridTest> test_grids() const = 0;
  /// The tensors that its archive calls parameters.
  virtual std::vector<torch::Tensor> weights() const = 0;
};

/// The model of a TorchScript archive. The axes and input channels that it takes stand in the archive's extra file
/// "opshap.json", {"dimension": 1, "in_channels": 2}, where "shape": [n] adds a grid that it takes, or they are found
/// by asking the model, see found_spaces(); `input` is the shape of an array that it is to get. With {"mesh": true,
/// "dimension": 2, "in_channels": 2, "out_channels": 1} the model works on meshes of that dimension: [B, Cin, N] to [B,
/// Cout, N], a value for each point. It is not told where the points lie. A model whose weights are float64 is computed
/// in float64.
///
/// The archive is code, and runs: the first one of a process says so on standard error, unless
/// code_of_files_is_trusted(). From then on the process does without oneDNN. The first gradient that is asked for is
/// compared with central differences of the values, at the mean of the fields that are asked about. NumericalError is
/// thrown where the best of three steps differs by more than a tenth of the gradient's size.
///
/// Throws DataError for an archive that is damaged or of torch.export, has operations that this LibTorch does not know
/// (the first is named), takes several kinds of fields and does not say which, or none. Throws InvalidArgument for
/// float64 of a frozen model, whose constants stay as they are.
std::unique_ptr<ScriptNetwork> load_torch_script(const std::filesystem::path& path, const torch::TensorOptions& options,
                                                 const std::vector<std::int64_t>& input = {});

}  // namespace opshap::operators
