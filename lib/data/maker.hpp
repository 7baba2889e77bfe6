#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/generate.hpp"
#include "data/hdf5.hpp"

namespace opshap::data {

/// The rows of units of work, put one after the other.
class GatheredRows {
 public:
  virtual ~GatheredRows() = default;
  virtual void add(const Hdf5Contents& unit) = 0;
  /// The bytes of a file with these rows and no more: a part of a data set.
  virtual std::string part(const nlohmann::ordered_json& metadata) const = 0;
  /// The bytes of the finished data set of a resolved request, whose rows these are.
  virtual std::string finished(const nlohmann::ordered_json& request) const = 0;
};

/// How the data sets of one equation are made: item by item, in units of work. An item is a sample of a problem on a
/// grid, or a whole trajectory.
class DatasetMaker {
 public:
  virtual ~DatasetMaker() = default;
  /// The request with nothing left open. Throws InvalidArgument as generate().
  virtual nlohmann::ordered_json resolved(const DatasetRequest& request) const = 0;
  /// "samples", "trajectories".
  virtual std::string_view items() const = 0;
  /// The most items that a unit of work has, so that no long work is lost when it is stopped.
  virtual std::int64_t most_in_unit() const { return std::numeric_limits<std::int64_t>::max(); }
  /// The bytes of a unit: the rows of the items first, .., first + count − 1 of a resolved request. On all threads.
  virtual std::string made(const nlohmann::ordered_json& request, std::int64_t first, std::int64_t count) const = 0;
  /// No rows yet. They must not outlive this object.
  virtual std::unique_ptr<GatheredRows> gathered() const = 0;
  virtual Cost measured_cost(const DatasetRequest& request) const = 0;
};

/// Of an equation with other parameters. Throws InvalidArgument as pde::find_equation() and with().
std::unique_ptr<DatasetMaker> maker_of(std::string_view pde, const pde::ParameterValues& parameters);
/// Of the equation that "pde" and "parameters" of a resolved request name. `who` starts the messages.
std::unique_ptr<DatasetMaker> maker_of(const nlohmann::ordered_json& request, std::string_view who);

std::unique_ptr<DatasetMaker> grid_maker(std::unique_ptr<pde::Problem> problem);
std::unique_ptr<DatasetMaker> trajectory_maker(std::unique_ptr<pde::Trajectories> trajectories);

/// What metadata say of the numbers behind a data set: {"rng","seed","request","request_xxh64","compiler"}.
nlohmann::ordered_json provenance(const nlohmann::ordered_json& request);

}  // namespace opshap::data
