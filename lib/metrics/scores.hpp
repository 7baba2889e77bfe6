#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/measured.hpp"

namespace opshap::metrics {

/// Scores of one attribution by the names of their metrics.
class Scores {
 public:
  /// A score that is not there yet is undefined.
  Measured& operator[](std::string_view metric) {
    return scores_.try_emplace(std::string(metric), Measured::undefined(not_scored)).first->second;
  }
  /// One that is not there is undefined: rows of before may be without.
  const Measured& operator[](std::string_view metric) const {
    static const Measured none = Measured::undefined(not_scored);
    const auto found = scores_.find(metric);
    return found == scores_.end() ? none : found->second;
  }

  bool contains(std::string_view metric) const { return scores_.contains(metric); }

  bool operator==(const Scores&) const = default;

 private:
  static constexpr const char* not_scored = "not scored in this run";

  std::map<std::string, Measured, std::less<>> scores_;
};

}  // namespace opshap::metrics
