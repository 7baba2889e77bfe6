#pragma once

#include <memory>

#include "core/scenario.hpp"
#include "data/import.hpp"

namespace opshap::data {

/// The samples of a source whose values are all finite, in their order. The numbers of the others are the option
/// `skip_nonfinite`, and a note. Reads all samples once. The source must outlive it. Throws DataError where no sample
/// is left.
std::unique_ptr<ImportSource> finite_samples(const ImportSource& source);

/// A source on another grid of the same domain (core/field.hpp), which is the option `interpolate`, and a note.
/// The source must outlive it. Throws InvalidArgument for another number of axes, and for an axis of fewer than two
/// points.
std::unique_ptr<ImportSource> interpolated_source(const ImportSource& source, const Resolution& grid);

}  // namespace opshap::data
