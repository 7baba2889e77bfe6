#include "peers/peer_game.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace opshap::peers {

Plugin plugin_of(const std::filesystem::path& folder, Role role) {
  Plugin plugin = read_plugin(folder);
  const std::string is = to_string(plugin.role), wanted = to_string(role);
  const std::string option = plugin.role == Role::estimator ? "method" : is;
  require(plugin.role == role, "peer: ", plugin.name, " (is ", plugin.role == Role::game ? "a " : "an ", is,
          " by its plugin.toml, and no ", wanted, "). Use --", option, " peer:FOLDER, or write role = \"", wanted,
          "\".");
  return plugin;
}

std::string Questions::version() const {
  const std::string told = link_.greeting().text("version");
  return told.empty() ? plugin_.version : told;
}

std::int64_t Questions::greeted(std::string_view key, std::int64_t otherwise, std::int64_t most) {
  std::int64_t number = otherwise;
  try {
    if (link_.greeting().header.contains(key)) number = link_.greeting().integer(key);
  } catch (const Malformed& error) {
    link_.fail(Ending::protocol_error, error.what());
  }
  if (number < 1 || number > most) {
    const bool bounded = most < std::numeric_limits<std::int64_t>::max();
    link_.fail(Ending::protocol_error, "it greets with ", key, "=", number, ", 1 ",
               bounded ? message("to ", most) : "or more", " can be");
  }
  return number;
}

std::vector<double> Questions::ask(const char* type, const char* wanted, const nlohmann::ordered_json& keys,
                                   std::string_view payload, std::size_t numbers) {
  const std::int64_t id = ++asked_;
  nlohmann::ordered_json header = {{"type", type}, {"id", id}};
  header.update(keys);
  link_.send(bytes_of(std::move(header), payload));
  try {
    const std::optional<Frame> reply = link_.next(after(plugin_.limits.task_seconds));
    if (!reply) link_.fail(Ending::timeout, "no ", wanted, " within ", plugin_.limits.task_seconds, " s");
    if (reply->integer("id") != id)
      throw Malformed("protocol", "frame: id=", reply->integer("id"), " (the question is ", id, "). Answer it.");
    if (reply->type() == "fail") link_.fail(Ending::fail, "it says: " + last_words(reply->text("reason")));
    if (reply->type() != wanted)
      throw Malformed("protocol", "frame: type=", last_words(reply->type()), " (not ", wanted, "). Correct it.");
    return reply->reals(numbers);
  } catch (const Malformed& error) {
    link_.fail(Ending::protocol_error, error.what());
  }
}

void Questions::values(const Coalitions& coalitions, std::size_t first, std::size_t batch, std::span<double> values) {
  for (std::size_t done = 0; done < values.size(); done += batch) {
    const std::size_t count = std::min(batch, values.size() - done);
    Coalitions part(coalitions.players());
    part.reserve(count);
    for (std::size_t row = 0; row < count; ++row) part.append(coalitions.row(first + done + row));
    const std::vector<double> found = ask("eval", "values", {{"count", count}}, payload_of(part), count);
    std::ranges::copy(found, values.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

namespace {

class PeerGame final : public Game, public Extension {
 public:
  explicit PeerGame(const std::filesystem::path& folder)
      : questions_(plugin_of(folder, Role::game)),
        players_(questions_.greeted("players", 0, Coalitions::max_players)),
        batch_(questions_.greeted("max_batch", 4096, std::numeric_limits<std::int64_t>::max())) {
    // What fits into a payload, both ways.
    const auto rows = static_cast<std::int64_t>(most_payload_bytes) / std::max<std::int64_t>(8, (players_ + 7) / 8);
    batch_ = std::min(batch_, rows);
  }

  int players() const override { return static_cast<int>(players_); }
  std::string path() const override { return questions_.name(); }
  const Extension* extension() const override { return questions_.says("gradients") ? this : nullptr; }

  bool everywhere() const override { return false; }
  std::vector<double> gradients(std::span<const double> points) const override {
    const auto lock = questions_.lock();
    std::vector<double> all;
    for (const double node : nodes_of_diagonal(path(), points, players())) {
      const std::vector<double> found = questions_.ask(
          "grad", "gradients", {{"count", 1}}, payload_of(std::span(&node, 1)), static_cast<std::size_t>(players_));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    const auto lock = questions_.lock();
    std::vector<double> all(coalitions.size());
    questions_.values(coalitions, 0, static_cast<std::size_t>(batch_), all);
    return all;
  }

  mutable Questions questions_;
  std::int64_t players_, batch_;
};

}  // namespace

std::unique_ptr<Game> peer_game(const std::filesystem::path& folder) { return std::make_unique<PeerGame>(folder); }

}  // namespace opshap::peers
