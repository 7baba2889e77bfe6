#include "core/rng.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/checksum.hpp"

namespace opshap {

Rng::Rng(std::uint64_t seed, std::string_view domain, std::uint32_t purpose, std::uint64_t item)
    : key_{static_cast<std::uint32_t>(seed), crc32c(domain) + static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, purpose, static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32)} {}

Rng Rng::stream(std::uint32_t purpose, std::uint64_t item) const {
  Rng other(0, {}, purpose, item);
  std::ranges::copy(key_, other.key_);
  return other;
}

void Rng::refill() {
  const auto block = r123::Philox4x32()({{counter_[0], counter_[1], counter_[2], counter_[3]}}, {{key_[0], key_[1]}});
  std::ranges::copy(block, block_);
  // 2^32 blocks of four words; the next purpose's stream starts only after all of them.
  ++counter_[0];
  used_ = 0;
}

std::uint32_t Rng::bits32() {
  if (used_ == 4) refill();
  return block_[used_++];
}

std::uint64_t Rng::bits64() {
  const std::uint64_t low = bits32();
  return low | (std::uint64_t{bits32()} << 32);
}

double Rng::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

double Rng::normal() {
  if (std::exchange(has_spare_normal_, false)) return spare_normal_;
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is in (0, 1]
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

std::uint64_t Rng::below(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

void Rng::shuffle(std::span<int> items) {
  for (std::size_t last = items.size(); last > 1; --last) std::swap(items[last - 1], items[below(last)]);
}

}  // namespace opshap
