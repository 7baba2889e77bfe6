// The network of an explainer: an attribution density from the field and from where its points lie as seen from the
// query.
//
// On a periodic domain a network without padding that gets the angle to the query is invariant under the grid: its
// integrals are sums over one period of smooth functions. The paper's coordinate x jumps at the period and its padding
// at the edges, which costs O(1/n), differently at each resolution.

#include "operators/density.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "core/error.hpp"
#include "operators/config_reader.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"

namespace opshap::operators {

namespace {

using nlohmann::ordered_json;
using torch::Tensor;

const std::vector<std::string> kinds_of_coordinates = {"grid", "query_angle", "query_offset"};
const std::vector<std::string> kinds_of_cells = {"volumes", "equal"};

/// Coordinates of all points of a grid, [points, axes], from the origin of each axis and in units of its extent.
Tensor places(const Domain& domain, const torch::TensorOptions& options) {
  if (!domain.is_grid()) {
    std::vector<double> positions;
    for (std::int64_t point = 0; point < domain.points(); ++point)
      for (const double coordinate : domain.position(point)) positions.push_back(coordinate);
    return torch::tensor(positions, options.dtype(torch::kFloat64)).view({domain.points(), domain.dimension()});
  }
  std::vector<Tensor> axes;
  for (const Axis& axis : domain.axes())
    axes.push_back((torch::arange(axis.points, options.dtype(torch::kFloat64)) + axis.offset) / axis.intervals);
  return torch::stack(torch::meshgrid(axes, "ij"), -1).view({domain.points(), domain.dimension()});
}

class DensityNetwork final : public Network {
 public:
  DensityNetwork(DensityConfig config, const torch::TensorOptions& options)
      : Network(options), config_(std::move(config)) {
    const networks::NetworkConfig network = of_own_training(config_.network);  // there are no others
    inner_ = make_network(network, options);
    if (inner_->dimension() == 2) config_.network = network;
    adopt(*inner_);
  }

  networks::NetworkConfig config() const override { return config_; }
  std::string describe() const override {
    const char* const queries[] = {"the centre", "one query", "any query"};
    return message("density at ", queries[static_cast<int>(config_.query)], ", coordinates ", config_.coordinates,
                   config_.atom ? ", atom" : "", config_.cells == "equal" ? ", equal cells" : "",
                   config_.base.any() ? ", beside " + config_.base.describe() : "", ": ", inner_->describe());
  }
  int dimension() const override { return inner_->dimension(); }
  int input_channels() const override {
    return inner_->input_channels() - config_.place_channels(dimension()) + query_channels();
  }
  int output_channels() const override { return inner_->output_channels() / (config_.atom ? 2 : 1); }
  std::int64_t activations(const Domain& domain) const override { return inner_->activations(domain); }

  Tensor forward(const Tensor& fields, const Domain& domain) const override {
    require(config_.coordinates != "query_angle" || domain.periodic(), describe(), ": domain=", domain.describe(),
            " (an angle to the query needs periodic axes). Use coordinates=query_offset.");
    const Tensor query = query_of(fields, domain);  // [B, axes]
    const Tensor out = inner_->forward(with_places(fields, query, domain), domain);
    const std::int64_t batch = fields.size(1), channels = output_channels();
    Tensor density = out.narrow(2, 0, channels);
    if (config_.cells == "equal") density = density * regular_over_volume(domain);
    if (!config_.atom) return density;
    const Tensor atoms = out.narrow(2, channels, channels);
    const Tensor place = point_of(query, domain).view({1, batch, 1}).expand({1, batch, channels});
    return density.scatter_add(0, place, atoms.gather(0, place) / volumes(place, domain));
  }

  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    return forward(fields, domain).select(0, point);
  }

 private:
  int query_channels() const { return config_.query == DensityConfig::Query::any ? dimension() : 0; }

  /// Where the query of each field is, as places() say it: [B, axes].
  Tensor query_of(const Tensor& fields, const Domain& domain) const {
    const std::int64_t batch = fields.size(1), axes = dimension();
    const auto extents = [&](auto member) {
      std::vector<double> numbers;
      for (const Axis& axis : domain.axes()) numbers.push_back(axis.*member);
      return torch::tensor(numbers, torch::kFloat64).to(options());
    };
    if (config_.query == DensityConfig::Query::any) {
      const Tensor positions = fields.select(0, 0).narrow(1, fields.size(2) - axes, axes);
      return domain.is_grid() ? (positions - extents(&Axis::origin)) / extents(&Axis::extent) : positions;
    }
    const std::int64_t point =
        config_.query == DensityConfig::Query::centre ? domain.centre() : domain.nearest(config_.position);
    return places(domain, options()).select(0, point).to(options()).view({1, axes}).expand({batch, axes});
  }

