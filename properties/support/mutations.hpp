#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "support/test_seed.hpp"
#include "support/text.hpp"

namespace opshap {

/// What readers stumble over, as pieces of a file.
inline std::vector<std::string> unwelcome_pieces() {
  std::vector<std::string> pieces = parts_of(
      "[|]|{|}|\"|,|:|\n|'|=|#|null|true|NaN|Infinity|-|0|-1|1e308|1e309|0.5|4294967296|9223372036854775807|"
      "18446744073709551616|99999999999999999999|\\u0000|\xff|\xff\xfe|../../x|/tmp/"
      "x|[[[[[[[[|{\"a\":{\"a\":|\"\"|[]|{}",
      '|');
  for (const auto& [length, letter] : {std::pair(1, '\0'), {8, '\0'}, {8, '\xff'}, {300, '['}, {300, 'x'}})
    pieces.emplace_back(length, letter);
  return pieces;
}

/// A text changed at one to four places: bytes flipped, left out, doubled, moved, cut off;
/// digits exchanged; pieces put in.
inline std::string mutated(std::string text, const std::vector<std::string>& seeds, Rng& rng) {
  static const std::vector<std::string> pieces = unwelcome_pieces();
  for (std::uint64_t edits = 1 + rng.below(4); edits > 0; --edits) {
    const std::size_t place = rng.below(text.size() + 1);
    const std::string& piece = pieces[rng.below(pieces.size())];
    switch (rng.below(9)) {
      case 0:
        text.insert(place, piece);
        break;
      case 1:
        text.replace(place, rng.below(12), piece);
        break;
      case 2:
        text.erase(place, 1 + rng.below(12));
        break;
      case 3:
        if (place < text.size()) text[place] = static_cast<char>(rng.below(256));
        break;
      case 4:
        if (place < text.size()) text[place] = static_cast<char>(text[place] ^ (1 << rng.below(8)));
        break;
      case 5:
        text.insert(place, text.substr(rng.below(text.size() + 1), rng.below(60)));
        break;
      case 6:
        if (rng.below(4) == 0) text.resize(place);
        break;
      case 7:  // a digit for a digit
        if (const std::size_t digit = text.find_first_of("0123456789", place); digit != std::string::npos)
          text[digit] = static_cast<char>('0' + rng.below(10));
        break;
      default: {
        const std::string& other = seeds[rng.below(seeds.size())];
        text.replace(place, rng.below(60), other.substr(rng.below(other.size() + 1), rng.below(60)));
      }
    }
  }
  return text;
}

/// How many mutants of each reader: 2 000, or as many as OPSHAP_MUTANTS says.
inline std::uint64_t mutants() {
  const char* wanted = std::getenv("OPSHAP_MUTANTS");
  return wanted == nullptr ? 2000 : std::stoull(wanted);
}

/// How many mutants a reader took, and how many it refused.
struct Survived {
  std::uint64_t taken = 0, refused = 0;
};

/// Gives mutants of the seeds to `read`. Each is taken, or refused with an error of ours: whatever else it throws would
/// be exit code 7.
Survived survive(const char* reader, const std::vector<std::string>& seeds, const auto& read,
                 std::uint64_t count = mutants()) {
  Survived survived;
  for (const std::string& seed : seeds) EXPECT_NO_THROW(read(seed)) << reader << ": a file that is whole is read";
  for (std::uint64_t item = 0; item < count; ++item) {
    Rng rng(test_seed(), reader, 0, item);
    const std::string text = mutated(seeds[rng.below(seeds.size())], seeds, rng);
    try {
      read(text);
      ++survived.taken;
    } catch (const Error& error) {
      ++survived.refused;
      EXPECT_LT(std::string(error.what()).size(), 4000u) << reader << ": what is refused is not repeated whole";
    } catch (const std::exception& error) {
      ADD_FAILURE() << reader << ", mutant " << item << ": " << error.what() << "\n"
                    << text.substr(0, 2000) << "\n"
                    << replay();
    }
  }
  EXPECT_GT(survived.refused, count / 10) << reader;
  return survived;
}

/// Without waiting for the disk, as thousands of small files would: also a file that is cut off is flushed at once.
inline void put(const std::string& path, const std::string& text) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace opshap
