#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "data/safetensors.hpp"

namespace opshap::operators {

/// Points per axis; a mesh is one axis.
std::vector<std::int64_t> sizes_of(const Domain& domain);

/// A mean and a standard deviation for each channel, for each point, or for all numbers of a field: neuraloperator's
/// UnitGaussianNormalizer.
///
/// x is (physical − mean)/(std + eps), and physical is x·(std + eps) + mean. All of it is in double.
struct Normaliser {
  /// [1, C, 1] or [1, C, 1, 1] for channels, [1, C, n] or [1, C, nx, ny] for points, [1] or [] for all. Any size may be
  /// 1, and then counts for the whole axis. A mesh is one axis.
  std::vector<std::int64_t> shape;
  std::vector<double> mean, std;
  double eps = 0;

  /// Whether it has numbers for single points, so that the grid is fixed.
  bool per_point() const;
  /// "per channel", "per point on 32x32" or "for all".
  std::string describe() const;

  /// Throws InvalidArgument naming `who` unless the shape fits fields of so many channels on this domain.
  void require_fits(const Domain& domain, int channels, const std::string& who) const;
  double mean_at(const Domain& domain, int channel, std::int64_t point) const;
  /// std + eps.
  double scale_at(const Domain& domain, int channel, std::int64_t point) const;

  FieldBatch normalised(FieldBatch fields) const;
  FieldBatch physical(FieldBatch fields) const;

 private:
  std::size_t index(const Domain& domain, int channel, std::int64_t point) const;
};

/// What stands around a network that was trained on normalised fields: its inputs are normalised before it, its outputs
/// turned back after it. It is never folded into the weights.
struct Normalisation {
  std::optional<Normaliser> input, output;
  /// With an output normaliser: its physical units are those of the change of the field, and each output channel is
  /// added to the input channel of the same number, at each point.
  bool of_change = false;

  bool empty() const { return !input && !output; }
  /// "input per channel, output per point on 64, added to the input".
  std::string describe() const;
};

/// Takes the normalisers out of the content of a weight file: the key "normalization" of its CONFIG, {"input": {"eps":
/// e}, "output": {"eps": e}}, and the tensors in_normalizer.mean, in_normalizer.std and the same of out_normalizer. The
/// output may say {"eps": e, "of": "change"}.
/// What is left describes the network alone. Throws DataError where key and tensors do not go together, and for numbers
/// that cannot work; `who` names the file.
Normalisation take_normalisation(data::Safetensors& content, const std::string& who);
/// The inverse.
void put_normalisation(const Normalisation& normalisation, data::Safetensors& content);

/// The operator in physical units around one in normalised ones. Its gradients are by physical inputs.
///
/// A mask commutes with a map of each point, so the coalition engines of `inner` get the normalised input and baseline
/// once, and their values are turned back in double. Throws DataError for normalisers that fit no field of the
/// operator's channels and axes, and for a change of more channels than the input has.
std::unique_ptr<Operator> in_physical_units(std::unique_ptr<Operator> inner, Normalisation normalisation);

}  // namespace opshap::operators
