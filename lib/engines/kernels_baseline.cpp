// For processors without AVX2: the compiler's default instruction set.
#include "engines/kernels_body.hpp"
