// The geometry-informed neural operator in two dimensions, with the layers and names of neuraloperator 2.0.0's GINO.
// Source: Li et al. (2023), Geometry-Informed Neural Operator for Large-Scale 3D PDEs.

#include "operators/gino.hpp"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "core/error.hpp"
#include "operators/batches.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"

namespace opshap::operators {

using torch::Tensor;

namespace {

constexpr int latent_axes = 2, most_latent_points = 1024, most_nodes = 1 << 24;
/// Flows on meshes of their own have up to some hundred, each of which costs some milliseconds and about a megabyte.
constexpr std::size_t kept_meshes = 256;
const std::vector<std::string> transforms = {"linear", "nonlinear"};
const std::vector<int> in_hidden = {80, 80, 80}, out_hidden = {512, 256};

/// Sizes of the layers of a kernel. The reference puts the size of the input before the hidden ones unless they begin
/// with that number, and the size of the output behind unless they end with that one.
std::vector<int> layers_of(std::vector<int> sizes, int inputs, int outputs) {
  if (sizes.front() != inputs) sizes.insert(sizes.begin(), inputs);
  if (sizes.back() != outputs) sizes.push_back(outputs);
  return sizes;
}

/// Puts the coordinates of a linspace on each axis into all points, row-major.
std::vector<double> grid_places(const std::vector<int>& shape) {
  std::vector<Tensor> axes;
  for (const int size : shape) axes.push_back(torch::linspace(0, 1, size, torch::kFloat32).to(torch::kFloat64));
  const Tensor places = torch::stack(torch::meshgrid(axes, "ij"), -1);
  return {places.data_ptr<double>(), places.data_ptr<double>() + places.numel()};
}

/// Throws unless all places are apart and inside the latent square.
void check_places(const std::vector<double>& places, const Domain& domain, const std::string& who) {
  const auto x = [&](std::size_t point) { return places[2 * point]; };
  const auto y = [&](std::size_t point) { return places[2 * point + 1]; };
  std::vector<std::size_t> order(places.size() / 2);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = [&](std::size_t point) {
    const std::vector<double> position = domain.position(static_cast<std::int64_t>(point));
    return message("(", position[0], ", ", position[1], ")");
  };
  for (const std::size_t point : order)
    require(x(point) >= 0 && x(point) <= 1 && y(point) >= 0 && y(point) <= 1, who, ": point=", point, " at ",
            shown(point),
            " (is outside of the mesh_box that the latent grid covers). Give a mesh inside of it, or a "
            "model with a mesh_box around the mesh.");
  std::ranges::sort(order, {}, [&](std::size_t point) { return std::tuple{x(point), y(point), point}; });
  for (std::size_t i = 1; i < order.size(); ++i)
    require(x(order[i - 1]) != x(order[i]) || y(order[i - 1]) != y(order[i]), who, ": point=", order[i], " at ",
            shown(order[i]), " (is in the place of point ", order[i - 1], "). Merge the two.");
}

std::array<double, 4> read_box(ConfigReader& reader, const std::array<double, 4>& usual) {
  const std::string text = reader.json("mesh_box", nlohmann::ordered_json(usual).dump());
  const auto box = nlohmann::ordered_json::parse(text);
  const bool numbers = box.is_array() && box.size() == 4 &&
                       std::ranges::all_of(box, [](const auto& number) { return number.is_number(); });
  if (!numbers) reader.reject("mesh_box=" + text.substr(0, 40), "needs four numbers, x0, x1, y0 and y1");
  const auto found = box.get<std::array<double, 4>>();
  if (!(found[0] < found[1] && found[2] < found[3]))
    reader.reject("mesh_box=" + text.substr(0, 40), "needs x0 < x1 and y0 < y1");
  return found;
}

/// The settings that a CONFIG and a profile have under the same keys, and what must hold of all of them.
void read_common(ConfigReader& reader, GinoConfig& config) {
  constexpr double most_radius = 1.5;
  config.in_transform = reader.choice("in_transform", config.in_transform, transforms);
  config.out_transform = reader.choice("out_transform", config.out_transform, transforms);
  config.in_radius = reader.fraction("in_radius", config.in_radius, most_radius);
  config.out_radius = reader.fraction("out_radius", config.out_radius, most_radius);
  config.fno_in_channels = reader.whole("fno_in_channels", config.fno_in_channels, {.least = 1, .most = most_channels});
  config.latent_shape = reader.per_axis("latent_shape", config.latent_shape, {.least = 2, .most = most_latent_points});
  config.mesh_box = read_box(reader, config.mesh_box);
  reader.finish();
  if (config.n_modes.size() != latent_axes)
    reader.reject(message("modes for ", config.n_modes.size(), " axes"), "GINO has two axes here");
  if (config.latent_shape.size() != latent_axes)
    reader.reject("latent_shape", "needs two whole numbers, one for each axis");
  for (const auto& [key, radius] :
       {std::pair{"in_radius", config.in_radius}, std::pair{"out_radius", config.out_radius}})
    if (radius == 0) reader.reject(message(key, "=0"), "needs a positive number");
  if (config.in_transform == "linear" && config.in_channels != 1 && config.in_channels != config.fno_in_channels)
    reader.reject(message("in_transform=linear, in_channels=", config.in_channels),
                  message("the kernel's fno_in_channels=", config.fno_in_channels,
                          " channels are multiplied by those of the field one by one"));
}

class GinoArchitecture final : public ArchitectureOf<Gino, GinoConfig> {
 public:
  std::vector<int> dimensions() const override { return {latent_axes}; }
  bool on_meshes() const override { return true; }
  bool shifts_spectra() const override { return true; }

