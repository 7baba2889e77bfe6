#include "peers/peer_game.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "peers/questions.hpp"

namespace opshap::peers {

namespace {

/// What a program says of its game.
class Answers {
 public:
  explicit Answers(const std::filesystem::path& folder)
      : questions_(folder, Role::game),
        players_(questions_.greeted("players", 0, Coalitions::max_players)),
        batch_(questions_.greeted("max_batch", 4096, std::numeric_limits<std::int64_t>::max())) {
    // What fits into a payload, both ways.
    const auto rows = static_cast<std::int64_t>(most_payload_bytes) / std::max<std::int64_t>(8, (players_ + 7) / 8);
    batch_ = std::min(batch_, rows);
  }

  std::string name() const { return questions_.name(); }
  int players() const { return static_cast<int>(players_); }
  bool has_gradients() const { return questions_.says("gradients"); }

  std::vector<double> values(const Coalitions& coalitions) {
    const auto lock = questions_.lock();
    std::vector<double> all(coalitions.size());
    questions_.values(coalitions, 0, static_cast<std::size_t>(batch_), all);
    return all;
  }

  std::vector<double> gradients(std::span<const double> nodes) {
    const auto lock = questions_.lock();
    std::vector<double> all;
    for (const double node : nodes) {
      const std::vector<double> found = questions_.ask(
          "grad", "gradients", {{"count", 1}}, payload_of(std::span(&node, 1)), static_cast<std::size_t>(players_));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  Questions questions_;
  std::int64_t players_, batch_;
};

class PeerGame final : public Game {
 public:
  explicit PeerGame(std::unique_ptr<Answers> answers) : answers_(std::move(answers)) {}
  int players() const override { return answers_->players(); }
  std::string path() const override { return answers_->name(); }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return answers_->values(coalitions); }

  std::unique_ptr<Answers> answers_;
};

class DifferentiablePeerGame final : public DifferentiableGame {
 public:
  explicit DifferentiablePeerGame(std::unique_ptr<Answers> answers) : answers_(std::move(answers)) {}
  int players() const override { return answers_->players(); }
  std::string path() const override { return answers_->name(); }
  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    return answers_->gradients(nodes);
  }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return answers_->values(coalitions); }

  std::unique_ptr<Answers> answers_;
};

}  // namespace

std::unique_ptr<Game> peer_game(const std::filesystem::path& folder) {
  auto answers = std::make_unique<Answers>(folder);
  if (answers->has_gradients()) return std::make_unique<DifferentiablePeerGame>(std::move(answers));
  return std::make_unique<PeerGame>(std::move(answers));
}

}  // namespace opshap::peers