  /// The number of the point that is nearest to each query, [B].
  static Tensor point_of(const Tensor& query, const Domain& domain) {
    if (!domain.is_grid()) {
      const Tensor all = places(domain, query.options()).to(query.dtype());
      return (all.unsqueeze(1) - query.unsqueeze(0)).square().sum(2).argmin(0);
    }
    Tensor point = torch::zeros({query.size(0)}, query.options().dtype(torch::kInt64));
    for (int number = 0; number < domain.dimension(); ++number) {
      const Axis& axis = domain.axes()[static_cast<std::size_t>(number)];
      const Tensor index = torch::round(query.select(1, number) * axis.intervals - axis.offset).to(torch::kInt64);
      point = point * axis.points +
              (axis.periodic ? index.remainder(axis.points) : index.clamp(0, std::int64_t{axis.points} - 1));
    }
    return point;
  }

  /// What an inner cell of the grid has, over what each point's cell has: [points, 1, 1].
  Tensor regular_over_volume(const Domain& domain) const {
    double regular = 1;
    for (const Axis& axis : domain.axes()) regular *= axis.spacing();
    std::vector<double> ratios;
    for (std::int64_t point = 0; point < domain.points(); ++point) ratios.push_back(regular / domain.volume(point));
    return torch::tensor(ratios, torch::kFloat64).view({-1, 1, 1}).to(options());
  }

  /// The volumes of these points.
  Tensor volumes(const Tensor& points, const Domain& domain) const {
    std::vector<double> all;
    for (std::int64_t point = 0; point < domain.points(); ++point) all.push_back(domain.volume(point));
    return torch::tensor(all, torch::kFloat64).to(options()).index_select(0, points.flatten()).view(points.sizes());
  }

  /// The field's channels, then those of the places of points, then those of the place of the query.
  Tensor with_places(const Tensor& fields, const Tensor& query, const Domain& domain) const {
    const std::int64_t points = fields.size(0), batch = fields.size(1), axes = dimension();
    std::vector<Tensor> channels = {fields.narrow(2, 0, fields.size(2) - query_channels())};
    const auto add = [&](const Tensor& distance) {  // [.., axes]
      const bool angle = config_.coordinates == "query_angle";
      const Tensor turned = angle ? 2 * std::numbers::pi * distance : distance;
      for (const Tensor& channel : angle ? std::vector{turned.sin(), turned.cos()} : std::vector{turned})
        channels.push_back(channel.expand({points, batch, axes}));
    };
    if (config_.coordinates != "grid") add(places(domain, options()).to(options()).unsqueeze(1) - query.unsqueeze(0));
    if (query_channels() > 0) add(query.unsqueeze(0));
    if (config_.fine_from > 0) channels.push_back(torch::full({points, batch, 1}, coarseness(domain), options()));
    return channels.size() == 1 ? channels.front() : torch::cat(channels, 2);
  }

  /// 1 on the coarsest grid that it was trained on, 0 on fine ones.
  double coarseness(const Domain& domain) const {
    const double fine = 1.0 / config_.fine_from, least = *std::ranges::min_element(domain.shape());
    return std::max(0.0, 1 / least - fine) / (1.0 / config_.trained_at.front().fewest() - fine);
  }

  DensityConfig config_;
  std::unique_ptr<Network> inner_;
};

class DensityArchitecture final : public ArchitectureOf<DensityNetwork, DensityConfig> {
 public:
  std::vector<int> dimensions() const override { return {1, 2}; }

  DensityConfig fit(ConfigReader& reader, networks::NetworkSpaces spaces) const override {
    DensityConfig config;
    read_common(reader, config);
    ordered_json inner = ordered_json::parse(reader.json("network", "{}"));
    if (!inner.is_object() || !inner.value("model", ordered_json("fno")).is_string())
      reader.reject("network", "needs a table with the settings of an architecture");
    reader.finish();
    networks::NetworkSettings of_network{.model = inner.value("model", "fno")};
    inner.erase("model");
    // A GINO knows its points by their places, whatever else it is told.
    if (config.coordinates != "grid" && of_network.model != "gino") inner["positional_embedding"] = "none";
    of_network.json = inner.dump();
    spaces.in_channels += config.place_channels(spaces.dimension) + config.base.channels();
    spaces.out_channels *= config.atom ? 2 : 1;
    config.network = operators::fitted(of_network, spaces);
    return config;
  }

