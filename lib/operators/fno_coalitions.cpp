#include "operators/fno_coalitions.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "devices/cuda.hpp"
#include "engines/axis_basis.hpp"
#include "operators/batches.hpp"
#include "operators/fno_parts.hpp"
#include "operators/spectral_convolution.hpp"

namespace opshap::operators {

using torch::Tensor;

Tensor member_rows(const Tensor& words, std::int64_t players) {
  const Tensor numbers = torch::arange(players, words.options());
  return torch::bitwise_right_shift(words.index_select(1, torch::floor_divide(numbers, 64)), numbers.remainder(64))
      .bitwise_and(1)
      .to(torch::kBool);
}

Tensor words_of(const Coalitions& coalitions, std::size_t first, std::int64_t count, const torch::Device& device) {
  auto* rows = const_cast<std::uint64_t*>(coalitions.row(first).data());  // they lie one after the other
  return torch::from_blob(rows, {count, static_cast<std::int64_t>(coalitions.words_per_row())}, torch::kInt64)
      .to(device, /*non_blocking=*/false, /*copy=*/true);
}

namespace {

using Weights = FnoParts::Weights;
using Head = FnoParts::Head;
using Heads = FnoParts::Heads;
using Lifted = FnoParts::Lifted;
using Players = FnoParts::Players;
using RowLinear = FnoParts::RowLinear;

}  // namespace

/// What computes by the kernel, and how.
class FnoCoalitions::Kernel {
 public:
  Kernel(const torch::Device& device, devices::Arithmetic arithmetic, long long shared_floats)
      : arithmetic_(arithmetic), shared_floats_(shared_floats) {
    if (!device.is_cuda()) return;
    gpu_.emplace(device.has_index() ? device.index() : 0);
    shared_floats_ = gpu_->shared_floats();
  }

  long long shared_floats() const { return shared_floats_; }
  std::string path() const { return message("kernel, ", gpu_ ? "" : "emulated, ", devices::name_of(arithmetic_)); }
  void run(devices::FnoArguments of, const torch::TensorOptions& options) const {
    if (!gpu_) return devices::emulate_fno(of, arithmetic_);
    const Tensor workspace = torch::empty({gpu_->blocks() * of.workspace_of_block}, options);
    of.workspace = workspace.data_ptr<float>();
    gpu_->start(of, arithmetic_);
  }

 private:
  devices::Arithmetic arithmetic_;
  long long shared_floats_;
  std::optional<devices::CudaFno> gpu_;
};

/// The network on one grid: what does not depend on input, query and players.
class FnoCoalitions::OnGrid {
 public:
  OnGrid(std::shared_ptr<const Weights> weights, const std::vector<int>& shape, std::int64_t largest_batch,
         std::shared_ptr<const Kernel> kernel)
      : kernel_(std::move(kernel)),
        weights_(std::move(weights)),
        grid_(shape, weights_->config.domain_padding, weights_->config.domain_padding_mode == "symmetric"),
        width_(weights_->config.hidden_channels) {
    const auto& options = weights_->options;
    shape_ = {shape.size() == 1 ? 1 : shape.front(), shape.back()};
    std::vector<std::int64_t> padded, first, sizes(shape.begin(), shape.end());
    for (std::size_t axis = 2 - shape.size(); axis < 2; ++axis) {
      padded.push_back(grid_.padded(axis));
      first.push_back(grid_.before(axis));
    }
    basis_ = fourier_basis(padded, weights_->config.n_modes, options, weights_->config.inverse_shift);
    double_basis_ =
        fourier_basis(padded, weights_->config.n_modes, options.dtype(torch::kFloat64), weights_->config.inverse_shift);
    inside_.emplace(basis_->inside(first, sizes));
    for (const Weights::Block& block : weights_->blocks) mixing_.push_back(kept_weights(block.spectral, *basis_));

    std::vector<Tensor> axes;
    for (const int size : shape) axes.push_back(torch::arange(size, options.dtype(torch::kFloat64)) / size);
    positions_ = torch::stack(torch::meshgrid(axes, "ij"), -1).view({points(), static_cast<std::int64_t>(axes.size())});

    // As many as make the launches cheap beside the work, and no more than half of the free memory: five states at once
    // and the steps of the mixing.
    const auto item = static_cast<std::int64_t>(options.dtype().itemsize());
    const std::int64_t state = grid_.padded_points() * width_ * item;
    const std::int64_t worthwhile = options.device().is_cpu() ? 1 << 22 : 1 << 28;
    batch_ = worthwhile / state;
    if (const auto free = free_memory(options.device()))
      batch_ = std::min(batch_.load(), *free / 2 / (5 * state + 8 * rows() * width_ * item));
    batch_ = std::clamp<std::int64_t>(batch_, 1, largest_batch);
  }

