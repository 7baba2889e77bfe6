#include "operators/mwt.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"
#include "operators/config_reader.hpp"
#include "operators/layers.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/spectral_convolution.hpp"

namespace opshap::operators {

namespace {

/// φ_0..φ_{k−1} at x.
std::vector<double> orthonormal_legendre(int k, double x) {
  const double t = 2 * x - 1;
  std::vector<double> values(static_cast<std::size_t>(k), 1);
  double before = 0, now = 1;
  for (int i = 1; i < k; ++i) {
    const double next = ((2 * i - 1) * t * now - (i - 1) * before) / i;
    before = now;
    now = next;
    values[static_cast<std::size_t>(i)] = std::sqrt(2 * i + 1) * now;
  }
  return values;
}

}  // namespace

Multiwavelets::Multiwavelets(int k) {
  // Rows 0..k−1 are [h0 h1], the others [g0 g1].
  const std::int64_t count = k;
  const torch::Tensor rows = torch::zeros({2 * count, 2 * count}, torch::kFloat64);
  auto entry = rows.accessor<double, 2>();
  const GaussLegendre rule(k);  // exact for the degree 2k − 2 of the products
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double x = rule.nodes[node], weight = rule.weights[node] / std::sqrt(2.0);
    const std::vector<double> of_half = orthonormal_legendre(k, x);
    for (const int half : {0, 1}) {
      const std::vector<double> of_all = orthonormal_legendre(k, (x + half) / 2);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < count; ++j)
          entry[i][half * count + j] +=
              weight * of_all[static_cast<std::size_t>(i)] * of_half[static_cast<std::size_t>(j)];
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    torch::Tensor row = torch::zeros({2 * count}, torch::kFloat64);
    row[i] = 1;
    const torch::Tensor others = rows.narrow(0, 0, count + i);
    for (int pass = 0; pass < 2; ++pass) row = row - torch::mv(others.t(), torch::mv(others, row));  // twice is enough
    rows[count + i].copy_(row / row.norm());
  }
  const auto block = [&](std::int64_t first_row, std::int64_t first_column) {
    return rows.narrow(0, first_row, count).narrow(1, first_column, count).contiguous();
  };
  h0 = block(0, 0);
  h1 = block(0, count);
  g0 = block(count, 0);
  g1 = block(count, count);
}

// The multiwavelet operator in one dimension, with the layers and names of its authors' MWT1d.
// Source: Gupta, Xiao, Bogdan (2021), Multiwavelet-based Operator Learning for Differential Equations.
//
// A block takes a field apart level by level. Each level turns pairs of neighbours into one average and one detail,
// until one point is left. On the way back, what the lowest frequencies of averages and details become is added at each
// level. Points lie in bit-reversed order, even ones first at every level. So a pair is two rows that are a view, and
// taking apart, putting together and the transforms are matrix products without a copy between them. The filters act
// on the wavelets alone and the transforms on the points alone, so they change places wherever it is cheaper: details
// are never computed at the points, only their spectra are. All levels share one set of spectral weights, and are mixed
// in one product.

namespace {

using torch::Tensor;

/// The configuration of a multiwavelet operator, with the names and defaults of MWT1d.
struct MwtConfig {
  int in_channels = 1;   ///< of the field, without the place
  int out_channels = 1;  ///< the reference always has 1
  int c = 1;             ///< channels
  int k = 3;             ///< wavelets a channel: polynomials of degree < k
  int alpha = 2;         ///< frequencies of a level
  int n_cz = 3;          ///< blocks
  /// "grid": the network gets each point's place i/N as a further channel. "none" is null in a CONFIG.
  std::string positional_embedding = "grid";

  bool knows_places() const { return positional_embedding == "grid"; }
  int width() const { return c * k; }