  networks::NetworkSettings of_the_paper() const override {
    const networks::NetworkSettings network = architecture("fno")->of_the_paper();
    return {.model = "density", .json = R"({"coordinates": "grid", "atom": false, "network": )" + network.json + "}"};
  }

  /// The settings that a CONFIG and a profile have under the same keys.
  static void read_common(ConfigReader& reader, DensityConfig& config) {
    config.coordinates = reader.choice("coordinates", config.coordinates, kinds_of_coordinates);
    config.atom = reader.truth("atom", config.atom);
    config.cells = reader.choice("cells", config.cells, kinds_of_cells);
    const std::string text = reader.json("query", "\"centre\"");
    const ordered_json query = ordered_json::parse(text);
    if (query == "centre") {
      config.query = DensityConfig::Query::centre;
    } else if (query == "any") {
      config.query = DensityConfig::Query::any;
    } else if (query.is_array() && !query.empty() && query.size() <= 2 &&
               std::ranges::all_of(query, [](const auto& number) { return number.is_number(); })) {
      config.query = DensityConfig::Query::point;
      config.position = query.get<std::vector<double>>();
    } else {
      reader.reject("query=" + text.substr(0, 40),
                    "is neither \"centre\" nor \"any\" nor a list of one coordinate for each axis");
    }
    config.base.kind = find_base(reader.choice("base", name_of(config.base.kind), base_names()));
    config.base.nodes = reader.whole("base_nodes", config.base.nodes, {1, ExplainerBase::most_nodes});
    config.base.coarse = reader.choice("order", "none", {"none", "coarse"}) == "coarse";
    const ordered_json sizes = ordered_json::parse(reader.json("trained_at", "[]"));
    const auto whole = [](const ordered_json& size) { return size.is_number_integer() && size > 0 && size <= 1 << 20; };
    const auto shape = [&](const ordered_json& size) {
      return whole(size) || size == "own" || (size.is_array() && size.size() == 2 && std::ranges::all_of(size, whole));
    };
    if (!sizes.is_array() || !std::ranges::all_of(sizes, shape))
      reader.reject("trained_at", "needs a list of points per axis, or of \"own\"");
    config.trained_at = sizes.get<std::vector<Resolution>>();
    config.fine_from = reader.whole("fine_from", 0, {0, 1 << 20});
    if (config.fine_from > 0 && (config.trained_at.empty() || config.trained_at.front().fewest() >= config.fine_from))
      reader.reject(message("fine_from=", config.fine_from), "is not above the first of trained_at");
  }
};

bool is_density(const networks::NetworkConfig& config) {
  return ordered_json::parse(config.json).value("model", "fno") == "density";
}

}  // namespace

int DensityConfig::place_channels(int dimension) const {
  const int of_place = coordinates == "query_angle" ? 2 * dimension : dimension;
  return (coordinates == "grid" ? 0 : of_place) + (query == Query::any ? of_place : 0) + (fine_from > 0 ? 1 : 0);
}

DensityConfig DensityConfig::parse(const networks::NetworkConfig& json) {
  ConfigReader reader(json);
  reader.choice("model", "density", {"density"});
  DensityConfig config;
  DensityArchitecture::read_common(reader, config);
  config.network = {reader.json("network", "{}")};
  reader.finish();
  return config;
}

DensityConfig::operator networks::NetworkConfig() const {
  ordered_json object = {{"model", "density"}, {"coordinates", coordinates}, {"atom", atom}};
  object["query"] = query == Query::centre ? ordered_json("centre")
                    : query == Query::any  ? ordered_json("any")
                                           : ordered_json(position);
  if (cells != DensityConfig().cells) object["cells"] = cells;
  if (fine_from > 0) object["fine_from"] = fine_from;
  if (base.any())
    object.update(
        {{"base", name_of(base.kind)}, {"base_nodes", base.nodes}, {"order", base.coarse ? "coarse" : "none"}});
  if (!trained_at.empty()) object["trained_at"] = trained_at;
  object["network"] = ordered_json::parse(network.json);
  return {object.dump()};
}

bool takes_any_query(const networks::NetworkConfig& config) {
  return is_density(config) && DensityConfig::parse(config).query == DensityConfig::Query::any;
}

ExplainerBase base_of(const networks::NetworkConfig& config) {
  return is_density(config) ? DensityConfig::parse(config).base : ExplainerBase{};
}

std::vector<Resolution> trained_at(const networks::NetworkConfig& config) {
  return is_density(config) ? DensityConfig::parse(config).trained_at : std::vector<Resolution>{};
}

std::unique_ptr<Architecture> density() { return std::make_unique<DensityArchitecture>(); }

}  // namespace opshap::operators
