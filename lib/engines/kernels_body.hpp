// The kernels, written once; kernels_<set>.cpp compiles them for each instruction set.

#include "engines/kernels.hpp"
#include "engines/kernels_axis.hpp"
#include "engines/kernels_gelu.hpp"
#include "engines/kernels_line.hpp"
#include "engines/kernels_mix.hpp"
#include "engines/kernels_products.hpp"
#include "engines/kernels_transform.hpp"

namespace opshap::engines {

extern const Kernels OPSHAP_KERNELS;
const Kernels OPSHAP_KERNELS = {OPSHAP_SET, multiply,   gelu_all, line,       transform, mix,           spread,
                                gather,     gelu_slope, blend,    add_scaled, add_gated, dot_difference};

}  // namespace opshap::engines
