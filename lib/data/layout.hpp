#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/scenario.hpp"
#include "data/hdf5.hpp"
#include "pde/problem.hpp"

namespace opshap::data {

/// How many samples a data set has, how they are divided into parts, and at which resolutions they are served.
struct LayoutRequest {
  std::int64_t samples = 0;
  /// Counts that add up to `samples`; all 0 to divide the samples by `division`.
  std::int64_t train = 0, validation = 0, test = 0;
  /// Of the slots; empty for halved_resolutions(): the native grid, and every second, fourth, .. point of it while
  /// `fewest_points` are left.
  std::vector<Resolution> resolutions;
  /// The proportions of the parts when no counts are given, and the fewest samples for testing. The defaults are the
  /// paper's sizes.
  struct Division {
    double train = 4220, validation = 750, test = 30;
    std::int64_t fewest_test = 4;
  } division;
  std::int64_t fewest_points = 16;
};

/// The request with nothing left open: {"samples","train","validation","test","resolutions"}. `who` starts the
/// messages. Throws InvalidArgument for counts that do not add up, too few samples for the parts, and resolutions that
/// no stride of the grid gets to.
nlohmann::ordered_json resolved_layout(std::string_view who, const LayoutRequest& request, const Domain& domain);

/// [samples, (C,) points...]: the shape of the fields of a space in a file.
std::vector<std::int64_t> field_shape(const pde::Space& space, std::int64_t samples);

/// Adds what a finished file has beside its samples: the coordinates, the split and the resolution slots of a resolved
/// layout.
void append_layout(std::vector<Column>& columns, const nlohmann::ordered_json& layout, const Domain& domain);

}  // namespace opshap::data
