#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/estimator.hpp"

namespace opshap::cli {

/// Attributions as --out has them: [B][Q], those of one game are [1][1].
struct Values {
  const std::vector<std::vector<Attribution>>& attributions;
  bool one_game = false;                           ///< of a game without a field: arrays are [n]
  std::vector<nlohmann::ordered_json> names = {};  ///< numbers of points, or targets in words; empty with one_game
};

/// Throws InvalidArgument where the ending of --out is none of .npy, .npz, .csv, .json; "-" is .npy. To be called
/// before the work.
void require_values_file(const std::filesystem::path& out);

/// Writes the file that its ending says: .npy has the values, [n] for a game, [B,n] for inputs of an operator, [B,Q,n]
/// with several queries, float64; .npz has values, standard_errors (where all have them), empty and grand; .csv has a
/// row for each player; .json has `json`.
void write_values(const std::filesystem::path& out, const Values& values, const nlohmann::ordered_json& json);

}  // namespace opshap::cli