  const torch::TensorOptions& options() const { return weights_->options; }
  std::int64_t points() const { return grid_.points(); }
  std::atomic<std::int64_t>& batch() { return batch_; }
  std::mutex& turn() { return turn_; }

  std::shared_ptr<const Heads> heads(const Readout& readout) {
    const std::lock_guard lock(heads_mutex_);
    if (!heads_ || readout_ != readout) {
      auto made = std::make_shared<Heads>();
      for (const auto& [query, weight] : readout.terms()) made->push_back(make_head(query, weight));
      heads_ = std::move(made);
      readout_ = readout;
    }
    return heads_;
  }

  /// Fields [points, inputs, Cin] in double.
  Lifted lift(const Tensor& shown, const Tensor& hidden) const {
    const Weights::Block& block = weights_->blocks.front();
    const auto lifted = [&](const Tensor& fields) {
      const Tensor places = positions_.unsqueeze(1).expand({points(), fields.size(1), positions_.size(1)});
      return weights_->lifting1(gelu_in_place(weights_->lifting0(torch::cat({fields, places}, 2).flatten(0, 1))));
    };
    const auto of_points = [&](const Tensor& rows) {
      return rows.to(options().dtype()).view({shape_[0], shape_[1], -1, width_});
    };
    const Tensor a = lifted(shown), b = lifted(hidden);
    const Tensor skip = block.skip.to(torch::kFloat64), gate = block.gate.to(torch::kFloat64);
    return {.states = {of_points(a), of_points(b)},
            .skips = {of_points(a.mm(skip)), of_points(b.mm(skip))},
            .gates = {of_points(a * gate), of_points(b * gate)}};
  }

  /// `coalitions`: how many are asked for now of each input, which tells whether a table pays.
  Players players(const std::vector<int>& player_of, std::int64_t count, std::int64_t coalitions,
                  const Lifted& lifted) {
    Players players{.count = count, .owner = torch::tensor(player_of, torch::kInt64).to(options().device())};
    if (!table_pays(count, coalitions, lifted.inputs())) return players;
    players.table = table(players, lifted);
    players.empty = by_field(coefficients(lifted.states.hidden, true)).unsqueeze(1);
    return players;
  }
  bool table_pays(std::int64_t players, std::int64_t coalitions, std::int64_t inputs) const {
    constexpr std::int64_t largest = 1 << 28;
    const std::int64_t direct = first_block_cost(), from_table = players * rows() * width_;
    return inputs * from_table * static_cast<std::int64_t>(options().dtype().itemsize()) <= largest &&
           coalitions * (direct - from_table) >= players * direct;
  }

