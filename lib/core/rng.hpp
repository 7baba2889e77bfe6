#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opshap {

/// A counter-based random stream: Philox4x32-10 (Salmon et al. 2011, Random123).
///
/// A stream is named by (seed, domain, purpose, item) and never by who draws from it or when, so results do not depend
/// on the number of threads or on the order of work. Two streams with different names are independent; the same name
/// always gives the same numbers. Key = (seed mod 2^32, crc32c(domain) + seed/2^32), counter = (draw, purpose, item mod
/// 2^32, item/2^32). Doubles have 53 random bits; normal numbers are Box-Muller, because the standard library's
/// distributions differ between libraries.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::string_view domain = "opshap", std::uint32_t purpose = 0,
               std::uint64_t item = 0);

  /// The stream of another purpose or item under the same seed and domain, from its beginning.
  Rng stream(std::uint32_t purpose, std::uint64_t item = 0) const;

  std::uint32_t bits32();
  std::uint64_t bits64();
  /// In [0, 1).
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal.
  double normal();
  /// Uniform on 0..bound-1 without bias (Lemire 2019). bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform ordering of what `items` holds (Fisher-Yates).
  void shuffle(std::span<int> items);

 private:
  void refill();

  std::uint32_t key_[2];
  std::uint32_t counter_[4];
  std::uint32_t block_[4] = {};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace opshap
