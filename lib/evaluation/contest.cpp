#include "evaluation/contest.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "metrics/registry.hpp"
#include "peers/ending.hpp"

namespace opshap::evaluation {

namespace {

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
  answer.game_seconds = found.game_seconds;
  answer.estimator_seconds = found.estimator_seconds;
  answer.scores = metrics::score({found, contest.truth, contest.coalitions, contest.gains});
  return reply;
}

}  // namespace

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
