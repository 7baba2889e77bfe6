#include "engines/fno_engines.hpp"

#include <utility>

#include "core/error.hpp"

namespace opshap::engines {

namespace {

class FnoCoalitionEngine final : public CoalitionEngine {
 public:
  FnoCoalitionEngine(std::shared_ptr<const FnoEngineAndSlopes> engine, std::shared_ptr<const FnoEngine::Heads> heads,
                     std::vector<FnoEngine::Subject> subjects)
      : engine_(std::move(engine)), heads_(std::move(heads)), subjects_(std::move(subjects)) {}

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    engine_->engine().values(subjects_, *heads_, coalitions, first, values);
  }
  bool has_slopes() const override { return true; }
  void slopes(std::span<const double> weights, std::span<double> slopes) const override {
    for_each(weights, slopes, &FnoSlopes::of_input);
  }
  void mean_field_slopes(std::span<const double> weights, std::span<double> slopes) const override {
    for_each(weights, slopes, &FnoSlopes::of_mean_field);
  }
  std::size_t batch() const override { return engine_->engine().batch(); }

 private:
  using Pass = void (FnoSlopes::*)(const FnoEngine::Subject&, const FnoEngine::Heads&, std::span<const double>,
                                   std::span<double>) const;

  void for_each(std::span<const double> weights, std::span<double> slopes, Pass pass) const {
    const std::size_t each = weights.size() / subjects_.size();
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      (engine_->slopes().*pass)(subjects_[i], *heads_, weights.subspan(i * each, each), slopes.subspan(i * each, each));
  }

  std::shared_ptr<const FnoEngineAndSlopes> engine_;
  std::shared_ptr<const FnoEngine::Heads> heads_;
  std::vector<FnoEngine::Subject> subjects_;
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
  std::vector<FnoEngine::Lifted> own;  // baselines of the inputs, where these have not all the same
  own.reserve(static_cast<std::size_t>(hidden.batch));
  if (hidden.batch > 1) {
    for (std::int64_t i = 0; i < hidden.batch; ++i) own.push_back(engine->engine().lifted(hidden.field(i)));
  } else if (!baseline || baseline->field != hidden.values) {
    baseline = std::make_shared<const FnoEngine::Lifted>(engine->engine().lifted(hidden.values));
    const std::lock_guard lock(mutex_);
    grids_[shown.domain.shape()].baseline = baseline;
  }
  std::vector<FnoEngine::Pair> fields;
  for (std::int64_t i = 0; i < shown.batch; ++i)
    fields.push_back({shown.field(i), own.empty() ? baseline.get() : &own[static_cast<std::size_t>(i)]});
  auto subjects = engine->engine().subjects(fields, partition.player_of, partition.players);
  return std::make_unique<FnoCoalitionEngine>(std::move(engine), std::move(heads), std::move(subjects));
}

}  // namespace opshap::engines
