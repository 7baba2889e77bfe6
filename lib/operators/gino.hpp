#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/domain.hpp"
#include "networks/recipe.hpp"
#include "operators/config_reader.hpp"
#include "operators/kernel_integral.hpp"
#include "operators/layers.hpp"
#include "operators/network.hpp"

namespace opshap::operators {

/// The configuration of a geometry-informed neural operator in two dimensions. Names are those of the contract of
/// `opshap operator golden`, defaults those of neuraloperator 2.0.0's GINO. What its constructor has no default for in
/// two dimensions is the paper's.
struct GinoConfig {
  std::vector<int> n_modes = {16, 16};
  int hidden_channels = 64;
  int n_layers = 4;
  int in_channels = 1;
  int out_channels = 1;
  /// Whether the kernel on the way in or out sees the field: "nonlinear" or "linear".
  std::string in_transform = "linear", out_transform = "linear";
  double in_radius = 0.033, out_radius = 0.033;  ///< in units of the latent square
  /// Channels on the latent grid before the lifting, with a linear transform in. A nonlinear one keeps in_channels.
  int fno_in_channels = 3;
  /// Points per axis of the latent grid, which reaches from 0 to 1 on each axis, both ends included.
  std::vector<int> latent_shape = {64, 64};
  InverseShift inverse_shift = InverseShift::fftshift;  ///< on the latent grid
  /// x0, x1, y0, y1 of the box whose points are mapped to the latent square. Equal for all meshes of a data set: a box
  /// for each sample would move the query.
  std::array<double, 4> mesh_box = {0, 1, 0, 1};

  int latent_channels() const { return in_transform == "nonlinear" ? in_channels : fno_in_channels; }

  /// Throws DataError for a key that is unknown and for a value that cannot work, naming it.
  static GinoConfig parse(const networks::NetworkConfig& config);
  /// Every key with its value.
  operator networks::NetworkConfig() const;

  bool operator==(const GinoConfig&) const = default;
};

/// What a GINO knows about the points of a domain: everything that depends on places alone.
struct GinoMesh {
  std::int64_t points = 0;
  NeighbourLists in, out;  ///< the mesh's points near each latent point, the latent points near each mesh point
  EdgeList in_edges, out_edges;
  torch::Tensor waves, latent_waves;  ///< of the mesh's points, of the latent points
};

/// A geometry-informed neural operator: a kernel integral from the points of a mesh to a latent grid, the blocks of an
/// FNO there, and a kernel integral back. It works on the points of any domain in two dimensions.
///
/// Meshes are prepared when first seen, and the last ones are kept.
class Gino final : public Network {
 public:
  Gino(const GinoConfig& config, const torch::TensorOptions& options);

  networks::NetworkConfig config() const override { return config_; }
  std::string describe() const override;
  int dimension() const override { return 2; }
  int input_channels() const override { return config_.in_channels; }
  int output_channels() const override { return config_.out_channels; }
  std::int64_t activations(const Domain& domain) const override;
  EngineChoice engines(const EngineRequest& request) const override;

  /// Both throw InvalidArgument for a domain with two points in one place or with a point outside of the mesh box.
  torch::Tensor forward(const torch::Tensor& fields, const Domain& domain) const override;
  torch::Tensor forward_at(const torch::Tensor& fields, const Domain& domain, std::int64_t point) const override;
  bool has_mean_field() const override { return true; }
  torch::Tensor forward_mean_field(const torch::Tensor& shown, const torch::Tensor& hidden,
                                   const torch::Tensor& inclusion, const Domain& domain,
                                   std::optional<std::int64_t> point) const override;

  /// The mesh of a domain with exact neighbours, or with neighbour lists from elsewhere.
  std::shared_ptr<const GinoMesh> mesh(const Domain& domain) const;
  GinoMesh mesh(const Domain& domain, NeighbourLists in, NeighbourLists out) const;
  /// forward() on a mesh, [points, B, Cin] to [points, B, Cout].
  torch::Tensor forward_on(const torch::Tensor& fields, const GinoMesh& mesh) const;

  /// What each edge of the way in gives to its latent point, its share of the mean included, from [points, B, Cin]:
  /// [edges, B, channels].
  torch::Tensor shares_in(const torch::Tensor& fields, const GinoMesh& mesh) const;
  /// Their sums, the values of the latent grid: [latent points, B, channels].
  torch::Tensor latent_of(const torch::Tensor& shares, const GinoMesh& mesh) const;
  /// The values of the latent grid, [latent points, B, channels], to the output on the mesh, [points, B, Cout].
  torch::Tensor output(const torch::Tensor& latent, const GinoMesh& mesh) const;
  /// The same at one point of the mesh, [B, Cout].
  torch::Tensor output_at(const torch::Tensor& latent, const GinoMesh& mesh, std::int64_t point) const;

 private:
  Box plane() const;
  std::shared_ptr<const FourierBasis> basis() const;
  /// Coordinates [points, 2] on the latent square, rounded to float32 as in the reference.
  std::vector<double> places(const Domain& domain) const;

  GinoConfig config_;
  std::vector<double> latent_places_;  ///< [latent points, 2]
  KernelIntegral in_, out_;
  ChannelPerceptron lifting_, projection_;
  std::vector<FnoLayer> blocks_;

  mutable std::mutex mutex_;
  mutable std::vector<std::pair<Domain, std::shared_ptr<const GinoMesh>>> meshes_;  ///< the last one seen at the end
};

/// The coalition engines of one trained GINO by LibTorch, on the device and in the precision of its parameters.
///
/// The kernel on the way in sees one point of the mesh at a time, shown or hidden. So what an edge gives to its latent
/// point has two values, and the latent grid of a coalition is that of the empty one plus a sum over its players: one
/// sparse product, whose matrix is made once for an input. The kernel itself, which is most of the way in, runs twice
/// for an input instead of once for a coalition. On the way out only the query's edges are computed, and the last block
/// only around them. Values agree with values_at() to the rounding of the precision.
class GinoCoalitions final : public CoalitionEngines {
 public:
  /// Parameters of a Gino with this configuration, in its order; they are copied.
  GinoCoalitions(const GinoConfig& config, const torch::TensorOptions& options,
                 const std::vector<Parameter>& parameters);

  /// As Operator::coalition_engine. Throws DataError for a field with a value that is not finite, and InvalidArgument
  /// as Gino::forward.
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override;
  std::string path() const override;

 private:
  std::shared_ptr<const Gino> network_;
};

}  // namespace opshap::operators
