#include "peers/conversation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"

namespace opshap::peers {

namespace {

using Json = nlohmann::ordered_json;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Launch launch_of(const Plugin& plugin) {
  constexpr double gib = 1 << 30;
  return {.folder = plugin.folder,
          .command = plugin.command,
          .environment = environment_of(plugin),
          .memory_bytes = static_cast<std::uint64_t>(plugin.limits.memory_gib * gib)};
}

std::vector<std::string> words_of(const std::vector<Need>& needs) {
  std::vector<std::string> words;
  for (const Need need : needs) words.emplace_back(to_string(need));
  return words;
}

/// Budgets at which a partial result is worth sending: powers of two, and the budget.
std::vector<std::int64_t> checkpoints(std::int64_t budget) {
  std::vector<std::int64_t> all;
  for (std::int64_t at = 4; at < budget && at <= budget / 2 + 1; at *= 2) all.push_back(at);
  all.push_back(budget);
  return all;
}

Json json_of(const Task& task, std::int64_t id, const Plugin& plugin) {
  Json header = {{"type", "task"},
                 {"id", id},
                 {"n", task.players},
                 {"budget", task.budget},
                 {"seed", task.seed >> 11},
                 {"v_empty", task.empty},
                 {"v_full", task.grand},
                 {"kind", "shapley"},
                 {"threads", plugin.threads},
                 {"soft_deadline_s", plugin.limits.task_seconds},
                 {"checkpoints", checkpoints(task.budget)},
                 {"parameters", Json::parse(plugin.parameters)}};
  constexpr std::size_t most_volumes = 16384;  // in a header of a mebibyte
  if (!task.volumes.empty() && task.volumes.size() <= most_volumes) header["volumes"] = task.volumes;
  return header;
}

/// The last line of a log that says something, for messages.
std::string last_words(const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "";
  const std::size_t begin = log.rfind('\n', end) + 1;  // npos + 1 is 0
  std::string line = log.substr(begin, end - begin + 1);
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  constexpr std::size_t most = 200;
  return line.substr(0, most);
}

bool tells_of_memory(const std::string& log) {
  return log.find("MemoryError") != std::string::npos || log.find("bad_alloc") != std::string::npos ||
         log.find("annot allocate") != std::string::npos;
}

const char* advice(Ending ending) {
  switch (ending) {
    case Ending::fail:
    case Ending::budget_refused:
      return "Raise the budget, or correct the peer.";
    case Ending::timeout:
      return "Raise limits.seconds in plugin.toml, or make it faster.";
    case Ending::oom:
      return "Raise limits.memory_gib in plugin.toml, or make it smaller.";
    default:
      return "`opshap peer check FOLDER` says more.";
  }
}

}  // namespace

/// What is known of a task while it runs.
struct Conversation::Work {
  const Task& task;
  const Doors& doors;
  std::int64_t id;
  Answer answer = {};
  std::unordered_set<std::string> known = {};  ///< coalitions that were charged
  std::vector<double> partial = {};            ///< the last one
  std::optional<Clock::time_point> hard = {};  ///< when the peer must have stopped, once it was asked to
  bool done = false;
  Clock::time_point start = Clock::now();
  double game_seconds = 0;

