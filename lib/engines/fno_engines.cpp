#include "engines/fno_engines.hpp"

#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

class FnoCoalitionEngine final : public CoalitionEngine {
 public:
  FnoCoalitionEngine(std::shared_ptr<const FnoEngine> engine, std::shared_ptr<const FnoEngine::Head> head,
                     FnoEngine::Lifted lifted)
      : engine_(std::move(engine)), head_(std::move(head)), lifted_(std::move(lifted)) {}

  void values(std::span<const int> player_of, const Coalitions& coalitions, std::size_t first,
              std::span<double> values) const override {
    engine_->values(lifted_, *head_, player_of, coalitions, first, values);
  }
  std::size_t batch() const override { return engine_->batch(); }

 private:
  std::shared_ptr<const FnoEngine> engine_;
  std::shared_ptr<const FnoEngine::Head> head_;
  FnoEngine::Lifted lifted_;
};

}  // namespace

FnoEngines::FnoEngines(FnoWeights weights) : weights_(std::move(weights)), kernels_(kernels()) {
  weights_.check("engine");
}

std::unique_ptr<CoalitionEngine> FnoEngines::coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                              Query query) const {
  require_finite(shown, "engine: input");
  require_finite(hidden, "engine: baseline");
  std::shared_ptr<const FnoEngine> engine;
  std::shared_ptr<const FnoEngine::Head> head;
  {
    const std::lock_guard lock(mutex_);
    OnGrid& grid = grids_[shown.domain.shape];
    if (!grid.engine) grid.engine = std::make_shared<const FnoEngine>(weights_, shown.domain.shape, kernels_);
    if (!grid.head || grid.query.point != query.point || grid.query.channel != query.channel) {
      grid.head = std::make_shared<const FnoEngine::Head>(grid.engine->head(query));
      grid.query = query;
    }
    engine = grid.engine;
    head = grid.head;
  }
  FnoEngine::Lifted lifted = engine->lift(shown.values, hidden.values);
  return std::make_unique<FnoCoalitionEngine>(std::move(engine), std::move(head), std::move(lifted));
}

}  // namespace opshap