  static MwtConfig parse(const networks::NetworkConfig& config);
  operator networks::NetworkConfig() const;
};

constexpr int most_wavelets = 16, most_frequencies = 4096, most_blocks = 256;
constexpr int head_width = 128;

/// i with its `bits` lowest bits in reversed order.
std::int64_t bit_reversed(std::int64_t i, int bits) {
  std::int64_t reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

/// The transform of the averages and details that a level makes, N' = N/2, N/4, .. 1 of them.
struct Level {
  Tensor analysis;   ///< [2·frequencies, N'], zero for the frequencies that N' points do not have
  Tensor synthesis;  ///< [N', 2·frequencies]
};

struct DyadicGrid {
  Tensor order;                  ///< [N], int64: the points in bit-reversed order
  Tensor places;                 ///< [N, 1, 1]: i/N, in that order
  std::int64_t frequencies = 0;  ///< of the finest level, which has the most
  std::vector<Level> levels;     ///< from the finest to the coarsest

  DyadicGrid(std::int64_t points, int alpha, const torch::TensorOptions& options) {
    order = reversed_order(points).to(options.device());
    places = (order.to(options) / points).view({points, 1, 1});
    for (std::int64_t half = points / 2; half >= 1; half /= 2) {
      const auto basis = fourier_basis({half}, {2 * (alpha - 1)}, options);
      const Tensor reversed = reversed_order(half).to(options.device());
      if (levels.empty()) frequencies = basis->columns();
      const std::int64_t missing = 2 * (frequencies - basis->columns());
      levels.push_back(
          {.analysis = torch::constant_pad_nd(basis->analysis().index_select(1, reversed), {0, 0, 0, missing}),
           .synthesis = torch::constant_pad_nd(basis->synthesis().index_select(0, reversed), {0, missing})});
    }
  }

 private:
  static Tensor reversed_order(std::int64_t points) {
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(points))) - 1;
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < points; ++i) indices.push_back(bit_reversed(i, bits));
    return torch::tensor(indices, torch::kInt64);
  }
};

/// The grid of so many points, made once for each (points, alpha, dtype, device) and then shared.
std::shared_ptr<const DyadicGrid> dyadic_grid(std::int64_t points, int alpha, const torch::TensorOptions& options) {
  using Key = std::tuple<std::int64_t, int, int, std::string>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const DyadicGrid>> known;
  const std::lock_guard lock(mutex);
  auto& grid =
      known[{points, alpha, static_cast<int>(c10::typeMetaToScalarType(options.dtype())), options.device().str()}];
  if (!grid) grid = std::make_shared<const DyadicGrid>(points, alpha, options);
  return grid;
}

/// sum + a·b, batch by batch; in place when nothing is kept for a gradient.
Tensor plus_products(Tensor sum, const Tensor& a, const Tensor& b) {
  return c10::GradMode::is_enabled() ? torch::baddbmm(sum, a, b) : sum.baddbmm_(a, b);
}

class Mwt final : public Network {
 public:
  Mwt(const MwtConfig& config, const torch::TensorOptions& options) : Network(options), config_(config) {
    using Law = Initial::Law;
    const std::int64_t width = config.width(), k = config.k;
    const auto add_linear = [this](const std::string& name, std::int64_t inputs, std::int64_t outputs,
                                   std::optional<Initial> of_weight = {}) {
      Tensor weight = add(name + ".weight", {outputs, inputs}, of_weight.value_or(law_of_linear(inputs)));
      return Linear{.weight = std::move(weight), .bias = add(name + ".bias", {outputs}, law_of_linear(inputs))};
    };
    const auto add_mixed = [&](const std::string& name) {
      return add_complex(name + ".weights1", spectral_weights(width, width, {2 * (config.alpha - 1)}, options),
                         {Law::positive, 1 / static_cast<double>(width * width)});
    };
    const auto xavier_normal = [](std::int64_t inputs, std::int64_t outputs) {
      return Initial{Law::normal, std::sqrt(2 / static_cast<double>(inputs + outputs))};
    };

    const Multiwavelets filters(config.k);
    // The columns are those of a pair of points: wavelet by wavelet, the even point before the odd one.
    averages_ = torch::stack({filters.h0, filters.h1}, 2).view({k, 2 * k}).to(options);
    details_ = torch::stack({filters.g0, filters.g1}, 2).view({k, 2 * k}).to(options);

    entry_ = add_linear("Lk", config.in_channels + (config.knows_places() ? 1 : 0), width);
    for (int index = 0; index < config.n_cz; ++index) {
      const std::string name = message("MWT_CZ.", index);
      Block block;
      block.details_to_details = add_mixed(name + ".A");
      block.averages_to_details = add_mixed(name + ".B");
      block.details_to_averages = add_mixed(name + ".C");
      block.coarsest = add_linear(name + ".T0", k, k);
      add_constant(name + ".ec_s", torch::cat({filters.h0.t(), filters.h1.t()}));
      add_constant(name + ".ec_d", torch::cat({filters.g0.t(), filters.g1.t()}));
      add_constant(name + ".rc_e", torch::cat({filters.h0, filters.g0}));
      add_constant(name + ".rc_o", torch::cat({filters.h1, filters.g1}));
      blocks_.push_back(std::move(block));
    }
    head0_ = add_linear("Lc0", width, head_width, xavier_normal(width, head_width));
    head1_ = add_linear("Lc1", head_width, config.out_channels, xavier_normal(head_width, config.out_channels));
  }

