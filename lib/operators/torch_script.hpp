#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

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
/// by asking the model; `input` is the shape of an array that it is to get. With {"mesh": true, "dimension": 2,
/// "in_channels": 2, "out_channels": 1} the model works on meshes of that dimension: [B, Cin, N] to [B, Cout, N], a
/// value for each point. It is not told where the points lie. A model whose weights are float64 is computed in float64.
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
