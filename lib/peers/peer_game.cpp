#include "peers/peer_game.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "peers/link.hpp"

namespace opshap::peers {

namespace {

/// The questions to the program, one after the other.
class Answers {
 public:
  explicit Answers(const std::filesystem::path& folder) : plugin_(game_plugin(folder)), link_(plugin_) {
    try {
      players_ = link_.greeting().integer("players");
      batch_ = link_.greeting().header.contains("max_batch") ? link_.greeting().integer("max_batch") : batch_;
    } catch (const Malformed& error) {
      link_.fail(Ending::protocol_error, error.what());
    }
    if (players_ < 1 || players_ > Coalitions::max_players)
      link_.fail(Ending::protocol_error,
                 message("it has ", players_, " players, 1 to ", Coalitions::max_players, " can be"));
    if (batch_ < 1) link_.fail(Ending::protocol_error, message("it takes ", batch_, " coalitions at a time"));
    // What fits into a payload, both ways.
    const auto row_bytes =
        static_cast<std::int64_t>(most_payload_bytes) / std::max<std::int64_t>(8, (players_ + 7) / 8);
    batch_ = std::min(batch_, row_bytes);
  }

  std::string name() const { return "peer:" + plugin_.name; }
  int players() const { return static_cast<int>(players_); }
  bool has_gradients() const {
    const auto found = link_.greeting().header.find("gradients");
    return found != link_.greeting().header.end() && found->is_boolean() && found->get<bool>();
  }

  std::vector<double> values(const Coalitions& coalitions) {
    std::vector<double> all;
    all.reserve(coalitions.size());
    const auto batch = static_cast<std::size_t>(batch_);
    for (std::size_t first = 0; first < coalitions.size(); first += batch) {
      const std::size_t count = std::min(batch, coalitions.size() - first);
      Coalitions part(coalitions.players());
      part.reserve(count);
      for (std::size_t row = first; row < first + count; ++row) part.append(coalitions.row(row));
      const std::vector<double> found = ask("eval", "values", count, payload_of(part), count);
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

  std::vector<double> gradients(std::span<const double> nodes) {
    std::vector<double> all;
    for (const double node : nodes) {
      const std::vector<double> found =
          ask("grad", "gradients", 1, payload_of(std::span(&node, 1)), static_cast<std::size_t>(players_));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  static Plugin game_plugin(const std::filesystem::path& folder) {
    Plugin plugin = read_plugin(folder);
    require(plugin.role == Role::game, "peer: ", plugin.name,
            " (is a method by its plugin.toml, and no game). Use --method peer:FOLDER, or write role = \"game\".");
    return plugin;
  }

  std::vector<double> ask(const char* type, const char* wanted, std::size_t count, const std::string& payload,
                          std::size_t numbers) {
    const std::lock_guard lock(mutex_);
    const std::int64_t id = ++asked_;
    link_.send(bytes_of({{"type", type}, {"id", id}, {"count", count}}, payload));
    try {
      const std::optional<Frame> reply = link_.next(after(plugin_.limits.task_seconds));
      if (!reply) link_.fail(Ending::timeout, message("no ", wanted, " within ", plugin_.limits.task_seconds, " s"));
      if (reply->integer("id") != id)
        throw Malformed("protocol",
                        message("frame: id=", reply->integer("id"), " (the question is ", id, "). Answer it."));
      if (reply->type() == "fail") link_.fail(Ending::fail, "it says: " + last_words(reply->text("reason")));
      if (reply->type() != wanted)
        throw Malformed("protocol",
                        message("frame: type=", last_words(reply->type()), " (not ", wanted, "). Correct it."));
      return reply->reals(numbers);
    } catch (const Malformed& error) {
      link_.fail(Ending::protocol_error, error.what());
    }
  }

  Plugin plugin_;
  Link link_;
  std::mutex mutex_;
  std::int64_t players_ = 0, batch_ = 4096, asked_ = 0;
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