  /// Values [rows] of coalitions [rows, words], of which each of some inputs has as many.
  Tensor values(const Tensor& words, const Players& players, const Lifted& lifted, const Heads& heads) const {
    const std::int64_t batch = words.size(0), last = static_cast<std::int64_t>(weights_->blocks.size()) - 1;
    const Tensor members = member_rows(words, players.count);
    const Tensor masks = masks_of(members, players);
    Tensor spectrum;
    if (players.table.defined()) {
      const Tensor ones = members.to(options().dtype());
      spectrum =
          lifted.inputs() == 1
              ? torch::baddbmm(by_row(players.empty), ones.expand({rows(), batch, players.count}),
                               by_row(players.table))
              : by_row(torch::baddbmm(players.empty, ones.view({lifted.inputs(), -1, players.count}), players.table));
      spectrum = spectrum.contiguous().view({basis_->frequencies(), 2, batch, width_});
    } else {
      spectrum = coefficients(lifted.states.by(masks), true);
    }
    const auto sum = [&](const auto& state) {
      Tensor values = heads.front()(spectrum, state(heads.front()));
      for (std::size_t i = 1; i < heads.size(); ++i) values.add_(heads[i](spectrum, state(heads[i])));
      return values;
    };
    if (last == 0)
      return sum([&](const Head& head) {
        const Lifted::Pair here{at_query(lifted.states.shown, head), at_query(lifted.states.hidden, head)};
        return here.by(at_query(masks, head));
      });
    Tensor x = first_block(spectrum, masks, lifted);
    for (std::int64_t index = 1; index < last; ++index) x = block(x, static_cast<std::size_t>(index));
    spectrum = basis_->transform(x);
    return sum([&](const Head& head) { return x.select(0, head.place); });
  }

  /// Whether there is a kernel, and it covers the network.
  bool in_kernel() const {
    return kernel_ != nullptr && devices::has_kernel(static_cast<int>(width_), static_cast<int>(hidden()),
                                                     static_cast<int>(weights_->blocks.size()));
  }
  /// Values [rows] of coalitions [rows, words] by it. `before`: how many coalitions come before these; each input has
  /// `each` of them. At most FnoArguments::most_heads heads.
  Tensor kernel_values(const Tensor& words, const Players& players, const Lifted& lifted, std::span<const Head> heads,
                       std::int64_t each, std::int64_t before) {
    std::vector<Tensor> kept;  // until the kernel has run, or its memory is given to another in the same stream
    const auto numbers = [&](const Tensor& of) { return kept.emplace_back(of.contiguous()).data_ptr<float>(); };
    const auto table = [&](const Lifted::Pair& pair) {
      return devices::FnoTable{.shown = numbers(in_eights(pair.shown, {3})),
                               .hidden = numbers(in_eights(pair.hidden, {3}))};
    };
    devices::FnoArguments of = kernel_arguments();
    of.count = words.size(0);
    of.each = each;
    of.before = before;
    of.words = static_cast<int>(words.size(1));
    of.inputs = static_cast<int>(lifted.inputs());
    of.baselines = static_cast<int>(lifted.states.hidden.size(2));
    of.heads = static_cast<int>(heads.size());
    of.coalitions = reinterpret_cast<const long long*>(kept.emplace_back(words.contiguous()).data_ptr<std::int64_t>());
    of.owner = kept.emplace_back(players.owner.to(torch::kInt32).contiguous()).data_ptr<int>();
    of.states = table(lifted.states);
    of.skips = table(lifted.skips);
    of.gates = table(lifted.gates);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const Head& head = heads[i];
      const std::int64_t columns = grid_.padded(1);
      of.head[i] = {.line = static_cast<int>(head.place / columns),
                    .place = static_cast<int>(head.place % columns),
                    .first = numbers(in_eights(head.first.view({rows(), width_, -1}), {1, 2})),
                    .first_here = numbers(in_eights(head.first_here, {0, 1})),
                    .first_bias = numbers(in_eights(head.first_bias, {0})),
                    .second = numbers(in_eights(head.second, {0, 1})),
                    .second_here = numbers(in_eights(head.second_here, {0, 1})),
                    .second_bias = numbers(in_eights(head.second_bias, {0})),
                    .third = numbers(in_eights(head.third, {0})),
                    .bias = numbers(head.bias)};
      of.wide = static_cast<int>(up_to_eights(head.third.size(0)));
    }
    devices::place_arrays(of, kernel_->shared_floats());
    const Tensor values = torch::empty({words.size(0)}, options());
    of.values = values.data_ptr<float>();
    kernel_->run(of, options());
    return values;
  }