  /// All that is not the game's is the peer's time, and so is what its frames cost us: a flood of them ends too.
  double peer_seconds() const { return since(start) - game_seconds; }
  /// What a door gives, and its time.
  template <typename Door, typename Question>
  std::vector<double> ask(const Door& door, const Question& question) {
    const Clock::time_point begin = Clock::now();
    std::vector<double> found = door(question);
    game_seconds += since(begin);
    return found;
  }
};

Conversation::Conversation(const Plugin& plugin) : plugin_(plugin), process_(launch_of(plugin)) { greet(); }

Conversation::~Conversation() {
  try {
    std::string ignored;
    constexpr double short_while = 0.05;
    process_.write(bytes_of({{"type", "bye"}}), ignored, after(short_while));
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
  } catch (const Error&) {  // a signal to this program: the process is killed with its object
  }
}

void Conversation::fail(Ending ending, const std::string& why) {
  std::string how = why;
  if (ending == Ending::crash) {
    // Its pipe is closed, so it is ending or of no more use.
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
    if (process_.killed_by_others() || tells_of_memory(process_.log())) ending = Ending::oom;
    how += ", " + process_.how_it_ended();
  }
  const std::string words = last_words(process_.log());
  throw Failure(ending, message("peer: ", plugin_.name, "=", to_string(ending), " (", how,
                                words.empty() ? "" : "; it printed: " + words, "). ", advice(ending)));
}

void Conversation::send(std::string_view bytes) {
  std::string arrived;
  const Process::Event event = process_.write(bytes, arrived, after(plugin_.limits.task_seconds));
  reader_.feed(arrived);
  if (event == Process::Event::late) fail(Ending::timeout, "it does not read what it is sent");
  if (event == Process::Event::closed) fail(Ending::crash, "it does not read any more");
}

void Conversation::greet() {
  const Clock::time_point deadline = after(plugin_.limits.start_seconds);
  std::optional<Frame> frame;
  try {
    while (!(frame = reader_.next())) {
      std::string arrived;
      const Process::Event event = process_.read(arrived, deadline);
      reader_.feed(arrived);
      if (event == Process::Event::late)
        fail(Ending::timeout, message("no greeting within ", plugin_.limits.start_seconds, " s"));
      if (event == Process::Event::closed) fail(Ending::crash, "it ended before its greeting");
    }
    if (frame->type() != "hello") fail(Ending::protocol_error, "its first frame is not hello but " + frame->type());
    if (frame->integer("protocol") != 1) {
      send(bytes_of({{"type", "error"}, {"code", "version"}, {"detail", "this host speaks opshap-peer/1"}}));
      fail(Ending::protocol_error, message("it speaks protocol ", frame->integer("protocol"), ", this is 1"));
    }
  } catch (const Malformed& error) {
    fail(Ending::protocol_error, error.what());
  }
  if (frame->text("name") != plugin_.name)
    fail(Ending::protocol_error, "its name is " + frame->text("name") + ", in plugin.toml it is " + plugin_.name);
  const auto needs = frame->header.find("needs");
  if (needs == frame->header.end() || *needs != nlohmann::json(words_of(plugin_.needs)))
    fail(Ending::protocol_error, message("it needs ", needs == frame->header.end() ? "nothing" : needs->dump(),
                                         ", in plugin.toml ", nlohmann::json(words_of(plugin_.needs)).dump()));
}

Frame Conversation::next(Work& work) {
  const double allowed = plugin_.limits.task_seconds;
  for (;;) {
    if (!work.hard && work.peer_seconds() > allowed) {
      send(bytes_of({{"type", "stop"}, {"id", work.id}, {"why", "soft_deadline"}}));
      work.hard = after(plugin_.limits.grace_seconds);
    }
    if (work.hard && Clock::now() > *work.hard)
      fail(Ending::timeout, message("no result within ", allowed, " s of its own time, nor within ",
                                    plugin_.limits.grace_seconds, " s after the request to stop"));
    if (std::optional<Frame> frame = reader_.next()) return std::move(*frame);
    std::string arrived;
    // A moment longer, so that the time is over when the wait is.
    const Process::Event event =
        process_.read(arrived, work.hard ? *work.hard : after(allowed - work.peer_seconds() + 1e-3));
    reader_.feed(arrived);
    if (event == Process::Event::closed) fail(Ending::crash, "it ended in the middle of a task");
  }
}

void Conversation::evaluate(const Frame& frame, Work& work) {
  if (std::find(plugin_.needs.begin(), plugin_.needs.end(), Need::values) == plugin_.needs.end())
    throw Malformed("protocol", "frame: type=eval (needs in plugin.toml does not name values). Add it there.");
  const std::int64_t count = frame.integer("count");
  if (count < 0) throw Malformed("range", message("frame: count=", count, " (is negative). Correct the frame."));
  const Coalitions asked = coalitions_of(frame.payload, work.task.players, static_cast<std::size_t>(count));
  const std::size_t row_bytes = (static_cast<std::size_t>(work.task.players) + 7) / 8;
  std::vector<std::string> fresh;
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < asked.size(); ++row) {
    const std::string_view bits = std::string_view(frame.payload).substr(row * row_bytes, row_bytes);
    if (seen.insert(bits).second && !work.known.contains(std::string(bits))) fresh.emplace_back(bits);
  }
  const auto charged = static_cast<std::int64_t>(fresh.size());
  const std::int64_t left = work.task.budget - work.answer.distinct;
  if (charged > left) {
    ++work.answer.refused;
    send(bytes_of({{"type", "error"},
                   {"id", work.id},
                   {"code", "budget"},
                   {"detail", message(charged, " new coalitions asked for, ", left, " left")}}));
    return;
  }
  const std::vector<double> values = work.ask(work.doors.values, asked);
  work.known.insert(fresh.begin(), fresh.end());
  work.answer.distinct += charged;
  work.answer.rows += count;
  send(bytes_of({{"type", "values"}, {"id", work.id}, {"count", count}, {"charged", charged}, {"left", left - charged}},
                payload_of(values)));
}

