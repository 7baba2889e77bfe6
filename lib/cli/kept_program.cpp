#include "cli/kept_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "peers/frame.hpp"

namespace opshap::cli {

namespace {

/// The pipes of this process, and the request that it works on.
struct Kept {
  peers::OwnPipes pipes;
  peers::Frame request;
};
Kept* kept = nullptr;

/// Answers to a question about the caller's game. Threads wait for each other.
std::vector<double> asked(const char* type, const char* wanted, std::size_t count, const std::string& payload,
                          std::size_t numbers) {
  static std::mutex mutex;
  const std::lock_guard turn(mutex);
  try {
    kept->pipes.send({{"type", type}, {"id", 1}, {"count", count}}, payload);
    const auto reply = kept->pipes.next();
    if (reply && reply->type() == wanted) return reply->reals(numbers);
    throw peers::Failure(peers::Ending::fail,
                         reply ? "caller: " + reply->text("reason") : "caller: pipe (is closed). Call again.");
  } catch (const peers::Malformed& error) {
    throw peers::Failure(peers::Ending::protocol_error, error.what());
  }
}

int players_of(const peers::Frame& request) { return static_cast<int>(request.integer("players")); }

std::vector<double> coalition_values(const Coalitions& coalitions) {
  const auto batch =
      static_cast<std::size_t>(std::clamp<std::int64_t>(kept->request.integer("max_batch"), 1,
                                                        static_cast<std::int64_t>(peers::most_payload_bytes) /
                                                            std::max<std::int64_t>(8, (coalitions.players() + 7) / 8)));
  std::vector<double> values;
  for (std::size_t first = 0; first < coalitions.size(); first += batch) {
    const std::size_t count = std::min(batch, coalitions.size() - first);
    Coalitions part(coalitions.players());
    part.reserve(count);
    for (std::size_t row = first; row < first + count; ++row) part.append(coalitions.row(row));
    const std::vector<double> found = asked("eval", "values", count, peers::payload_of(part), count);
    values.insert(values.end(), found.begin(), found.end());
  }
  return values;
}

constexpr const char* caller_path = "peer:caller";

class CallerGame final : public Game {
 public:
  int players() const override { return players_of(kept->request); }
  std::string path() const override { return caller_path; }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return coalition_values(coalitions); }
};

class DifferentiableCallerGame final : public DifferentiableGame {
 public:
  int players() const override { return players_of(kept->request); }
  std::string path() const override { return caller_path; }
  std::vector<double> diagonal_gradients(std::span<const double> nodes) const override {
    std::vector<double> all;
    for (const double node : nodes) {
      const std::vector<double> found =
          asked("grad", "gradients", 1, peers::payload_of(std::span(&node, 1)), static_cast<std::size_t>(players()));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override { return coalition_values(coalitions); }
};

/// The words of a request, as a program gets them.
std::vector<std::string> request_words(const peers::Frame& request) {
  std::vector<std::string> words = {"opshap"};
  const auto given = request.header.find("words");
  if (given == request.header.end() || !given->is_array())
    throw peers::Malformed("protocol", "frame: words (no list).");
  for (const auto& word : *given) {
    if (!word.is_string()) throw peers::Malformed("protocol", "frame: words (one is no text).");
    words.push_back(word.get<std::string>());
  }
  return words;
}

}  // namespace

bool is_kept() { return kept != nullptr; }

std::unique_ptr<Game> caller_game() {
  require(is_kept() && kept->request.header.contains("players"),
          "opshap: --game=caller (nobody has called with a game). Give a file, a family or peer:FOLDER.");
  if (kept->request.says("gradients")) return std::make_unique<DifferentiableCallerGame>();
  return std::make_unique<CallerGame>();
}

void serve(const std::function<void(CLI::App&, Globals&, const std::string&)>& add) try {
  Kept own;
  kept = &own;
  const int usual_threads = threads();
  std::error_code unknown;  // a folder that is gone leaves relative paths where they were
  own.pipes.send({{"type", "hello"}, {"protocol", 1}, {"name", "opshap"}, {"role", "server"}});
  while (auto frame = own.pipes.next()) {
    if (frame->type() == "bye") break;
    own.request = std::move(*frame);
    std::vector<std::string> words = request_words(own.request);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    if (own.request.header.contains("folder")) std::filesystem::current_path(own.request.text("folder"), unknown);
    set_threads(usual_threads);
    set_verbosity(Verbosity::normal);
    Globals globals;
    CLI::App app("", "opshap");
    add_globals(app, globals);
    for (const std::string& word : words) {
      if (word.empty() || word.front() == '-' || &word == &words.front()) continue;
      add(app, globals, word);
      break;
    }
    const int code = answer(app, globals, static_cast<int>(arguments.size()), arguments.data());
    own.pipes.send({{"type", "done"}, {"id", own.request.integer("id")}, {"code", code}});
  }
  kept = nullptr;
} catch (const peers::Malformed& error) {
  kept = nullptr;
  throw DataError(error.what());
}

}  // namespace opshap::cli