 private:
  static std::int64_t up_to_eights(std::int64_t size) { return (size + 7) / 8 * 8; }
  /// With zeros at the end of these axes, up to a multiple of eight.
  static Tensor in_eights(const Tensor& of, const std::vector<std::int64_t>& axes) {
    std::vector<std::int64_t> ends(static_cast<std::size_t>(2 * of.dim()), 0);
    bool whole = true;  // then nothing is copied, as for the paper's sizes
    for (const std::int64_t axis : axes) {
      const std::int64_t more = up_to_eights(of.size(axis)) - of.size(axis);
      ends[static_cast<std::size_t>(2 * (of.dim() - 1 - axis) + 1)] = more;
      whole = whole && more == 0;
    }
    return whole ? of : torch::constant_pad_nd(of, ends);
  }
  std::int64_t hidden() const { return weights_->blocks.front().mlp0.weight.size(1); }

  /// What does not depend on the question. Made once; its tensors stay here.
  const devices::FnoArguments& kernel_arguments() {
    if (arguments_) return *arguments_;
    const auto numbers = [&](const Tensor& of) {
      return kernel_tensors_.emplace_back(of.contiguous()).data_ptr<float>();
    };
    devices::FnoArguments of = {};
    of.width = static_cast<int>(up_to_eights(width_));
    of.hidden = static_cast<int>(up_to_eights(hidden()));
    of.layers = static_cast<int>(weights_->blocks.size());
    of.lines = static_cast<int>(grid_.padded(0));
    of.line_points = static_cast<int>(grid_.padded(1));
    of.first_line = static_cast<int>(grid_.before(0));
    of.first_point = static_cast<int>(grid_.before(1));
    of.field_lines = static_cast<int>(shape_[0]);
    of.field_line_points = static_cast<int>(shape_[1]);
    of.columns = static_cast<int>(basis_->columns());
    of.rows = static_cast<int>(basis_->rows());
    of.constant = static_cast<int>(basis_->constant());
    of.analysis = numbers(basis_->analysis());
    of.synthesis = numbers(basis_->synthesis());
    if (basis_->first_analysis().defined()) {
      of.first_analysis = numbers(basis_->first_analysis());
      of.first_synthesis = numbers(basis_->first_synthesis());
    }
    for (std::size_t i = 0; i + 1 < weights_->blocks.size(); ++i) {
      const Weights::Block& block = weights_->blocks[i];
      of.layer[i] = {.mixing = numbers(in_eights(mixing_[i].view({basis_->frequencies(), width_, 2, width_}), {1, 3})),
                     .spectral_bias = numbers(in_eights(block.spectral_bias, {0})),
                     .skip = numbers(in_eights(block.skip, {0, 1})),
                     .gate = numbers(in_eights(block.gate, {0})),
                     .mlp0 = numbers(in_eights(block.mlp0.weight, {0, 1})),
                     .mlp0_bias = numbers(in_eights(block.mlp0.bias, {0})),
                     .mlp1 = numbers(in_eights(block.mlp1.weight, {0, 1})),
                     .mlp1_bias = numbers(in_eights(block.mlp1.bias, {0}))};
    }
    return arguments_.emplace(of);
  }

  std::int64_t rows() const { return 2 * basis_->frequencies(); }

  /// [axis 0, axis 1, B, 1] from members [B, players].
  Tensor masks_of(const Tensor& members, const Players& players) const {
    return members.t().index_select(0, players.owner).view({shape_[0], shape_[1], members.size(0), 1});
  }

  /// Multiplications for the first block's coefficients of one coalition, from its masked states.
  std::int64_t first_block_cost() const {
    const std::int64_t columns = 2 * basis_->columns();
    const std::int64_t transform =
        shape_[0] == 1 ? shape_[1] * columns : shape_[0] * (shape_[1] + basis_->rows() * 2) * columns;
    return width_ * (transform + (weights_->blocks.size() > 1 ? 2 * rows() * width_ : 0));
  }