  GinoConfig fit(ConfigReader& reader, networks::NetworkSpaces spaces) const override {
    reader.require_keys({"modes", "width", "layers", "in_radius", "out_radius", "in_transform", "out_transform"});
    GinoConfig config;
    if (spaces.box) config.mesh_box = *spaces.box;
    fit_sizes(reader, config, spaces, latent_axes, 2);
    read_common(reader, config);
    if (spaces.dimension != latent_axes)
      reader.reject("model=gino", message("has ", latent_axes, " axes here; the data has ", spaces.dimension));
    return config;
  }

  std::string parameter_name(const std::string& stored, const networks::NetworkConfig& /*config*/) const override {
    const bool old = stored.starts_with("gno_in.channel_mlp.") || stored.starts_with("gno_out.channel_mlp.") ||
                     stored.starts_with("lifting.fcs.2.");
    require<DataError>(!old, "weights: ", stored,
                       " (is a name of neuraloperator 1.0.2, whose GINO has other "
                       "embeddings, a third lifting layer and a mean on the way out). Train the model with 2.0.0.");
    return stored;
  }

  networks::NetworkSettings of_the_paper() const override {
    return {.model = "gino",
            .json = R"({"modes": 16, "width": 64, "layers": 4, "in_radius": 0.05, "out_radius": 0.05, )"
                    R"("in_transform": "nonlinear", "out_transform": "nonlinear"})"};
  }
};

class GinoEngine final : public CoalitionEngine {
 public:
  GinoEngine(std::shared_ptr<const Gino> network, const FieldBatch& shown, const FieldBatch& hidden,
             const Partition& partition, const Readout& readout)
      : network_(std::move(network)),
        mesh_(network_->mesh(shown.domain)),
        readout_(readout),
        players_(partition.players),
        together_(cached_batch(*network_, shown.domain)) {
    const torch::NoGradGuard no_grad;
    const auto& options = network_->options();
    const EdgeList& edges = mesh_->in_edges;
    const auto shares = [&](const FieldBatch& field) {
      return network_->shares_in(to_tensor(field, 0, 1, options), *mesh_);
    };
    const Tensor absent = shares(hidden), change = (shares(shown) - absent).squeeze(1);  // [edges, channels]
    channels_ = change.size(1);
    empty_ = network_->latent_of(absent, *mesh_).view({-1, 1});
    const Tensor player = torch::tensor(partition.player_of, torch::kInt64).to(options.device());
    const Tensor columns =
        player.index_select(0, edges.source).unsqueeze(1).expand({change.size(0), channels_}).reshape({-1});
    const Tensor rows =
        (edges.target.unsqueeze(1) * channels_ + torch::arange(channels_, edges.target.options()).unsqueeze(0))
            .reshape({-1});
    change_ = torch::sparse_coo_tensor(torch::stack({rows, columns}), change.reshape({-1}), {empty_.size(0), players_},
                                       options)
                  .coalesce();
  }

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    const auto count = static_cast<std::int64_t>(values.size());
    const auto compute = [&](std::int64_t begin, std::int64_t size) {
      const torch::NoGradGuard no_grad;
      const Tensor latent = latent_of(coalitions, first + static_cast<std::size_t>(begin), size);
      for (std::int64_t from = 0; from < size; from += together_.load()) {
        const Tensor some = latent.narrow(1, from, std::min(together_.load(), size - from)).contiguous();
        const auto to = values.begin() + begin + from;
        std::fill_n(to, some.size(1), 0.0);
        for (const auto& [query, weight] : readout_.terms()) {
          const Tensor found = network_->output_at(some, *mesh_, query.point)
                                   .select(1, query.channel)
                                   .to(torch::kCPU, torch::kFloat64)
                                   .contiguous();
          for (std::int64_t i = 0; i < found.numel(); ++i) to[i] += weight * found.data_ptr<double>()[i];
        }
      }
    };
    if (network_->options().device().is_cpu()) return parallel_chunks(count, products_together, compute);
    compute(0, count);
  }

