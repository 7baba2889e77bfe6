#pragma once

#include <string>
#include <vector>

#include "devices/fno_arguments.hpp"
#include "devices/warp.hpp"

namespace opshap::devices {

/// Whether the kernel can have a network of these sizes, which are rounded up to multiples of 8.
bool has_kernel(int width, int hidden, int layers);

/// Says where a block keeps its arrays, and how many coalitions it takes together: up to eight, if all arrays then fit
/// into so many floats of shared memory. If not even those of one coalition do, the largest are in the workspace.
void place_arrays(FnoArguments& of, long long shared_floats);
/// Shared memory of a block, in floats: what all GPUs from compute capability 8.0 on have, and what 9.0 has.
constexpr long long shared_floats_80 = 163 * 256, shared_floats_90 = 227 * 256;

/// The kernel by the processor, on all threads: the same products with the same roundings, and sums of eight products
/// in double. A thousand times slower than a GPU. Pointers are of the host, and the workspace is made here.
void emulate_fno(FnoArguments of, Arithmetic arithmetic);

/// A text that a kernel is compiled from, under the name that others include it by.
struct SourceFile {
  const char *name, *text;
};
/// The kernel's text, and then the headers that it includes.
std::vector<SourceFile> fno_source();
/// What NVRTC is told, but for the architecture.
std::vector<std::string> fno_options(const FnoArguments& of, Arithmetic arithmetic);

/// "tf32x3", "tf32" or "bf16".
const char* name_of(Arithmetic arithmetic);

}  // namespace opshap::devices
