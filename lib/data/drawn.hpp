#pragma once

#include <filesystem>
#include <vector>

#include "pde/problem.hpp"

namespace opshap::data {

/// The random numbers behind the input of every sample of a data set, [samples], in the order of their names; NaN where
/// a sample does not use one. Empty lists where the set stores none. Throws DataError
/// for a file that is not sealed or whose columns have other sizes.
std::vector<std::vector<pde::Drawn>> read_drawn(const std::filesystem::path& path);

}  // namespace opshap::data
