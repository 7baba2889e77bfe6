// The kernels, written once; kernels_<set>.cpp compiles them for each instruction set.

#include "kernels/dense.hpp"
#include "kernels/gelu.hpp"
#include "kernels/kernels.hpp"
#include "kernels/line.hpp"
#include "kernels/mixing.hpp"
#include "kernels/transforms.hpp"

namespace opshap::kernels {

namespace {

template <typename T>
constexpr DenseKernels<T> dense = {multiply<T>,       gelu<T>, gelu_and_slope<T>,
                                   gelu_and_chain<T>, gate<T>, gate_cotangents<T>};

}  // namespace

extern const Kernels OPSHAP_KERNELS;
const Kernels OPSHAP_KERNELS = {OPSHAP_SET,       dense<float>, dense<double>, quick_gelu_all,
                                quick_gelu_slope, line,         transform,     mix,
                                spread,           gather,       add_scaled,    dot_difference};

}  // namespace opshap::kernels
