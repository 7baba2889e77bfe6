#include "evaluation/budget_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>

#include "core/error.hpp"

namespace opshap::evaluation {

namespace {

constexpr std::int64_t most = std::int64_t{1} << 62;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

/// base^exponent, or more than `most`.
std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t value = 1;
  for (std::int64_t i = 0; i < exponent && value <= most && base > 1; ++i)
    value = value > most / base ? most + 1 : value * base;
  return base == 0 && exponent > 0 ? 0 : value;
}

/// A number, a power, or a multiple of n; nothing when it is none of them.
std::optional<std::int64_t> single(std::string_view text, int players) {
  if (text.empty()) return std::nullopt;
  if (text.back() == 'n') {
    const auto factor = text.size() == 1 ? 1 : whole_number(text.substr(0, text.size() - 1));
    if (!factor) return std::nullopt;
    return *factor > most / players ? most + 1 : *factor * players;
  }
  const std::size_t caret = text.find('^');
  if (caret == std::string_view::npos) return whole_number(text);
  const auto base = caret == 0 ? std::nullopt : whole_number(text.substr(0, caret));
  const auto exponent = caret + 1 == text.size() ? std::nullopt : whole_number(text.substr(caret + 1));
  if (!base || !exponent) return std::nullopt;
  return power(*base, *exponent);
}

std::int64_t budget(std::string_view text, int players, std::string_view part) {
  const std::optional<std::int64_t> value = single(text, players);
  require(value.has_value(), "budgets: part=", part,
          " (no number, power, multiple of n, or range). Write for example 128,256 or 2^7..2^15 or 2n,4n,8n.");
  require(*value >= 1 && *value <= most, "budgets: part=", part, " (needs 1..2^62). Give a number in that range.");
  return *value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

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