  /// Coefficients [frequencies, 2, B, C] of states [axis 0, axis 1, B, C]; where there is a block before the last one,
  /// mixed by it, with its bias if it is `whole`.
  Tensor coefficients(const Tensor& states, bool whole) const {
    const Tensor spectrum = inside_->transform(states.reshape({points(), states.size(2), width_}));
    return weights_->blocks.size() > 1 ? mixed(spectrum, 0, whole) : spectrum;
  }
  Tensor mixed(const Tensor& spectrum, std::size_t index, bool whole = true) const {
    Tensor result = mix(spectrum, mixing_[index]);
    if (whole) result.select(0, basis_->constant()).select(0, 0).add_(weights_->blocks[index].spectral_bias);
    return result;
  }

  /// Coefficients [frequencies, 2, B, C] as [B, 2·frequencies·C].
  Tensor by_field(const Tensor& coefficients) const {
    return coefficients.reshape({rows(), -1, width_}).transpose(0, 1).flatten(1, 2);
  }
  /// And back, from [.., .., 2·frequencies·C] to [2·frequencies, B, C].
  Tensor by_row(const Tensor& fields) const { return fields.view({-1, rows(), width_}).transpose(0, 1); }

  /// What each player adds to the first block's coefficients, [inputs, players, 2·frequencies·C].
  Tensor table(const Players& players, const Lifted& lifted) {
    const std::int64_t inputs = lifted.inputs(), all = inputs * players.count;
    const Lifted::Pair gain{lifted.states.shown - lifted.states.hidden, torch::zeros({1, width_}, options())};
    Tensor table = torch::empty({all, rows() * width_}, options());
    const Tensor alone = torch::eye(players.count, options().dtype(torch::kBool));
    const auto compute = [&](std::int64_t first, std::int64_t count) {
      const std::int64_t some = std::max<std::int64_t>(1, count / players.count), player = first % players.count;
      const Tensor rows = alone.narrow(0, player, count / some).repeat({some, 1});
      const Tensor states = gain.of(first / players.count, some).by(masks_of(rows, players));
      table.narrow(0, first, count).copy_(by_field(coefficients(states, false)));
    };
    memory_batches("engine", all, batch_, compute, 0, players.count);
    return table.view({inputs, players.count, -1});
  }

  /// The part of x [padded points, B, C] that is not padding, [axis 0, axis 1, B, C].
  Tensor field(const Tensor& x) const {
    return x.view({grid_.padded(0), grid_.padded(1), x.size(1), width_})
        .narrow(0, grid_.before(0), shape_[0])
        .narrow(1, grid_.before(1), shape_[1]);
  }

  Tensor perceptron(const Tensor& y, const Weights::Block& block) const {
    return block.mlp1(gelu_in_place(block.mlp0(y.view({-1, width_}))));
  }

  Tensor first_block(const Tensor& spectrum, const Tensor& masks, const Lifted& lifted) const {
    Tensor y = basis_->inverse(spectrum);
    field(y).add_(lifted.skips.by(masks));
    Tensor z = perceptron(gelu_in_place(y), weights_->blocks.front()).view_as(y);
    field(z).add_(lifted.gates.by(masks));
    return gelu_in_place(z);
  }

  Tensor block(const Tensor& x, std::size_t index) const {
    const Weights::Block& block = weights_->blocks[index];
    const Tensor flat = x.view({-1, width_});
    const Tensor y = basis_->inverse(mixed(basis_->transform(x), index)).view_as(flat).addmm_(flat, block.skip);
    return gelu_in_place(perceptron(gelu_in_place(y), block).addcmul_(flat, block.gate)).view_as(x);
  }

