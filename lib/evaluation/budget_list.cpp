#include "evaluation/budget_list.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/names.hpp"

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

}  // namespace opshap::evaluation
