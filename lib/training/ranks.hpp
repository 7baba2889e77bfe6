#pragma once

#include <cstdint>
#include <span>

#include "networks/networks.hpp"
#include "training/resolution_batches.hpp"

namespace opshap::training {

/// The processes that train one network together, after `mpirun -n R opshap train …`. Each does its share of every
/// batch and of the validation; gradients and losses are added up, so that all of them take the same steps. One process
/// that was started alone is all of them.
///
/// MPI belongs to a process, so there is one object. Every rank calls the same functions in the same order, from one
/// thread. A rank that fails ends without leave(), upon which MPI's launcher ends the others.
class Ranks : public networks::Rank {
 public:
  /// Those of this process; the first call joins them. Throws EnvironmentError when a launcher started several and
  /// this program was built without MPI (OPSHAP_MPI=OFF).
  static const Ranks& all();

  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// This rank's share of `count` things in a row, which is none when there are more ranks than things.
  struct Share {
    std::int64_t first = 0, count = 0;
  };
  Share share(std::int64_t count) const { return share(count, rank, size); }
  static Share share(std::int64_t count, int rank, int size);
  /// This rank's share of a batch's members.
  Batch share(const Batch& batch) const;

  /// Adds up the numbers of all ranks, place by place, in one message.
  void add(std::span<float> numbers) const;
  void add(std::span<double> numbers) const;
  /// Returns when all ranks have come here.
  void wait() const;
  /// Ends the work together, in good order.
  void leave() const;

 private:
  Ranks();
};

}  // namespace opshap::training
