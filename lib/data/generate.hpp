#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/layout.hpp"
#include "pde/problem.hpp"
#include "runs/part.hpp"

namespace opshap::data {

/// What a data set is to hold. Equal requests give equal files, whatever the number of threads and interruptions.
struct DatasetRequest {
  std::string pde;                  ///< registry name of the problem
  pde::ParameterValues parameters;  ///< those that differ from the problem's defaults
  LayoutRequest layout;
  std::uint64_t seed = 42;
  /// Samples that are made and stored as one unit of work. The finished file does not depend on it.
  std::int64_t shard_samples = 64;
};

/// One sample as it is stored: float32 fields and the numbers behind them.
struct GeneratedSample {
  std::vector<float> input, target;
  std::vector<pde::Drawn> drawn;
  std::int64_t steps = 0;
  std::vector<double> departures;  ///< from the problem's invariants, in their order
};

/// Sample number `sample` of the data set with this problem and seed: a function of these three alone.
///
/// The input field is rounded to float32 before it is solved, so that the stored pair is input and output of the
/// solver. Throws NumericalError when an invariant does not hold.
GeneratedSample generate_sample(const pde::Problem& problem, std::uint64_t seed, std::uint64_t sample);

/// The input field of that sample, rounded to float32, without solving it.
FieldBatch generated_input(const pde::Problem& problem, std::uint64_t seed, std::uint64_t sample);

/// Makes the data set file at `path`, on all threads. A part makes a file of its own, which merge() reads: its
/// share of the samples, in their order.
///
/// Finished groups of samples are kept in `path`.shards, so that the same call goes on after a stop or a kill; they
/// are removed at the end. When the file is already there for the same request, nothing is done. Throws InvalidArgument
/// for a request that cannot be met, for more parts than samples, and when `path` is another file; NumericalError as
/// generate_sample; EnvironmentError on a full disk; Stopped after a signal.
void generate(const DatasetRequest& request, const std::filesystem::path& path, const runs::Part& part = {});

/// Makes the data set file at `path` from the files of all its parts, in any order: the same bytes as generate()
/// without parts. Throws DataError for a file that is no part; InvalidArgument for a part that is missing, given twice
/// or of another data set, naming it.
void merge(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& path);

/// The request with nothing left open, as JSON text: what decides whether two requests are the same. Throws
/// InvalidArgument as generate.
std::string resolved(const DatasetRequest& request);

}  // namespace opshap::data
