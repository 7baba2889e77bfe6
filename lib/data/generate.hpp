#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario.hpp"
#include "data/dataset.hpp"
#include "pde/problem.hpp"
#include "pde/trajectories.hpp"
#include "runs/part.hpp"

namespace opshap::data {

/// The random numbers behind the input of every sample of a data set, or of every trajectory, [samples], in the order
/// of their names; NaN where a sample does not use one. Empty lists where the set stores none. Throws DataError
/// for a file that is not sealed or whose columns have other sizes.
std::vector<std::vector<pde::Drawn>> read_drawn(const std::filesystem::path& path);

/// True when the file that a command is about to write is there and `same` says of its metadata that it was made by
/// the same request; false when nothing is there. `who` starts the messages. Throws InvalidArgument for any other file,
/// which is not written over, and DataError for a data set that is damaged.
bool already_made(std::string_view who, const std::filesystem::path& path,
                  const std::function<bool(const nlohmann::ordered_json& metadata)>& same);

/// What a data set is to hold. Equal requests give equal files, whatever the number of threads and interruptions.
struct DatasetRequest {
  std::string pde;                  ///< registry name of the problem
  pde::ParameterValues parameters;  ///< those that differ from the problem's defaults
  LayoutRequest layout;
  std::uint64_t seed = 42;
  /// Of each trajectory, which then is what `layout` counts.
  std::int64_t windows = 8;
  /// Samples that are made and stored as one unit of work. The finished file does not depend on it.
  std::int64_t shard_samples = 64;
};

/// What a data set will cost.
struct Cost {
  double seconds_per_sample = 0;  ///< on one thread
  double seconds = 0;             ///< of the whole set on all threads, as if every sample cost the same
  double bytes = 0;               ///< of its fields; the rest of the file is small
};

/// Makes samples of the set on this thread and throws them away: two at least, then more for a twentieth of a second.
/// They are those that the set begins with. Of trajectories one is run. Throws as generate().
Cost measured_cost(const DatasetRequest& request);

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

/// What a data set with this seed keeps of the mesh of trajectory 0, with the first frame: cheap, as nothing runs on.
pde::Trajectory first_frame(const pde::Trajectories& trajectories, std::uint64_t seed);

/// Makes the data set file at `path`, on all threads. A part makes a file of its own, which merge() reads: its
/// share of the samples, in their order.
///
/// Finished groups of samples are kept in `path`.shards, so that the same call goes on after a stop or a kill; they
/// are removed at the end. When the file is already there for the same request, nothing is done. Throws InvalidArgument
/// for a request that cannot be met, for more parts than samples, and when `path` is another file; NumericalError as
/// generate_sample; EnvironmentError on a full disk; Stopped after a signal, and where `stop` asks for it.
void generate(const DatasetRequest& request, const std::filesystem::path& path, const runs::Part& part = {},
              const std::stop_token& stop = {});

/// Writes all frames of the flows of a request in the format of the MeshGraphNets release (MeshgraphnetsWriter), which
/// import_meshgraphnets() reads. The meshes are whole. The flows are run for it, also where their data set is there,
/// and what is stopped begins anew. Throws InvalidArgument for a problem on a grid, and as MeshgraphnetsWriter and
/// generate().
void write_frames(const DatasetRequest& request, const std::filesystem::path& folder);

/// Makes the data set file at `path` from the files of all its parts, in any order: the same bytes as generate()
/// without parts. Throws DataError for a file that is no part; InvalidArgument for a part that is missing, given twice
/// or of another data set, naming it.
void merge(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& path);

/// The request with nothing left open, as JSON text: what decides whether two requests are the same. Throws
/// InvalidArgument as generate.
std::string resolved(const DatasetRequest& request);

/// Inputs that nobody solves.
struct Unlabelled {
  std::int64_t count = 0;
  Resolution grid = {};             ///< that all inputs are then on
  std::vector<double> shares = {};  ///< of each resolution, in proportion; empty: all get as many
};

/// The data set with further inputs for training, drawn from its problem and not solved: they have no targets.
///
/// They are the samples that a larger data set of this problem and seed would have next, spread over the resolutions of
/// the set. The problem's native grid is strided to theirs. An explainer needs no targets, and a training of operators
/// cannot use what this returns. Throws InvalidArgument when the data set is not one of the problem's, and for shares
/// of another number of resolutions.
Dataset with_unlabelled(Dataset data, const pde::Problem& problem, std::uint64_t seed, const Unlabelled& wanted);

/// Grids of a domain for an explainer: the seven finest of halved_resolutions() with 16 points or more.
std::vector<Resolution> usual_resolutions(const Domain& domain);

/// A data set of inputs alone, for the training of an explainer: it has no targets.
///
/// Of the inputs, in their order, the last tenth is for testing (30 at the most) and the tenth before it for validation
/// (100 at the most). The others are served again and again, each time at another resolution, until there are `samples`
/// for training. Throws InvalidArgument for fewer than 10 inputs.
Dataset of_inputs(const FieldBatch& inputs, const std::vector<Resolution>& resolutions, std::int64_t samples);

}  // namespace opshap::data
