#include "operators/pointwise_kernels.hpp"

#include "engines/kernels.hpp"

namespace opshap::operators {

extern const PointwiseKernels<float> pointwise_kernels_avx512_float, pointwise_kernels_avx2_float,
    pointwise_kernels_baseline_float;
extern const PointwiseKernels<double> pointwise_kernels_avx512_double, pointwise_kernels_avx2_double,
    pointwise_kernels_baseline_double;

namespace {

template <typename T>
const PointwiseKernels<T>& choose(const std::string& instruction_set, const PointwiseKernels<T>& avx512,
                                  const PointwiseKernels<T>& avx2, const PointwiseKernels<T>& baseline) {
  const std::string name = engines::kernels(instruction_set).name;  // throws for a set that this processor lacks
  return name == "avx512" ? avx512 : name == "avx2" ? avx2 : baseline;
}

}  // namespace

template <>
const PointwiseKernels<float>& pointwise_kernels(const std::string& instruction_set) {
  return choose(instruction_set, pointwise_kernels_avx512_float, pointwise_kernels_avx2_float,
                pointwise_kernels_baseline_float);
}

template <>
const PointwiseKernels<double>& pointwise_kernels(const std::string& instruction_set) {
  return choose(instruction_set, pointwise_kernels_avx512_double, pointwise_kernels_avx2_double,
                pointwise_kernels_baseline_double);
}

template <typename T>
const PointwiseKernels<T>& pointwise_kernels() {
  return pointwise_kernels<T>(engines::kernels().name);
}

template const PointwiseKernels<float>& pointwise_kernels();
template const PointwiseKernels<double>& pointwise_kernels();

}  // namespace opshap::operators