  Head make_head(Query query, double weight) const {
    const torch::NoGradGuard no_grad;
    const Weights::Block& last = weights_->blocks.back();
    const std::int64_t place = grid_.padded_point(query.point), frequencies = basis_->frequencies();
    const auto wide = options().dtype(torch::kFloat64);
    const auto exact = [](const Tensor& numbers) { return numbers.to(torch::kFloat64); };
    const auto rounded = [&](const Tensor& numbers) { return numbers.to(options().dtype()).contiguous(); };

    // What each coefficient is at the query, Re and Im; then the mixing, (X_re + i·X_im)·(W_re + i·W_im), seen through
    // it.
    const Tensor unit = torch::eye(rows(), wide).view({frequencies, 2, rows(), 1});
    const Tensor seen = double_basis_->inverse_at(unit, place).view({frequencies, 2, 1, 1});
    const Tensor kept = exact(mixing_.back()).view({frequencies, width_, 2, width_});
    const Tensor seen_re = seen.select(1, 0), seen_im = seen.select(1, 1), w_re = kept.select(2, 0),
                 w_im = kept.select(2, 1);
    const Tensor of_re = seen_re * w_re + seen_im * w_im, of_im = seen_im * w_re - seen_re * w_im;
    const RowLinear mlp0 = last.mlp0.in(torch::kFloat64), mlp1 = last.mlp1.in(torch::kFloat64);
    const RowLinear& projection = weights_->projection0;
    return Head{.query = query,
                .place = place,
                .first = rounded(torch::stack({of_re, of_im}, 1).reshape({rows() * width_, width_}).mm(mlp0.weight)),
                .first_here = rounded(exact(last.skip).mm(mlp0.weight)),
                .first_bias = rounded(mlp0(exact(last.spectral_bias).unsqueeze(0)).squeeze(0)),
                .second = rounded(mlp1.weight.mm(projection.weight)),
                .second_here = rounded(exact(last.gate).unsqueeze(1) * projection.weight),
                .second_bias = rounded(projection(mlp1.bias.unsqueeze(0)).squeeze(0)),
                .third = rounded(weight * weights_->projection1.weight.select(1, query.channel)),
                .bias = rounded(weight * weights_->projection1.bias.narrow(0, query.channel, 1))};
  }

  /// What [axis 0, axis 1, B, C] has at the query's point, [B, C].
  Tensor at_query(const Tensor& x, const Head& head) const {
    return x.select(0, head.query.point / shape_[1]).select(0, head.query.point % shape_[1]);
  }

  std::shared_ptr<const Kernel> kernel_;
  std::optional<devices::FnoArguments> arguments_;  ///< made in somebody's turn
  std::vector<Tensor> kernel_tensors_;              ///< that they point into
  std::shared_ptr<const Weights> weights_;
  engines::PaddedGrid grid_;
  std::int64_t width_;
  std::array<std::int64_t, 2> shape_{};  ///< of the field; a line is a plane with one row
  std::shared_ptr<const FourierBasis> basis_, double_basis_;
  std::optional<FourierBasis> inside_;
  std::vector<Tensor> mixing_;  ///< kept weights of each block
  Tensor positions_;            ///< [points, axes], in double
  std::atomic<std::int64_t> batch_;
  std::mutex turn_, heads_mutex_;
  Readout readout_;
  std::shared_ptr<const Heads> heads_;
};

