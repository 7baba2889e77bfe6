#include "reporting/method_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

constexpr double seen = 1.001;
constexpr std::size_t fewest_pairs = 5;

using Key = std::tuple<std::string, int, std::string, std::optional<std::int64_t>, std::int64_t>;

std::string name_of(const runs::MethodRow& row) {
  return row.explainer ? message(row.method, ":", *row.explainer) : row.method;
}

Key run_key(const runs::MethodRow& row) { return {row.game, row.players, name_of(row), row.budget, row.repeat}; }

/// The error of a run that has one.
std::optional<double> error_of(const runs::MethodRow& row) {
  if (!row.scores["nrmse"].value) return std::nullopt;
  const double rounding = std::numeric_limits<double>::epsilon();
  return row.exact.empty() ? std::max(*row.scores["nrmse"].value, rounding) : rounding;
}

/// The pairs of one method.
struct Pairs {
  std::vector<double> log_ratios;
  std::size_t common = 0, lost = 0, gained = 0;
  bool chance = false;  ///< some of its runs are one draw of many
};

Change judge_change(const MethodChange& found, bool chance) {
  if (found.lost > 0) return Change::worse;
  const bool worse = found.interval.low > seen, better = found.interval.high < 1 / seen;
  if (!worse && !better) return Change::none_seen;
  if (chance && found.pairs < fewest_pairs) return Change::too_few;
  return worse ? Change::worse : Change::better;
}

MethodChange change_of(const std::string& method, const Pairs& pairs, std::uint64_t seed) {
  MethodChange found{.method = method, .pairs = pairs.log_ratios.size(), .lost = pairs.lost, .gained = pairs.gained};
  if (!pairs.log_ratios.empty()) {
    const auto& logs = pairs.log_ratios;
    double sum = 0;
    for (const double log : logs) sum += log;
    found.ratio = std::exp(sum / static_cast<double>(logs.size()));
    found.interval = statistics::bootstrap(
                         logs.size(),
                         [&logs](statistics::Draw& draw) {
                           double drawn = 0;
                           for (const std::size_t pair : draw.inputs) drawn += logs[pair];
                           return std::exp(drawn / static_cast<double>(logs.size()));
                         },
                         seed)
                         .interval();
  }
  found.change = judge_change(found, pairs.chance);
  return found;
}

std::string change_in_words(const MethodChange& found) {
  std::string line = fmt::format("{}: {}", found.method, to_string(found.change));
  if (found.pairs > 0)
    line += fmt::format(", errors {} [{}, {}] times those of the baseline over {} runs", show(found.ratio),
                        show(found.interval.low), show(found.interval.high), found.pairs);
  if (found.lost > 0) line += fmt::format(", no score any more in {} runs", found.lost);
  if (found.gained > 0) line += fmt::format(", a score now in {} runs that had none", found.gained);
  return line;
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::none_seen:
      return "no change seen";
    case Change::too_few:
      return "too few runs";
  }
  throw std::logic_error("changes: a change without a name");
}

bool MethodChanges::any_worse() const {
  return std::ranges::any_of(methods, [](const MethodChange& found) { return found.change == Change::worse; });
}

std::vector<std::string> MethodChanges::lines() const {
  std::vector<std::string> lines;
  for (const MethodChange& found : methods) lines.push_back(change_in_words(found));
  for (const std::string& method : only_now) lines.push_back(method + ": no run of it in the baseline, not judged");
  for (const std::string& method : only_before) lines.push_back(method + ": only in the baseline, not judged");
  return lines;
}

MethodChanges method_changes(const std::vector<runs::MethodRow>& now, const std::vector<runs::MethodRow>& baseline,
                             std::uint64_t seed) {
  std::map<Key, const runs::MethodRow*> before;
  for (const runs::MethodRow& row : baseline) before.emplace(run_key(row), &row);
  std::vector<std::string> order;
  std::map<std::string, Pairs> methods;
  for (const runs::MethodRow& row : now) {
    const std::string method = name_of(row);
    if (!methods.contains(method)) order.push_back(method);
    Pairs& pairs = methods[method];
    const auto found = before.find(run_key(row));
    if (found == before.end()) continue;
    ++pairs.common;
    pairs.chance = pairs.chance || row.budget.has_value();
    const std::optional<double> error = error_of(row), old = error_of(*found->second);
    if (error && old) {
      pairs.log_ratios.push_back(std::log(*error / *old));
    } else {
      pairs.lost += old.has_value();
      pairs.gained += error.has_value();
    }
  }
  MethodChanges changes;
  for (const std::string& method : order) {
    const Pairs& pairs = methods.at(method);
    if (pairs.common == 0) {
      changes.only_now.push_back(method);
    } else {
      changes.methods.push_back(change_of(method, pairs, seed));
    }
  }
  require(!changes.methods.empty(), "against: runs=0 (the baseline has no run of the same game, players, method, ",
          "budget and repeat). Give the rows of a comparison of the same game.");
  std::set<std::string> known(order.begin(), order.end());
  for (const runs::MethodRow& row : baseline) {
    if (known.insert(name_of(row)).second) changes.only_before.push_back(name_of(row));
  }
  return changes;
}

}  // namespace opshap::reporting
