#include "evaluation/contest.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "metrics/registry.hpp"
#include "peers/frame.hpp"

namespace opshap::evaluation {

namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 62;

/// A number, a power, or a multiple of n; nothing when it is none of them.
std::optional<std::uint64_t> single(std::string_view text, int players) {
  if (text.empty() || text.back() != 'n') return whole_number(text);
  const auto factor = text.size() == 1 ? std::uint64_t{1} : whole_number(text.substr(0, text.size() - 1));
  if (!factor) return std::nullopt;
  return *factor > most / static_cast<std::uint64_t>(players) ? most + 1
                                                              : *factor * static_cast<std::uint64_t>(players);
}

std::int64_t budget(std::string_view text, int players, std::string_view part) {
  const std::optional<std::uint64_t> value = single(text, players);
  require(value.has_value(), "budgets: part=", part,
          " (no number, power, multiple of n, or range). Write for example 128,256 or 2^7..2^15 or 2n,4n,8n.");
  require(*value >= 1 && *value <= most, "budgets: part=", part, " (needs 1..2^62). Give a number in that range.");
  return static_cast<std::int64_t>(*value);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool same_in_rows(const methods::Method& one, const methods::Method& other) {
  return one.name() == other.name() && one.explainer() == other.explainer();
}

/// Asks the method, for an attribution or the reason why there is none.
void ask(const Contest& contest, const Turn& turn, Reply& reply) try {
  reply.attribution = turn.method.attribute({contest.game, contest.scenario, {turn.budget}, reply.answer.seed});
} catch (const InvalidArgument& error) {
  reply.why = error.what();
} catch (const NumericalError& error) {
  reply.why = error.what();
} catch (const peers::Failure& failure) {
  if (failure.ending() != peers::Ending::refused) reply.failure = to_string(failure.ending());
  reply.why = failure.what();
}

Reply reply_to(const Contest& contest, const Turn& turn) {
  const methods::Method& method = turn.method;
  Reply reply;
  runs::Answer& answer = reply.answer;
  answer.method = method.name();
  answer.explainer = method.explainer();
  answer.access = method.access();
  if (method.uses_budget()) answer.budget = turn.budget;
  if (method.uses_seed())
    answer.seed = Rng(contest.seed, method.name(), static_cast<std::uint32_t>(turn.repeat),
                      static_cast<std::uint64_t>(turn.budget))
                      .bits64();
  ask(contest, turn, reply);
  if (!reply.attribution) {
    answer.scores = metrics::no_scores(reply.why, contest.coalitions != nullptr);
    return reply;
  }
  const Attribution& found = *reply.attribution;
  answer.distinct = found.distinct;
  answer.evaluations = found.evaluations;
  answer.gradients = found.gradients;
  if (found.gradients > 0) answer.forward_equivalents = found.forward_equivalents;
  answer.game_seconds = found.game_seconds;
  answer.estimator_seconds = found.estimator_seconds;
  answer.scores = metrics::score({found, contest.truth, contest.coalitions, contest.gains});
  return reply;
}

}  // namespace

std::int64_t parse_budget(std::string_view who, std::string_view text, int players) {
  const std::optional<std::uint64_t> value = single(trimmed(text), players);
  require(value && *value >= 1 && *value <= most, who, "=", text,
          " (no number, power or multiple of n from 1 to 2^62). Write for example 1000, 1e3, 2^10 or 8n.");
  return static_cast<std::int64_t>(*value);
}

std::vector<std::int64_t> parse_budgets(std::string_view text, int players) {
  std::set<std::int64_t> budgets;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, comma - begin));
    const std::size_t dots = part.find("..");
    if (dots == std::string_view::npos) {
      budgets.insert(budget(part, players, part));
    } else {
      const std::int64_t first = budget(part.substr(0, dots), players, part);
      const std::int64_t last = budget(part.substr(dots + 2), players, part);
      require(first <= last, "budgets: part=", part, " (runs from ", first, " down to ", last, "). Swap them.");
      for (std::int64_t value = first; value <= last; value = value > last / 2 ? last + 1 : 2 * value)
        budgets.insert(value);
    }
    begin = comma + 1;
  }
  return {budgets.begin(), budgets.end()};
}

void add_contestant(std::string_view who, Contestants& contestants, std::shared_ptr<const methods::Method> method,
                    const std::string& given) {
  for (const auto& other : contestants) {
    if (!same_in_rows(*method, *other)) continue;
    if (method->checksum().empty() && other->checksum().empty()) return;
    require(!method->explainer(), who, "=", given,
            " (another one has the same file name, so rows could not tell them apart). Rename one of the files.");
    throw InvalidArgument(message(who, "=", given, " (another one has the name ", method->name(),
                                  ", so rows could not tell them apart). Leave one out, or change its plugin.toml."));
  }
  contestants.push_back(std::move(method));
}

void Schedule::add(const methods::Method& method, std::span<const std::int64_t> budgets, std::int64_t repeats) {
  const bool uses_budget = method.uses_budget();
  for (const std::int64_t budget : budgets) {
    const bool there = std::ranges::any_of(turns_, [&](const Turns& turns) {
      return same_in_rows(method, *turns.method) && (!uses_budget || turns.budget == budget);
    });
    if (there) continue;
    turns_.push_back({&method, budget, size_});
    size_ += uses_budget ? repeats : 1;
  }
}

Turn Schedule::operator[](std::int64_t number) const {
  const Turns& turns = *std::prev(std::ranges::upper_bound(turns_, number, {}, &Turns::first));
  return {*turns.method, turns.budget, number - turns.first};
}

void play(const Contest& contest, const Schedule& schedule,
          const std::function<void(const Turn& turn, const Reply& reply)>& each, const runs::Part& part,
          const std::function<bool(const Turn& turn)>& known) {
  for (std::int64_t number = part.index; number < schedule.size(); number += part.of) {
    const Turn turn = schedule[number];
    throw_if_stopped(contest.who);
    if (known && known(turn)) continue;
    each(turn, reply_to(contest, turn));
  }
}

}  // namespace opshap::evaluation