  std::size_t batch() const override {
    return static_cast<std::size_t>(network_->options().device().is_cpu() ? products_together : 8 * together_);
  }

 private:
  static constexpr std::int64_t products_together = 16;  ///< columns of one sparse product

  /// The latent grids of `size` coalitions, [latent points, size, channels].
  Tensor latent_of(const Coalitions& coalitions, std::size_t first, std::int64_t size) const {
    Tensor members = torch::zeros({players_, size}, torch::kFloat64);
    auto to = members.accessor<double, 2>();
    for (std::int64_t column = 0; column < size; ++column) {
      const auto row = coalitions.row(first + static_cast<std::size_t>(column));
      for (int player = 0; player < players_; ++player) to[player][column] = contains(row, player) ? 1 : 0;
    }
    return (empty_ + torch::mm(change_, members.to(network_->options()))).view({-1, channels_, size}).transpose(1, 2);
  }

  std::shared_ptr<const Gino> network_;
  std::shared_ptr<const GinoMesh> mesh_;
  Readout readout_;
  int players_;
  mutable std::atomic<std::int64_t> together_;  ///< coalitions in a batch; fewer where memory is short
  std::int64_t channels_ = 0;
  Tensor empty_;   ///< the latent grid of the empty coalition, [latent points · channels, 1]
  Tensor change_;  ///< what each player changes there when shown, sparse [latent points · channels, players]
};

}  // namespace

GinoConfig GinoConfig::parse(const networks::NetworkConfig& json) {
  ConfigReader reader(json);
  reader.choice("model", "gino", {"gino"});
  GinoConfig config;
  read_sizes(reader, config, 2);
  reader.whole("nodes", 0, {.least = 1, .most = most_nodes});  // of golden values; the network takes any mesh
  config.inverse_shift = read_inverse_shift(reader, config.inverse_shift);
  if (reader.fraction("domain_padding", 0, 4) != 0)
    reader.reject("domain_padding", "is none in a GINO: its latent grid covers the domain");
  read_common(reader, config);
  return config;
}

GinoConfig::operator networks::NetworkConfig() const {
  nlohmann::ordered_json object = sizes_json("gino", *this);
  object.update({{"in_transform", in_transform},
                 {"out_transform", out_transform},
                 {"in_radius", in_radius},
                 {"out_radius", out_radius},
                 {"fno_in_channels", fno_in_channels},
                 {"latent_shape", latent_shape},
                 {inverse_shift_key, to_string(inverse_shift)},
                 {"mesh_box", mesh_box}});
  return {object.dump()};
}

Gino::Gino(const GinoConfig& config, const torch::TensorOptions& options)
    : Network(options), config_(config), latent_places_(grid_places(config.latent_shape)) {
  const std::int64_t width = config.hidden_channels, mlp = std::lrint(0.5 * config.hidden_channels);
  const auto add_kernel = [&](const std::string& name, const std::vector<int>& sizes, const std::string& transform) {
    KernelIntegral kernel{.nonlinear = transform == "nonlinear"};
    for (std::size_t layer = 0; layer + 1 < sizes.size(); ++layer) {
      auto [weight, bias] =
          add_linear(message(name, ".integral_transform.channel_mlp.fcs.", layer), {sizes[layer + 1], sizes[layer]});
      kernel.weights.push_back(weight);
      kernel.biases.push_back(bias);
    }
    return kernel;
  };
  constexpr int of_places = 2 * latent_axes * 2 * wave_frequencies;
  const auto inputs = [&](const std::string& transform, int channels) {
    return of_places + (transform == "nonlinear" ? channels : 0);
  };
  in_ = add_kernel("gno_in",
                   layers_of(in_hidden, inputs(config.in_transform, config.in_channels), config.latent_channels()),
                   config.in_transform);
  lifting_ = add_perceptron("lifting", {config.latent_channels(), 2 * width, width});
  for (int index = 0; index < config.n_layers; ++index) {
    const auto named = [index](const char* kind, const char* rest) {
      return message("fno_blocks.", kind, ".", index, rest);
    };
    FnoLayer layer;
    PointwiseWeights& pointwise = layer.block.pointwise;
    std::tie(layer.spectral_weight, layer.spectral_bias) = add_spectral(named("convs", ""), width, config.n_modes);
    pointwise.skip = add(named("fno_skips", ".conv.weight"), {width, width, 1}, law_of_linear(width));
    pointwise.mlp = add_perceptron(named("channel_mlp", ""), {width, mlp, width});
    pointwise.gate = add(named("channel_mlp_skips", ".weight"), {1, width, 1, 1}, {Initial::Law::constant, 1});
    blocks_.push_back(layer);
  }
  out_ = add_kernel("gno_out",
                    layers_of(out_hidden, inputs(config.out_transform, config.hidden_channels), config.hidden_channels),
                    config.out_transform);
  projection_ = add_perceptron("projection", {width, 4 * width, config.out_channels});
}

