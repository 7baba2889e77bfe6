#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pde/pde.hpp"

namespace opshap::data {

/// What a data set is made of; equal requests give equal files, whatever the number of threads and interruptions.
struct DatasetRequest {
  std::string pde;
  pde::ParameterValues parameters;  ///< those that differ from the PDE's defaults
  std::int64_t samples = 0;
  /// Counts that add up to `samples`; all 0 for the paper's 4220/750/30 in proportion, with a test part of at least 4.
  std::int64_t train = 0, validation = 0, test = 0;
  /// Points per axis of the resolution slots; empty for 16, 32, ... up to the native grid.
  std::vector<int> resolutions;
  std::uint64_t seed = 42;
};

/// One sample as it is stored: float32 fields and the numbers behind them.
struct GeneratedSample {
  std::vector<float> input, target;
  std::vector<pde::Drawn> drawn;
  std::int64_t steps = 0;
  std::vector<pde::Invariant> invariants;
};

/// Sample number `sample` of the data set with this PDE and seed: a function of these three alone.
///
/// The initial field is rounded to float32 before it is solved, so that the stored pair is input and output of the
/// solver. Throws NumericalError when an invariant does not hold.
GeneratedSample generate_sample(const pde::Pde& pde, std::uint64_t seed, std::uint64_t sample);

/// Makes the data set file at `path`, on all threads.
///
/// Finished groups of 64 samples are kept in `path`.shards, so that the same call goes on after a stop or a kill; they
/// are removed at the end. When the file is already there for the same request, nothing is done. Throws InvalidArgument
/// for a request that cannot be met, and when `path` is another file; NumericalError as generate_sample;
/// EnvironmentError on a full disk; Stopped after a signal.
void generate(const DatasetRequest& request, const std::filesystem::path& path);

/// The request with nothing left open, as JSON text: what decides whether two requests are the same. Throws
/// InvalidArgument as generate.
std::string resolved(const DatasetRequest& request);

}  // namespace opshap::data
