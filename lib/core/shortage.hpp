#pragma once

#include <string>

namespace opshap {

/// What to do about an error number by which the system says that it has no more of something: of the disk, of file
/// descriptors, of memory, of processes. Empty for any other number.
std::string advice_on_shortage(int error_number);

/// Throws EnvironmentError("who (reason). advice") when the error number tells of a shortage; does nothing otherwise.
void throw_if_shortage(const std::string& who, int error_number);

}  // namespace opshap