  networks::NetworkConfig config() const override { return config_; }
  std::string describe() const override {
    return message("mwt 1D, ", config_.c, " channels of ", config_.k, " wavelets, ", config_.alpha, " frequencies, ",
                   config_.n_cz, " blocks");
  }
  int dimension() const override { return 1; }
  int input_channels() const override { return config_.in_channels; }
  int output_channels() const override { return config_.out_channels; }

  Tensor forward(const Tensor& fields, const Domain& domain) const override {
    const auto grid = grid_of(domain);
    return head(states(fields, *grid, {})).index_select(0, grid->order);  // the order is its own inverse
  }

  Tensor forward_at(const Tensor& fields, const Domain& domain, std::int64_t point) const override {
    return head(states(fields, *grid_of(domain), point)).squeeze(0);
  }

  std::int64_t activations(const Domain& domain) const override { return domain.points() * config_.width(); }
  bool has_kinks() const override { return true; }  // ReLU between its layers

 private:
  struct Linear {
    Tensor weight, bias;
  };
  struct Block {
    Tensor details_to_details, averages_to_details, details_to_averages;  ///< [c·k, c·k, alpha, 2]
    Linear coarsest;
  };

  std::shared_ptr<const DyadicGrid> grid_of(const Domain& domain) const {
    const auto points = static_cast<std::uint64_t>(domain.points());
    require(std::has_single_bit(points), describe(), ": points=", points,
            " (its wavelets halve the grid until one point is left). Use a power of two, like ", std::bit_floor(points),
            " or ", std::bit_ceil(points), ".");
    return dyadic_grid(domain.points(), config_.alpha, options());
  }

  /// What the blocks make of fields [N, B, Cin], in bit-reversed order or at one point: [k, points, B, c].
  Tensor states(const Tensor& fields, const DyadicGrid& grid, std::optional<std::int64_t> point) const {
    Tensor x = lift(fields, grid);
    for (std::size_t index = 0; index < blocks_.size(); ++index) {
      if (index > 0) x = activated(x, Activation::relu);
      x = block(x, blocks_[index], grid, index + 1 == blocks_.size() ? point : std::nullopt);
    }
    return x;
  }

  Tensor lift(const Tensor& fields, const DyadicGrid& grid) const {
    const std::int64_t points = fields.size(0), batch = fields.size(1), k = config_.k, c = config_.c;
    Tensor x = fields.index_select(0, grid.order);
    if (config_.knows_places()) x = torch::cat({x, grid.places.expand({points, batch, 1})}, 2);
    const Tensor weight = entry_.weight.view({c, k, x.size(2)}).permute({1, 2, 0}),
                 bias = entry_.bias.view({c, k}).t().reshape({k, 1, c});
    return torch::baddbmm(bias, x.view({points * batch, -1}).expand({k, points * batch, x.size(2)}), weight)
        .view({k, points, batch, c});
  }

  /// [k, N, B, c] to itself, or to [k, 1, B, c] at a point: what comes back there is all that is put together.
  Tensor block(Tensor x, const Block& of, const DyadicGrid& grid, std::optional<std::int64_t> point) const {
    const std::int64_t k = config_.k, c = config_.c, batch = x.size(2), row = batch * c, frequencies = grid.frequencies,
                       count = static_cast<std::int64_t>(grid.levels.size());
    std::vector<Tensor> spectra;  // of pairs
    for (const Level& level : grid.levels) {
      const Tensor pairs = x.view({2 * k, level.analysis.size(1), row});
      spectra.push_back(torch::bmm(level.analysis.expand({2 * k, -1, -1}), pairs));
      x = torch::mm(averages_, pairs.view({2 * k, -1}));
    }
    x = torch::addmm(of.coarsest.bias.unsqueeze(1), of.coarsest.weight, x.view({k, row}));
    if (count == 0) return x.view({k, 1, batch, c});

    const Tensor mixed = mix_levels(torch::stack(spectra, 2), of).view({2 * k, 2 * frequencies, count, row});
    const Tensor from_averages = averages_.t();
    for (std::int64_t index = count; index-- > 0;) {
      const Level& level = grid.levels[static_cast<std::size_t>(index)];
      // The level's points below which the point lies, and the rows of its half of the pair.
      const auto here = [&](const Tensor& synthesis) {
        if (!point) return synthesis;
        return synthesis.narrow(0, bit_reversed(*point >> (index + 1), static_cast<int>(count - 1 - index)), 1);
      };
      const auto wanted = [&](const Tensor& rows) {
        return point ? rows.slice(0, *point >> index & 1, c10::nullopt, 2) : rows;
      };
      const Tensor to = wanted(from_averages), synthesis = here(level.synthesis);
      x = plus_products(torch::mm(to, x.view({k, -1})).view({to.size(0), synthesis.size(0), row}),
                        synthesis.expand({to.size(0), -1, -1}), wanted(mixed.select(2, index)));
      x = x.view({k, -1});
    }
    return x.view({k, -1, batch, c});
  }

