#include "peers/conversation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace opshap::peers {

namespace {

/// Of a greeting, which may hold anything in their place.
std::string needs_in_words(const nlohmann::json& greeting) {
  const auto needs = greeting.find("needs");
  if (needs == greeting.end()) return "nothing";
  if (!needs->is_array()) return std::string("what is no list but ") + needs->type_name();
  std::string words;
  for (const nlohmann::json& need : *needs)
    words += (words.empty() ? "" : ", ") + (need.is_string() ? need.get<std::string>() : need.type_name());
  return words.empty() ? "an empty list" : last_words(words);
}

bool tells_of_memory(const std::string& log) {
  return log.find("MemoryError") != std::string::npos || log.find("bad_alloc") != std::string::npos ||
         log.find("annot allocate") != std::string::npos;
}

/// The innermost line of the peer's own files in a traceback of Python at the end of `log`, as "file:line: ". Empty
/// where the log ends otherwise.
std::string failing_line(std::string_view log, const std::filesystem::path& folder) {
  constexpr std::string_view mark = "  File \"", line = "\", line ";
  const std::string own = std::filesystem::weakly_canonical(folder).string() + "/";
  std::size_t end = log.find_last_not_of(" \r\n\t");
  for (bool last = true; end != std::string_view::npos && end > 0; last = false) {
    const std::size_t before = log.rfind('\n', end), begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view text = log.substr(begin, end - begin + 1);
    if (!last && !text.starts_with("  ")) return "";  // the traceback's head, or no traceback
    const std::size_t number = text.find(line);
    if (text.starts_with(mark) && text.substr(mark.size()).starts_with(own) && number != std::string_view::npos &&
        text.find("/opshap_peer/") == std::string_view::npos) {
      const std::string_view digits = text.substr(number + line.size());
      return message(text.substr(mark.size() + own.size(), number - mark.size() - own.size()), ":",
                     digits.substr(0, digits.find_first_not_of("0123456789")), ": ");
    }
    end = begin < 2 ? std::string_view::npos : begin - 2;
  }
  return "";
}

/// What the process printed last, for a message that says `how` already: nothing where it is the same again.
std::string printed(const std::string& log, const std::string& how, const std::filesystem::path& folder) {
  const std::string words = last_words(log);
  constexpr std::size_t compared = 100;  // both may have been cut, at different places
  if (words.empty() || how.find(words.substr(0, compared)) != std::string::npos) return "";
  return "; it printed: " + failing_line(log, folder) + words;
}

const char* advice(Ending ending) {
  static const std::map<Ending, const char*> known = {
      {Ending::fail, "Correct the peer; what it refuses on purpose is no failure."},
      {Ending::refused, "Give another budget or another game."},
      {Ending::budget_refused, "Raise the budget, or correct the peer."},
      {Ending::timeout, "Raise limits.seconds (or start_seconds) in plugin.toml, or make it faster."},
      {Ending::oom, "Raise limits.memory_gib in plugin.toml, or make it smaller."},
      {Ending::crash, "Correct the program, or the command in plugin.toml that starts it."}};
  const auto found = known.find(ending);
  return found != known.end() ? found->second : "`opshap peer check FOLDER` says more.";
}

}  // namespace

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string last_words(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end) + 1;  // npos + 1 is 0
  std::string line = text.substr(begin, end - begin + 1);
  std::ranges::replace_if(
      line, [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
  constexpr std::size_t most = 200;
  // What is no UTF-8, and a letter that the cut has split, becomes U+FFFD: the text goes into rows and JSON.
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(line.substr(0, most)).dump(-1, ' ', false, replace));
}

Link::~Link() {
  try {
    std::string ignored;
    constexpr double short_while = 0.05;
    process_.write(bytes_of({{"type", "bye"}}), ignored, after(short_while));
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
  } catch (const Error&) {  // a signal to this program: the process is killed with its object
  }
}

void Link::fail_with(Ending ending, std::string how) {
  if (ending == Ending::crash) {
    // Its pipe is closed, so it is ending or of no more use.
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
    if (process_.killed_by_others() || tells_of_memory(process_.log())) ending = Ending::oom;
    how += ", " + process_.how_it_ended();
  }
  throw Failure(ending, "peer: ", plugin_.name, "=", to_string(ending), " (", how,
                printed(process_.log(), how, plugin_.folder), "). ", advice(ending));
}

void Link::send(std::string_view bytes) {
  std::string arrived;
  const Process::Event event = process_.write(bytes, arrived, after(plugin_.limits.task_seconds));
  reader_.feed(arrived);
  if (event == Process::Event::late) fail(Ending::timeout, "it does not read what it is sent");
  if (event == Process::Event::closed) fail(Ending::crash, "it does not read any more");
}

