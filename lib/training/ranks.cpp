#include "training/ranks.hpp"

#include <cstdlib>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/threads.hpp"
#ifdef OPSHAP_MPI
#include <mpi.h>
#endif

namespace opshap::training {

namespace {

/// The variable by which a launcher tells its processes of each other: mpirun of OpenMPI, of MPICH, srun. Null for a
/// process that was started alone.
const char* launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return name;
  return nullptr;
}

}  // namespace

const Ranks& Ranks::all() {
  static const Ranks ranks;
  return ranks;
}

Ranks::Share Ranks::share(std::int64_t count, int rank, int size) {
  const std::int64_t first = count * rank / size;
  return {.first = first, .count = count * (rank + 1) / size - first};
}

Batch Ranks::share(const Batch& batch) const {
  const Share mine = share(static_cast<std::int64_t>(batch.members.size()));
  const auto begin = batch.members.begin() + mine.first;
  return {.group = batch.group, .members = {begin, begin + mine.count}};
}

#ifdef OPSHAP_MPI

namespace {

void finalize() {
  int done = 0;
  MPI_Finalized(&done);
  if (done == 0) MPI_Finalize();
}

template <typename Number>
void add_in_place(std::span<Number> numbers, MPI_Datatype type) {
  require(numbers.size() <= std::numeric_limits<int>::max(), "train: numbers=", numbers.size(),
          " (more than a message of MPI has). Train a smaller network.");
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), type, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

Ranks::Ranks() {
  if (launcher() == nullptr) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  require<EnvironmentError>(provided >= MPI_THREAD_FUNNELED, "train: mpi (its library does not allow other threads ",
                            "beside the one that calls it). Install another MPI.");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!first()) set_verbosity(Verbosity::quiet);
  // A launcher takes a process that ends without it for a failed one. That of several ranks that fails is one.
  if (alone()) {
    std::atexit(finalize);
    std::at_quick_exit(finalize);
  }
}

void Ranks::add(std::span<float> numbers) const {
  if (!alone()) add_in_place(numbers, MPI_FLOAT);
}

void Ranks::add(std::span<double> numbers) const {
  if (!alone()) add_in_place(numbers, MPI_DOUBLE);
}

void Ranks::wait() const {
  if (!alone()) MPI_Barrier(MPI_COMM_WORLD);
}

void Ranks::leave() const {
  if (launcher() != nullptr) finalize();
}

#else

Ranks::Ranks() {
  const char* name = launcher();
  if (name == nullptr) return;
  const std::string value = std::getenv(name);
  require<EnvironmentError>(value == "1", "train: ", name, "=", value,
                            " (this program was built without MPI, so that each process would do all of the work). "
                            "Build with -DOPSHAP_MPI=ON, or start one process.");
}

void Ranks::add(std::span<float>) const {}
void Ranks::add(std::span<double>) const {}
void Ranks::wait() const {}
void Ranks::leave() const {}

#endif

}  // namespace opshap::training
