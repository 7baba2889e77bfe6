#pragma once

#include <torch/script.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace opshap::operators