std::optional<Frame> Link::next(Clock::time_point deadline) {
  for (;;) {
    if (std::optional<Frame> frame = reader_.next()) return frame;
    std::string arrived;
    const Process::Event event = process_.read(arrived, deadline);
    reader_.feed(arrived);
    if (event == Process::Event::closed) fail(Ending::crash, "it has ended or closed its pipe");
    if (event == Process::Event::late) return std::nullopt;
  }
}

void Link::check_greeting() {
  try {
    std::optional<Frame> frame = next(after(plugin_.limits.start_seconds));
    if (!frame) fail(Ending::timeout, "no greeting within ", plugin_.limits.start_seconds, " s");
    greeting_ = std::move(*frame);
    if (greeting_.type() != "hello")
      fail(Ending::protocol_error, "its first frame is not hello but ", last_words(greeting_.type()));
    if (greeting_.integer("protocol") != 1) {
      send(bytes_of({{"type", "error"}, {"code", "version"}, {"detail", "this host speaks opshap-peer/1"}}));
      fail(Ending::protocol_error, "it speaks protocol ", greeting_.integer("protocol"), ", this is 1");
    }
  } catch (const Malformed& error) {
    fail(Ending::protocol_error, error.what());
  }
  if (greeting_.text("name") != plugin_.name)
    fail(Ending::protocol_error, "its name is ", last_words(greeting_.text("name")), ", in plugin.toml it is ",
         plugin_.name);
  nlohmann::json wanted = nlohmann::json::array();
  for (const Need need : plugin_.needs) wanted.push_back(to_string(need));
  const auto needs = greeting_.header.find("needs");
  if (plugin_.role == Role::estimator && (needs == greeting_.header.end() || *needs != wanted))
    fail(Ending::protocol_error, "it needs ", needs_in_words(greeting_.header), ", in plugin.toml ", wanted.dump());
  const std::string role = greeting_.text("role");
  if ((role.empty() ? "estimator" : role) != to_string(plugin_.role))
    fail(Ending::protocol_error, "its role is ", last_words(role), ", in plugin.toml it is ", to_string(plugin_.role));
}

using Json = nlohmann::ordered_json;

namespace {

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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

/// The key "count". Throws Malformed for a count whose answer, of `numbers` each, would be no frame.
std::int64_t count_of(const Frame& frame, int numbers) {
  const std::int64_t count = frame.integer("count");
  const auto most = static_cast<std::int64_t>(most_payload_bytes / sizeof(double)) / numbers;
  if (count < 0 || count > most)
    throw Malformed("range", "frame: count=", count, " (0 to ", most, " can be answered). Ask for fewer.");
  return count;
}

/// A task while it runs, and what is known of it.
struct Work {
  Link& link;
  const Task& task;
  const Doors& doors;
  std::int64_t id;
  Answer found = {};
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
    std::vector<double> given = door(question);
    game_seconds += since(begin);
    return given;
  }

  /// The next frame. Asks the peer to stop when its time is over. Throws Failure(timeout), Failure(crash), Malformed.
  Frame next() {
    const Limits& limits = link.plugin().limits;
    for (;;) {
      if (!hard && peer_seconds() > limits.task_seconds) {
        link.send(bytes_of({{"type", "stop"}, {"id", id}, {"why", "soft_deadline"}}));
        hard = after(limits.grace_seconds);
      }
      if (hard && Clock::now() > *hard)
        link.fail(Ending::timeout, "no result within ", limits.task_seconds, " s of its own time, nor within ",
                  limits.grace_seconds, " s after the request to stop");
      // A moment longer, so that the time is over when the wait is.
      const double left = limits.task_seconds - peer_seconds() + 1e-3;
      if (std::optional<Frame> frame = link.next(hard ? *hard : after(left))) return std::move(*frame);
    }
  }

  void evaluate(const Frame& frame) {
    const std::int64_t count = count_of(frame, 1);
    const Coalitions asked = coalitions_of(frame.payload, task.players, static_cast<std::size_t>(count));
    const std::size_t row_bytes = (static_cast<std::size_t>(task.players) + 7) / 8;
    std::vector<std::string> fresh;
    std::unordered_set<std::string_view> seen;
    for (std::size_t row = 0; row < asked.size(); ++row) {
      const std::string_view bits = std::string_view(frame.payload).substr(row * row_bytes, row_bytes);
      if (seen.insert(bits).second && !known.contains(std::string(bits))) fresh.emplace_back(bits);
    }
    const auto charged = static_cast<std::int64_t>(fresh.size());
    const std::int64_t left = task.budget - found.distinct;
    if (charged > left) {
      ++found.refused;
      link.send(bytes_of({{"type", "error"},
                          {"id", id},
                          {"code", "budget"},
                          {"detail", message(charged, " new coalitions asked for, ", left, " left")}}));
      return;
    }
    const std::vector<double> values = ask(doors.values, asked);
    known.insert(fresh.begin(), fresh.end());
    found.distinct += charged;
    found.rows += count;
    link.send(
        bytes_of({{"type", "values"}, {"id", id}, {"count", count}, {"charged", charged}, {"left", left - charged}},
                 payload_of(values)));
  }

