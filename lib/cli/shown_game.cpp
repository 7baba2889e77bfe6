#include "cli/shown_game.hpp"

#include <algorithm>
#include <chrono>

#include "core/process.hpp"
#include "core/threads.hpp"

namespace opshap::cli {

namespace {

constexpr std::chrono::seconds patience{3};
constexpr std::size_t block = 1 << 14;  // a fraction of a second of the fastest game, a few of a slow one

class ShownGame final : public Game {
 public:
  ShownGame(const Game& game, std::int64_t most) : game_(game), progress_("game", most, "coalitions", patience) {}

  int players() const override { return game_.players(); }
  std::string path() const override { return game_.path(); }
  const DifferentiableGame* differentiable() const override { return game_.differentiable(); }
  const MeanField* mean_field() const override { return game_.mean_field(); }
  const CoalitionSlopes* slopes() const override { return game_.slopes(); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    values.reserve(coalitions.size());
    for (std::size_t first = 0; first < coalitions.size(); first += block) {
      throw_if_stopped("game");
      Coalitions part(coalitions.players());
      for (std::size_t i = first; i < std::min(first + block, coalitions.size()); ++i) part.append(coalitions.row(i));
      const std::vector<double> found = game_.values(part);
      values.insert(values.end(), found.begin(), found.end());
      progress_.advance(static_cast<std::int64_t>(found.size()));
    }
    return values;
  }

 private:
  const Game& game_;
  mutable Progress progress_;
};

}  // namespace

std::unique_ptr<Game> shown_game(const Game& game, std::int64_t most) {
  return std::make_unique<ShownGame>(game, most);
}

}  // namespace opshap::cli