void Conversation::differentiate(const Frame& frame, Work& work) {
  if (std::find(plugin_.needs.begin(), plugin_.needs.end(), Need::gradients) == plugin_.needs.end())
    throw Malformed("protocol", "frame: type=grad (needs in plugin.toml does not name gradients). Add it there.");
  const std::int64_t count = frame.integer("count");
  if (count < 0) throw Malformed("range", message("frame: count=", count, " (is negative). Correct the frame."));
  const std::vector<double> nodes = frame.reals(static_cast<std::size_t>(count));
  for (const double node : nodes) {
    if (!(node >= 0 && node <= 1))
      throw Malformed("range", message("frame: node=", node, " (the diagonal goes from 0 to 1). Correct the frame."));
  }
  require(work.doors.gradients != nullptr, "peer: gradients=none (the host gives values only). Use another game.");
  const std::vector<double> gradients = work.ask(work.doors.gradients, std::span<const double>(nodes));
  send(bytes_of({{"type", "gradients"}, {"id", work.id}, {"count", count}}, payload_of(gradients)));
}

void Conversation::finish(const Frame& frame, Work& work) {
  const auto players = static_cast<std::size_t>(work.task.players);
  const auto more = frame.header.find("standard_errors");
  const bool with_errors = more != frame.header.end() && more->is_boolean() && more->get<bool>();
  const std::size_t wanted = with_errors ? 2 * players : players;
  if (frame.payload.size() != wanted * sizeof(double))
    fail(Ending::invalid, message("its result has ", frame.payload.size(), " bytes, ", wanted, " float64 are wanted"));
  std::vector<double> values = frame.reals(wanted);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      fail(Ending::invalid, message(i < players ? "value" : "standard error", " ", i % players, " is ", values[i]));
  }
  if (with_errors)
    work.answer.standard_errors.emplace(values.begin() + static_cast<std::ptrdiff_t>(players), values.end());
  values.resize(players);
  work.answer.values = std::move(values);
  work.done = true;
}

void Conversation::answer(const Frame& frame, Work& work) {
  const std::string type = frame.type();
  if (frame.integer("id") != work.id)
    throw Malformed("protocol", message("frame: id=", frame.integer("id"), " (the task is ", work.id,
                                        "). Answer the task that runs."));
  if (type == "result") {
    finish(frame, work);
  } else if (type == "fail") {
    fail(work.answer.refused > 0 ? Ending::budget_refused : Ending::fail,
         "it says: " + last_words(frame.text("reason")));
  } else if (type == "partial") {
    std::vector<double> values = frame.reals(static_cast<std::size_t>(work.task.players));
    ++work.answer.partials;
    if (std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
      work.partial = std::move(values);
  } else if (type != "eval" && type != "grad") {
    throw Malformed("protocol",
                    message("frame: type=", last_words(type), " (not one that a peer sends during a task). ",
                            "Send eval, grad, partial, result or fail."));
  } else if (!work.hard) {  // who was told to stop gets no more values
    type == "eval" ? evaluate(frame, work) : differentiate(frame, work);
  }
}

Answer Conversation::solve(std::int64_t id, const Task& task, const Doors& doors) {
  Work work{.task = task, .doors = doors, .id = id};
  Coalitions ends(task.players);
  ends.append_empty();
  ends.append_grand();
  const std::string bits = payload_of(ends);
  work.known = {bits.substr(0, bits.size() / 2), bits.substr(bits.size() / 2)};
  send(bytes_of(json_of(task, id, plugin_)));
  try {
    while (!work.done) answer(next(work), work);
  } catch (const Malformed& error) {
    try {
      send(bytes_of({{"type", "error"}, {"id", id}, {"code", error.code()}, {"detail", error.what()}}));
    } catch (const Failure&) {  // what counts is why
    }
    fail(Ending::protocol_error, error.what());
  } catch (const Failure& failure) {
    if (failure.ending() != Ending::timeout || work.partial.empty()) throw;
    work.answer.values = std::move(work.partial);
    work.answer.ending = Ending::soft_timeout;
  }
  if (work.hard) work.answer.ending = Ending::soft_timeout;
  work.answer.peer_seconds = work.peer_seconds();
  return std::move(work.answer);
}

}  // namespace opshap::peers