std::string Gino::describe() const {
  return message("gino 2D, ", config_.in_transform, " in and ", config_.out_transform, " out, latent grid ",
                 config_.latent_shape[0], "x", config_.latent_shape[1], ", width ", config_.hidden_channels, ", ",
                 config_.n_modes[0], "x", config_.n_modes[1], " modes, ", config_.n_layers, " layers");
}

std::int64_t Gino::activations(const Domain& /*domain*/) const { return plane().rows(1) * config_.hidden_channels; }

EngineChoice Gino::engines(const EngineRequest& request) const {
  require_no_kernel(request, describe());
  return {.engines = std::make_unique<GinoCoalitions>(config_, options(), parameters()), .why_not = {}};
}

Box Gino::plane() const {
  return {.first_line = 0, .lines = config_.latent_shape[0], .first = 0, .points = config_.latent_shape[1]};
}

std::shared_ptr<const FourierBasis> Gino::basis() const {
  return fourier_basis({config_.latent_shape[0], config_.latent_shape[1]}, config_.n_modes, options(),
                       config_.inverse_shift);
}

std::vector<double> Gino::places(const Domain& domain) const {
  const auto& box = config_.mesh_box;
  std::vector<double> found;
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const std::vector<double> position = domain.position(point);
    for (std::size_t axis = 0; axis < latent_axes; ++axis)
      found.push_back(static_cast<float>((position[axis] - box[2 * axis]) / (box[2 * axis + 1] - box[2 * axis])));
  }
  check_places(found, domain, describe());
  return found;
}

GinoMesh Gino::mesh(const Domain& domain, NeighbourLists in, NeighbourLists out) const {
  const std::vector<double> found = places(domain);
  const std::int64_t points = domain.points(), latent = plane().rows(1);
  GinoMesh mesh{.points = points,
                .in = neighbours_given(std::move(in), latent, points),
                .out = neighbours_given(std::move(out), points, latent),
                .waves = coordinate_waves(found, options()),
                .latent_waves = coordinate_waves(latent_places_, options())};
  mesh.in_edges = EdgeList(mesh.in, options());
  mesh.out_edges = EdgeList(mesh.out, options());
  return mesh;
}

std::shared_ptr<const GinoMesh> Gino::mesh(const Domain& domain) const {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(meshes_, domain, &std::pair<Domain, std::shared_ptr<const GinoMesh>>::first);
  if (known != meshes_.end()) {
    std::rotate(known, known + 1, meshes_.end());
    return meshes_.back().second;
  }
  const std::vector<double> found = places(domain);
  auto made = std::make_shared<const GinoMesh>(mesh(domain, neighbours_within(found, latent_places_, config_.in_radius),
                                                    neighbours_within(latent_places_, found, config_.out_radius)));
  if (meshes_.size() == kept_meshes) meshes_.erase(meshes_.begin());
  meshes_.emplace_back(domain, made);
  return made;
}

Tensor Gino::forward(const Tensor& fields, const Domain& domain) const { return forward_on(fields, *mesh(domain)); }

Tensor Gino::forward_on(const Tensor& fields, const GinoMesh& mesh) const {
  return output(latent_of(shares_in(fields, mesh), mesh), mesh);
}

Tensor Gino::output(const Tensor& latent, const GinoMesh& mesh) const {
  const Tensor x = fno_blocks(lifting_(latent, fused()), blocks_, *basis(), plane(), plane(), fused());
  const Tensor messages =
      out_.messages(x, out_.of_sources(mesh.latent_waves), out_.of_targets(mesh.waves), mesh.out_edges, fused());
  return projection_(sums_of_edges(messages, mesh.out_edges.target, mesh.points), fused());
}

