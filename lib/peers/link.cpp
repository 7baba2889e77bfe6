#include "peers/link.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "peers/sandbox.hpp"

namespace opshap::peers {

namespace {

Launch launch_of(const Plugin& plugin) {
  constexpr double gib = 1 << 30;
  return {.folder = plugin.folder.empty() ? "/" : plugin.folder,
          .command = command_of(plugin),
          .environment = environment_of(plugin),
          .memory_bytes = static_cast<std::uint64_t>(plugin.limits.memory_gib * gib)};
}

std::vector<std::string> words_of(const std::vector<Need>& needs) {
  std::vector<std::string> words;
  for (const Need need : needs) words.emplace_back(to_string(need));
  return words;
}

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
  switch (ending) {
    case Ending::fail:
      return "Correct the peer; what it refuses on purpose is no failure.";
    case Ending::refused:
      return "Give another budget or another game.";
    case Ending::budget_refused:
      return "Raise the budget, or correct the peer.";
    case Ending::timeout:
      return "Raise limits.seconds (or start_seconds) in plugin.toml, or make it faster.";
    case Ending::oom:
      return "Raise limits.memory_gib in plugin.toml, or make it smaller.";
    case Ending::crash:
      return "Correct the program, or the command in plugin.toml that starts it.";
    default:
      return "`opshap peer check FOLDER` says more.";
  }
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
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  constexpr std::size_t most = 200;
  // What is no UTF-8, and a letter that the cut has split, becomes U+FFFD: the text goes into rows and JSON.
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(line.substr(0, most)).dump(-1, ' ', false, replace));
}

Link::Link(const Plugin& plugin) : plugin_(plugin), process_(launch_of(plugin)) { check_greeting(); }

Link::~Link() {
  try {
    std::string ignored;
    constexpr double short_while = 0.05;
    process_.write(bytes_of({{"type", "bye"}}), ignored, after(short_while));
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
  } catch (const Error&) {  // a signal to this program: the process is killed with its object
  }
}

void Link::fail(Ending ending, const std::string& why) {
  std::string how = why;
  if (ending == Ending::crash) {
    // Its pipe is closed, so it is ending or of no more use.
    process_.end(std::chrono::duration<double>(std::min(1.0, plugin_.limits.grace_seconds)));
    if (process_.killed_by_others() || tells_of_memory(process_.log())) ending = Ending::oom;
    how += ", " + process_.how_it_ended();
  }
  throw Failure(ending, message("peer: ", plugin_.name, "=", to_string(ending), " (", how,
                                printed(process_.log(), how, plugin_.folder), "). ", advice(ending)));
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
    if (!frame) fail(Ending::timeout, message("no greeting within ", plugin_.limits.start_seconds, " s"));
    greeting_ = std::move(*frame);
    if (greeting_.type() != "hello")
      fail(Ending::protocol_error, "its first frame is not hello but " + last_words(greeting_.type()));
    if (greeting_.integer("protocol") != 1) {
      send(bytes_of({{"type", "error"}, {"code", "version"}, {"detail", "this host speaks opshap-peer/1"}}));
      fail(Ending::protocol_error, message("it speaks protocol ", greeting_.integer("protocol"), ", this is 1"));
    }
  } catch (const Malformed& error) {
    fail(Ending::protocol_error, error.what());
  }
  if (greeting_.text("name") != plugin_.name)
    fail(Ending::protocol_error,
         "its name is " + last_words(greeting_.text("name")) + ", in plugin.toml it is " + plugin_.name);
  const nlohmann::json wanted = words_of(plugin_.needs);
  const auto needs = greeting_.header.find("needs");
  if (plugin_.role == Role::estimator && (needs == greeting_.header.end() || *needs != wanted))
    fail(Ending::protocol_error, "it needs " + needs_in_words(greeting_.header) + ", in plugin.toml " + wanted.dump());
  const std::string role = greeting_.text("role");
  if ((role.empty() ? "estimator" : role) != to_string(plugin_.role))
    fail(Ending::protocol_error,
         "its role is " + last_words(role) + ", in plugin.toml it is " + to_string(plugin_.role));
}

}  // namespace opshap::peers
