#include "engines/fno_engines.hpp"

#include <utility>

#include "core/error.hpp"

namespace opshap::engines {

namespace {

class FnoCoalitionEngine final : public CoalitionEngine {
 public:
  FnoCoalitionEngine(std::shared_ptr<const FnoEngineAndSlopes> engine, std::shared_ptr<const FnoEngine::Heads> heads,
                     FnoEngine::Subject subject)
      : engine_(std::move(engine)), heads_(std::move(heads)), subject_(std::move(subject)) {}

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    engine_->engine().values(subject_, *heads_, coalitions, first, values);
  }
  bool has_slopes() const override { return true; }
  void slopes(std::span<const double> weights, std::span<double> slopes) const override {
    engine_->slopes().of_input(subject_, *heads_, weights, slopes);
  }
  void mean_field_slopes(std::span<const double> weights, std::span<double> slopes) const override {
    engine_->slopes().of_mean_field(subject_, *heads_, weights, slopes);
  }
  std::size_t batch() const override { return engine_->engine().batch(); }

 private:
  std::shared_ptr<const FnoEngineAndSlopes> engine_;
  std::shared_ptr<const FnoEngine::Heads> heads_;
  FnoEngine::Subject subject_;
};

}  // namespace

FnoEngines::FnoEngines(FnoWeights weights) : weights_(std::move(weights)), kernels_(kernels::chosen_kernels()) {
  weights_.check("engine");
}

std::unique_ptr<CoalitionEngine> FnoEngines::coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                              const Partition& partition,
                                                              const Readout& readout) const {
  require_finite(shown, "engine: input");
  require_finite(hidden, "engine: baseline");
  std::shared_ptr<const FnoEngineAndSlopes> engine;
  std::shared_ptr<const FnoEngine::Heads> heads;
  std::shared_ptr<const FnoEngine::Lifted> baseline;
  {
    const std::lock_guard lock(mutex_);
    OnGrid& grid = grids_[shown.domain.shape()];
    if (!grid.engine)
      grid.engine = std::make_shared<const FnoEngineAndSlopes>(weights_, shown.domain.shape(), kernels_);
    if (!grid.heads || grid.readout != readout) {
      grid.heads = std::make_shared<const FnoEngine::Heads>(grid.engine->engine().heads(readout));
      grid.readout = readout;
    }
    engine = grid.engine;
    heads = grid.heads;
    baseline = grid.baseline;
  }
  if (!baseline || baseline->field != hidden.values) {
    baseline = std::make_shared<const FnoEngine::Lifted>(engine->engine().lifted(hidden.values));
    const std::lock_guard lock(mutex_);
    grids_[shown.domain.shape()].baseline = baseline;
  }
  FnoEngine::Subject subject =
      engine->engine().subject(shown.values, *baseline, partition.player_of, partition.players);
  return std::make_unique<FnoCoalitionEngine>(std::move(engine), std::move(heads), std::move(subject));
}

}  // namespace opshap::engines
