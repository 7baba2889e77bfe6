#include "data/hdf5_handle.hpp"

#include "core/error.hpp"

namespace opshap::data {

Handle::Handle(hid_t id, herr_t (*close)(hid_t), std::string_view what) : id_(id), close_(close) {
  require<DataError>(id_ >= 0, "hdf5: object=", what, " (the HDF5 library failed on it).");
}

void check(herr_t status, std::string_view what) {
  require<DataError>(status >= 0, "hdf5: object=", what, " (the HDF5 library failed on it).");
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace opshap::data
