#include "core/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/error.hpp"

namespace opshap {

namespace {

std::size_t levenshtein(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Candidates that a message can name.
constexpr std::size_t short_list = 16;

constexpr auto digits = number_of<std::uint64_t>;

/// value·base^exponent.
std::optional<std::uint64_t> times_power(std::uint64_t value, std::uint64_t base, std::uint64_t exponent) {
  if (base == 0) return exponent == 0 ? value : 0;
  for (std::uint64_t i = 0; i < exponent && base > 1; ++i) {
    if (value > std::numeric_limits<std::uint64_t>::max() / base) return std::nullopt;
    value *= base;
    if (value == 0) break;
  }
  return value;
}

/// "1.5" and an exponent of 10.
std::optional<std::uint64_t> scientific(std::string_view mantissa, std::string_view exponent) {
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string fraction(mantissa.substr(std::min(point + 1, mantissa.size())));
  while (fraction.ends_with('0')) fraction.pop_back();
  const auto value = digits(std::string(mantissa.substr(0, point)) + fraction), power = digits(exponent);
  if (!value || !power || *power < fraction.size()) return std::nullopt;
  return times_power(*value, 10, *power - fraction.size());
}

}  // namespace

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    if (name.size() >= 2 && candidate.starts_with(name)) return candidate;
  }
  const auto best = std::ranges::min_element(
      candidates, {}, [name](const std::string& candidate) { return levenshtein(name, candidate); });
  return best == candidates.end() || levenshtein(name, *best) > (name.size() + 2) / 3 ? "" : *best;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : message(" Did you mean ", nearest, "?");
}

void throw_unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& candidates) {
  const std::string all = joined(candidates);
  const std::string rest = candidates.size() > short_list ? message(" `opshap list ", kind, "s` prints all.")
                           : all.empty()                  ? " There is none."
                                                          : message(" There are ", all, ".");
  throw InvalidArgument(message(kind, ": name=", name, " (not registered).", suggestion(name, candidates), rest));
}

bool is_plain_name(std::string_view name) {
  constexpr std::size_t longest = 200;
  const auto allowed = [](char letter) { return static_cast<unsigned char>(letter) >= ' ' && letter != '/'; };
  return !name.empty() && name.size() <= longest && name.front() != '.' && std::ranges::all_of(name, allowed);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
    const auto base = digits(text.substr(0, caret)), exponent = digits(text.substr(caret + 1));
    return base && exponent ? times_power(1, *base, *exponent) : std::nullopt;
  }
  const std::size_t e = text.find_first_of("eE");
  return e == std::string_view::npos ? digits(text) : scientific(text.substr(0, e), text.substr(e + 1));
}

}  // namespace opshap
