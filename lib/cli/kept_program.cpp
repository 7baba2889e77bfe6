#include "cli/kept_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "games/cell_mask_game.hpp"
#include "peers/frame.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

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

/// The game of the request, which has gradients where its caller says so.
class CallerGame final : public Game, public Extension {
 public:
  int players() const override { return static_cast<int>(kept->request.integer("players")); }
  std::string path() const override { return "peer:caller"; }
  const Extension* extension() const override { return kept->request.says("gradients") ? this : nullptr; }
  bool everywhere() const override { return false; }
  std::vector<double> gradients(std::span<const double> points) const override {
    std::vector<double> all;
    for (const double node : nodes_of_diagonal(path(), points, players())) {
      const std::vector<double> found =
          asked("grad", "gradients", 1, peers::payload_of(std::span(&node, 1)), static_cast<std::size_t>(players()));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    const auto batch = static_cast<std::size_t>(
        std::clamp<std::int64_t>(kept->request.integer("max_batch"), 1,
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
};

/// The words of a request, as a program gets them.
std::vector<std::string> request_words(const peers::Frame& request) {
  std::vector<std::string> words = {"opshap"};
  const nlohmann::json given = request.header.value("words", nlohmann::json());
  if (!given.is_array()) throw peers::Malformed("protocol", "frame: words (no list).");
  for (const nlohmann::json& word : given) {
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
    const auto command = std::find_if(words.begin() + 1, words.end(),
                                      [](const std::string& word) { return !word.empty() && word.front() != '-'; });
    if (command != words.end()) add(app, globals, *command);
    const int code = answer(app, globals, static_cast<int>(arguments.size()), arguments.data());
    own.pipes.send({{"type", "done"}, {"id", own.request.integer("id")}, {"code", code}});
  }
  kept = nullptr;
} catch (const peers::Malformed& error) {
  kept = nullptr;
  throw DataError(error.what());
}

namespace {

using peers::Frame;

class Server {
 public:
  explicit Server(const Operator& op) : op_(op) {}

  /// The header and the payload of the answer to a question.
  std::pair<Json, std::string> answer(const Frame& frame) {
    if (frame.type() == "apply") {
      const FieldBatch outputs = op_.apply(numbered_fields(frame, frame.integer("count")).first);
      return {{{"type", "fields"}}, peers::payload_of(outputs.values)};
    }
    if (frame.type() == "vjp") {
      const auto [fields, readout] = numbered_fields(frame, frame.integer("count"));
      Operator::Gradient found = op_.gradient_at(fields, readout);
      found.values.insert(found.values.end(), found.gradient.values.begin(), found.gradient.values.end());
      return {{{"type", "gradients"}}, peers::payload_of(found.values)};
    }
    if (frame.type() == "scenario") {
      game_ = game_of(frame);
      return {{{"type", "ready"}}, ""};
    }
    require(frame.type() == "eval" && game_ != nullptr, "operator serve: type=", frame.type(),
            " (no question, or no scenario yet). Check the host.");
    const auto count = static_cast<std::size_t>(frame.integer("count"));
    return {{{"type", "values"}},
            peers::payload_of(game_->values(peers::coalitions_of(frame.payload, game_->players(), count)))};
  }

 private:
  Domain domain_of(const Frame& frame) const {
    const auto shape = frame.header.find("shape");
    const bool known =
        shape != frame.header.end() && shape->is_array() && static_cast<int>(shape->size()) == op_.dimension() &&
        std::ranges::all_of(*shape,
                            [](const auto& size) { return size.is_number_integer() && size > 0 && size <= 1 << 24; });
    require(known, "operator serve: shape (does not have ", op_.dimension(), " sizes). Check the host.");
    return op_.domain(shape->template get<std::vector<int>>());
  }

  /// `count` fields of the payload, and what is explained.
  std::pair<FieldBatch, Readout> numbered_fields(const Frame& frame, std::int64_t count) const {
    FieldBatch fields = FieldBatch::zeros(domain_of(frame), count, op_.input_channels());
    std::vector<double> numbers = frame.reals(fields.values.size() + 3 * terms(frame));
    const Readout readout = readout_of(frame, numbers);
    numbers.resize(fields.values.size());
    fields.values = std::move(numbers);
    return {std::move(fields), readout};
  }

  static std::size_t terms(const Frame& frame) {
    return frame.header.contains("terms") ? static_cast<std::size_t>(frame.integer("terms")) : 0;
  }
  /// The terms end the numbers.
  static Readout readout_of(const Frame& frame, const std::vector<double>& numbers) {
    const std::size_t count = terms(frame);
    if (count == 0) {
      if (!frame.header.contains("point")) return {};
      return Query{.point = frame.integer("point"), .channel = static_cast<int>(frame.integer("channel"))};
    }
    std::vector<Readout::Term> terms;
    for (std::size_t at = numbers.size() - 3 * count; at < numbers.size(); at += 3)
      terms.push_back({{.point = static_cast<std::int64_t>(numbers[at]), .channel = static_cast<int>(numbers[at + 1])},
                       numbers[at + 2]});
    return Readout(terms);
  }

  std::unique_ptr<Game> game_of(const Frame& frame) const {
    Scenario scenario;
    const Domain domain = domain_of(frame);
    scenario.input = scenario.baseline = FieldBatch::zeros(domain, 1, op_.input_channels());
    const std::size_t size = scenario.input.values.size(), points = static_cast<std::size_t>(domain.points());
    const std::vector<double> numbers = frame.reals(2 * size + points + 3 * terms(frame));
    const auto begin = numbers.begin(), middle = begin + static_cast<std::ptrdiff_t>(size),
               labels = middle + static_cast<std::ptrdiff_t>(size);
    scenario.input.values.assign(begin, middle);
    scenario.baseline.values.assign(middle, labels);
    scenario.partition =
        Partition::from_labels(domain, std::vector<std::int64_t>(labels, labels + static_cast<std::ptrdiff_t>(points)));
    scenario.readout = readout_of(frame, numbers);
    return games::cell_mask_game(op_, std::move(scenario));
  }

  const Operator& op_;
  std::unique_ptr<Game> game_;
};

}  // namespace

void serve_operator(const Operator& op) {
  peers::OwnPipes pipes;
  const char* name = std::getenv("OPSHAP_PEER_NAME");
  pipes.send({{"type", "hello"},
              {"protocol", 1},
              {"name", name == nullptr ? "archive" : name},
              {"role", "operator"},
              {"dimension", op.dimension()},
              {"input_channels", op.input_channels()},
              {"output_channels", op.output_channels()},
              {"gradients", true},
              {"targets", true}});
  Server server(op);
  for (std::optional<Frame> frame; (frame = pipes.next()) && frame->type() != "bye";) {
    std::pair<Json, std::string> found;
    try {
      found = server.answer(*frame);
    } catch (const Error& error) {
      found = {{{"type", "fail"}, {"reason", error.what()}}, ""};
    }
    found.first["id"] = frame->integer("id");
    pipes.send(std::move(found.first), found.second);
  }
}

}  // namespace opshap::cli
