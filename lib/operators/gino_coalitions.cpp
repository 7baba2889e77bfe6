#include "operators/gino_coalitions.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "operators/parallel_chunks.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

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
      for (std::int64_t from = 0; from < size; from += together_) {
        const Tensor some = latent.narrow(1, from, std::min(together_, size - from)).contiguous();
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
  std::int64_t together_, channels_ = 0;
  Tensor empty_;   ///< the latent grid of the empty coalition, [latent points · channels, 1]
  Tensor change_;  ///< what each player changes there when shown, sparse [latent points · channels, players]
};

}  // namespace

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