  void differentiate(const Frame& frame) {
    const std::int64_t count = count_of(frame, task.players);
    const std::vector<double> nodes = frame.reals(static_cast<std::size_t>(count));
    for (const double node : nodes) {
      if (!(node >= 0 && node <= 1))
        throw Malformed("range", "frame: node=", node, " (the diagonal goes from 0 to 1). Correct the frame.");
    }
    require(doors.gradients != nullptr, "peer: gradients=none (the host gives values only). Use another game.");
    const std::vector<double> gradients = ask(doors.gradients, std::span<const double>(nodes));
    link.send(bytes_of({{"type", "gradients"}, {"id", id}, {"count", count}}, payload_of(gradients)));
  }

  void finish(const Frame& frame) {
    const auto players = static_cast<std::size_t>(task.players);
    const bool with_errors = frame.says("standard_errors");
    const std::size_t wanted = with_errors ? 2 * players : players;
    if (frame.payload.size() != wanted * sizeof(double))
      link.fail(Ending::invalid, "its result has ", frame.payload.size(), " bytes, ", wanted, " float64 are wanted");
    std::vector<double> values = frame.reals(wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        link.fail(Ending::invalid, i < players ? "value" : "standard error", " ", i % players, " is ", values[i]);
      if (i >= players && values[i] < 0)
        link.fail(Ending::invalid, "standard error ", i % players, " is negative: ", values[i]);
    }
    if (with_errors) found.standard_errors.emplace(values.begin() + static_cast<std::ptrdiff_t>(players), values.end());
    values.resize(players);
    found.values = std::move(values);
    done = true;
  }

  void answer(const Frame& frame) {
    const std::string type = frame.type();
    if (frame.integer("id") != id)
      throw Malformed("protocol", "frame: id=", frame.integer("id"), " (the task is ", id,
                      "). Answer the task that runs.");
    if (type == "result") {
      finish(frame);
    } else if (type == "fail") {
      link.fail(frame.says("refused") ? Ending::refused
                : found.refused > 0   ? Ending::budget_refused
                                      : Ending::fail,
                "it says: " + last_words(frame.text("reason")));
    } else if (type == "partial") {
      std::vector<double> values = frame.reals(static_cast<std::size_t>(task.players));
      ++found.partials;
      if (std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) partial = std::move(values);
    } else if (type != "eval" && type != "grad") {
      throw Malformed("protocol", "frame: type=", last_words(type), " (not one that a peer sends during a task). ",
                      "Send eval, grad, partial, result or fail.");
    } else if (!hard) {  // who was told to stop gets no more values
      const Need need = type == "eval" ? Need::values : Need::gradients;
      if (std::ranges::count(link.plugin().needs, need) == 0)
        throw Malformed("protocol", "frame: type=", type, " (needs in plugin.toml does not name ", to_string(need),
                        "). Add it there.");
      need == Need::values ? evaluate(frame) : differentiate(frame);
    }
  }
};

}  // namespace

Answer solve(Link& link, std::int64_t id, const Task& task, const Doors& doors) {
  Work work{.link = link, .task = task, .doors = doors, .id = id};
  Coalitions ends(task.players);
  ends.append_empty();
  ends.append_grand();
  const std::string bits = payload_of(ends);
  work.known = {bits.substr(0, bits.size() / 2), bits.substr(bits.size() / 2)};
  link.send(bytes_of(json_of(task, id, link.plugin())));
  try {
    while (!work.done) work.answer(work.next());
  } catch (const Malformed& error) {
    try {
      link.send(bytes_of({{"type", "error"}, {"id", id}, {"code", error.code()}, {"detail", error.what()}}));
    } catch (const Failure&) {  // what counts is why
    }
    link.fail(Ending::protocol_error, error.what());
  } catch (const Failure& failure) {
    if (failure.ending() != Ending::timeout || work.partial.empty()) throw;
    work.found.values = std::move(work.partial);
    work.found.ending = Ending::soft_timeout;
  }
  if (work.hard) work.found.ending = Ending::soft_timeout;
  work.found.peer_seconds = work.peer_seconds();
  return std::move(work.found);
}

}  // namespace opshap::peers
