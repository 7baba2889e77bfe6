#include "core/whole_number.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace opshap {

namespace {

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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

std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
    const auto base = digits(text.substr(0, caret)), exponent = digits(text.substr(caret + 1));
    return base && exponent ? times_power(1, *base, *exponent) : std::nullopt;
  }
  const std::size_t e = text.find_first_of("eE");
  return e == std::string_view::npos ? digits(text) : scientific(text.substr(0, e), text.substr(e + 1));
}

}  // namespace opshap