Tensor Gino::forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const {
  const auto known = mesh(domain);
  return output_at(latent_of(shares_in(fields, *known), *known), *known, point);
}

/// A latent point is a mean over points of the mesh. The closure takes its expectation, which is exact, and goes on as
/// if the mean did not fluctuate. It does, where the few neighbours of a latent point belong to few players.
Tensor Gino::forward_mean_field(const Tensor& shown, const Tensor& hidden, const Tensor& inclusion,
                                const Domain& domain, std::optional<std::int64_t> point) const {
  const auto known = mesh(domain);
  const Tensor hidden_shares = shares_in(hidden, *known), change = shares_in(shown, *known) - hidden_shares;
  const Tensor shares = hidden_shares + rows_of_edges(inclusion.unsqueeze(2), known->in_edges.source) * change;
  const Tensor latent = latent_of(shares, *known);
  return point ? output_at(latent, *known, *point) : output(latent, *known);
}

Tensor Gino::shares_in(const Tensor& fields, const GinoMesh& mesh) const {
  const Tensor messages =
      in_.messages(fields, in_.of_sources(mesh.waves), in_.of_targets(mesh.latent_waves), mesh.in_edges, fused());
  return messages * mesh.in_edges.share.index_select(0, mesh.in_edges.target);
}

Tensor Gino::latent_of(const Tensor& shares, const GinoMesh& mesh) const {
  return sums_of_edges(shares, mesh.in_edges.target, mesh.in_edges.targets);
}

Tensor Gino::output_at(const Tensor& latent, const GinoMesh& mesh, std::int64_t point) const {
  // The last block is wanted in the box around the point's neighbours.
  const auto row = static_cast<std::size_t>(point);
  const std::vector<std::int64_t> near(mesh.out.indices.begin() + mesh.out.splits[row],
                                       mesh.out.indices.begin() + mesh.out.splits[row + 1]);
  const std::int64_t size = config_.latent_shape[1];
  Box box{.first_line = 0, .lines = 1, .first = 0, .points = 1};
  if (!near.empty()) {
    const auto [first, last] = std::ranges::minmax(near, {}, [size](std::int64_t place) { return place % size; });
    box = {.first_line = near.front() / size,
           .lines = near.back() / size - near.front() / size + 1,
           .first = first % size,
           .points = last % size - first % size + 1};
  }
  NeighbourLists inside{.splits = {0, static_cast<std::int64_t>(near.size())}, .indices = {}};
  for (const std::int64_t place : near) inside.indices.push_back(box.row(place / size, place % size, 1));
  const EdgeList edges(inside, options());
  const Tensor x = fno_blocks(lifting_(latent, fused()), blocks_, *basis(), plane(), box, fused());
  const Tensor waves = mesh.latent_waves.view({plane().lines, plane().points, -1})
                           .narrow(0, box.first_line, box.lines)
                           .narrow(1, box.first, box.points)
                           .reshape({box.rows(1), mesh.latent_waves.size(1)});
  const Tensor messages =
      out_.messages(x, out_.of_sources(waves), out_.of_targets(mesh.waves.narrow(0, point, 1)), edges, fused());
  return projection_(sums_of_edges(messages, edges.target, 1), fused()).squeeze(0);
}

std::unique_ptr<Architecture> gino() { return std::make_unique<GinoArchitecture>(); }

GinoCoalitions::GinoCoalitions(const GinoConfig& config, const torch::TensorOptions& options,
                               const std::vector<Parameter>& parameters) {
  const torch::NoGradGuard no_grad;
  auto network = std::make_shared<Gino>(config, options);
  for (std::size_t i = 0; i < parameters.size(); ++i) network->parameters()[i].value.copy_(parameters[i].value);
  network_ = std::move(network);
}

std::unique_ptr<CoalitionEngine> GinoCoalitions::coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                                  const Partition& partition,
                                                                  const Readout& readout) const {
  if (shown.batch > 1) return nullptr;
  require_finite(shown, "gino coalitions");
  require_finite(hidden, "gino coalitions");
  return std::make_unique<GinoEngine>(network_, shown, hidden, partition, readout);
}

std::string GinoCoalitions::path() const {
  const bool single = network_->options().dtype() == torch::kFloat32;
  return message("latent grids as sparse sums by player, LibTorch on ", network_->options().device().str(), ", ",
                 single ? "float32" : "float64");
}

}  // namespace opshap::operators
