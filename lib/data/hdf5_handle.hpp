#pragma once

#include <hdf5.h>

#include <string_view>

namespace opshap::data {

/// An HDF5 identifier, closed by the function of its kind. Throws DataError, naming `what`, for one that the library
/// did not give.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), std::string_view what);
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Throws DataError, naming `what`, for a negative status.
void check(herr_t status, std::string_view what);

/// The library prints a stack of messages for each error. After this call it prints none: ours go through exceptions.
void silence();

}  // namespace opshap::data