class FnoCoalitions::Engine final : public DeviceEngine {
 public:
  Engine(std::shared_ptr<OnGrid> grid, std::shared_ptr<const Heads> heads, Lifted lifted, Partition partition)
      : grid_(std::move(grid)),
        heads_(std::move(heads)),
        lifted_(std::move(lifted)),
        partition_(std::move(partition)) {}

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    if (values.empty()) return;
    const auto count = static_cast<std::int64_t>(values.size());
    const Tensor numbers = values_there(coalitions, first, count).to(torch::kCPU, torch::kFloat64);
    std::copy_n(numbers.data_ptr<double>(), count, values.begin());
  }

  Tensor values_there(const Coalitions& coalitions, std::size_t first, std::int64_t count) const override {
    const torch::NoGradGuard no_grad;
    const auto all = static_cast<std::int64_t>(coalitions.size()), inputs = lifted_.inputs();
    require(all % inputs == 0, "engine: coalitions=", all, " (of ", inputs,
            " inputs; each has as many). Give a multiple.");
    const std::int64_t each = all / inputs, begin = static_cast<std::int64_t>(first);
    const std::lock_guard turn(grid_->turn());
    const Tensor words = words_of(coalitions, first, count, grid_->options().device());
    if (grid_->in_kernel()) {
      prepare_players(0);
      const std::span<const Head> heads = *heads_;
      Tensor sum;
      for (std::size_t head = 0; head < heads.size(); head += devices::FnoArguments::most_heads) {
        const auto some =
            heads.subspan(head, std::min<std::size_t>(devices::FnoArguments::most_heads, heads.size() - head));
        const Tensor values = grid_->kernel_values(words, players_, lifted_, some, each, begin);
        sum = sum.defined() ? sum.add_(values) : values;
      }
      return sum;
    }
    prepare_players(std::min(count, each));
    const Tensor found = torch::empty({count}, grid_->options());
    const auto compute = [&](std::int64_t start, std::int64_t size) {
      const std::int64_t input = start / each, some = std::max<std::int64_t>(1, size / each);
      found.narrow(0, start - begin, size)
          .copy_(grid_->values(words.narrow(0, start - begin, size), players_.of(input, some), lifted_.of(input, some),
                               *heads_));
    };
    memory_batches("engine", count, grid_->batch(), compute, begin, each);
    return found;
  }

  /// Several batches of the device, so that it need not wait between them.
  std::size_t batch() const override { return static_cast<std::size_t>(8 * grid_->batch().load()); }

 private:
  /// With a table from the first call on that is large enough to pay for it.
  void prepare_players(std::int64_t coalitions) const {
    const bool ready = players_.owner.defined();
    if (ready && (players_.table.defined() || !grid_->table_pays(players_.count, coalitions, lifted_.inputs()))) return;
    players_ = grid_->players(partition_.player_of, partition_.players, coalitions, lifted_);
  }

  std::shared_ptr<OnGrid> grid_;
  std::shared_ptr<const Heads> heads_;
  Lifted lifted_;
  Partition partition_;
  mutable Players players_;  ///< changed in this engine's turn only
};

FnoCoalitions::FnoCoalitions(FnoConfig config, const torch::TensorOptions& options,
                             const std::vector<Parameter>& parameters, std::int64_t largest_batch)
    : weights_(std::make_shared<const Weights>(std::move(config), options, parameters)),
      largest_batch_(largest_batch) {}

FnoCoalitions::FnoCoalitions(FnoConfig config, const torch::TensorOptions& options,
                             const std::vector<Parameter>& parameters, devices::Arithmetic arithmetic,
                             long long shared_floats)
    : FnoCoalitions(std::move(config), options, parameters) {
  kernel_ = std::make_shared<const Kernel>(options.device(), arithmetic, shared_floats);
}

FnoCoalitions::~FnoCoalitions() = default;

std::string FnoCoalitions::path() const {
  if (kernel_ != nullptr) return kernel_->path();
  const bool single = weights_->options.dtype() == torch::kFloat32;
  return message("engine, LibTorch on ", weights_->options.device().str(), ", ", single ? "float32" : "float64");
}

std::unique_ptr<CoalitionEngine> FnoCoalitions::coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                                 const Partition& partition,
                                                                 const Readout& readout) const {
  require_finite(shown, "engine: input");
  require_finite(hidden, "engine: baseline");
  const torch::NoGradGuard no_grad;
  std::shared_ptr<OnGrid> grid;
  {
    const std::lock_guard lock(mutex_);
    auto& known = grids_[shown.domain.shape()];
    if (!known) known = std::make_shared<OnGrid>(weights_, shown.domain.shape(), largest_batch_, kernel_);
    grid = known;
  }
  const auto in_double = weights_->options.dtype(torch::kFloat64);
  Lifted lifted =
      grid->lift(to_tensor(shown, 0, shown.batch, in_double), to_tensor(hidden, 0, hidden.batch, in_double));
  auto heads = grid->heads(readout);
  return std::make_unique<Engine>(std::move(grid), std::move(heads), std::move(lifted), partition);
}

}  // namespace opshap::operators