  /// Spectra of pairs [2k, 2·frequencies, levels, B·c], before and after the block's matrices.
  Tensor mix_levels(const Tensor& spectra, const Block& of) const {
    const std::int64_t k = config_.k, c = config_.c, frequencies = spectra.size(1) / 2;
    const Tensor pairs = spectra.view({2 * k, -1}).t();
    const auto of_level = [&](const Tensor& filter) {  // [frequencies, 2, levels·B, c·k]
      return torch::mm(pairs, filter.t()).view({frequencies, 2, -1, c * k});
    };
    const auto kept = [&](const Tensor& weights) {
      return weights.permute({2, 0, 3, 1}).reshape({config_.alpha, c * k, 2 * c * k}).narrow(0, 0, frequencies);
    };
    const Tensor averages = of_level(averages_), details = of_level(details_);
    const Tensor to_details = mix(details, kept(of.details_to_details)) + mix(averages, kept(of.averages_to_details));
    const Tensor to_averages = mix(details, kept(of.details_to_averages));
    const auto rows = [&](const Tensor& x) { return x.view({-1, k}).t(); };
    return torch::addmm(torch::mm(details_.t(), rows(to_details)), averages_.t(), rows(to_averages));
  }

  /// [k, points, B, c] to [points, B, Cout].
  Tensor head(const Tensor& x) const {
    const std::int64_t k = config_.k, c = config_.c, points = x.size(1), batch = x.size(2);
    const Tensor rows = x.permute({1, 2, 0, 3}).reshape({points * batch, k * c}),
                 weight = head0_.weight.view({head_width, c, k}).transpose(1, 2).reshape({head_width, k * c});
    const Tensor hidden = activated(torch::addmm(head0_.bias, rows, weight.t()), Activation::relu);
    return torch::addmm(head1_.bias, hidden, head1_.weight.t()).view({points, batch, config_.out_channels});
  }

  MwtConfig config_;
  Tensor averages_, details_;  ///< filters [k, 2k]
  Linear entry_, head0_, head1_;
  std::vector<Block> blocks_;
};

void read_sizes(ConfigReader& reader, MwtConfig& config) {
  config.c = reader.whole("c", config.c, {.least = 1, .most = most_channels});
  config.k = reader.whole("k", config.k, {.least = 1, .most = most_wavelets});
  config.alpha = reader.whole("alpha", config.alpha, {.least = 1, .most = most_frequencies});
  config.n_cz = reader.whole("n_cz", config.n_cz, {.least = 1, .most = most_blocks});
  config.positional_embedding = reader.choice_or_none("positional_embedding", config.positional_embedding, embeddings);
}

MwtConfig MwtConfig::parse(const networks::NetworkConfig& json) {
  ConfigReader reader(json);
  reader.choice("model", "mwt", {"mwt"});
  MwtConfig config;
  config.in_channels = reader.whole("in_channels", config.in_channels, {.least = 1, .most = most_channels});
  config.out_channels = reader.whole("out_channels", config.out_channels, {.least = 1, .most = most_channels});
  read_sizes(reader, config);
  reader.finish();
  return config;
}

MwtConfig::operator networks::NetworkConfig() const {
  nlohmann::ordered_json object = {{"model", "mwt"},
                                   {"in_channels", in_channels},
                                   {"out_channels", out_channels},
                                   {"c", c},
                                   {"k", k},
                                   {"alpha", alpha},
                                   {"n_cz", n_cz}};
  if (!knows_places()) object["positional_embedding"] = nullptr;
  return {object.dump()};
}

class MwtArchitecture final : public ArchitectureOf<Mwt, MwtConfig> {
 public:
  std::vector<int> dimensions() const override { return {1}; }

  MwtConfig fit(ConfigReader& reader, networks::NetworkSpaces spaces) const override {
    reader.require_keys({"c", "k", "alpha", "n_cz"});
    MwtConfig config{.in_channels = spaces.in_channels, .out_channels = spaces.out_channels};
    read_sizes(reader, config);
    reader.finish();
    if (spaces.dimension != 1)
      reader.reject("model=mwt", message("works on one axis; the data has ", spaces.dimension));
    return config;
  }

  networks::NetworkSettings of_the_paper() const override {
    return {.model = "mwt", .json = R"({"c": 16, "k": 4, "alpha": 10, "n_cz": 2})"};
  }
};

}  // namespace

std::unique_ptr<Architecture> mwt() { return std::make_unique<MwtArchitecture>(); }

}  // namespace opshap::operators
