// For any processor: the compiler's default instruction set.
#include "kernels/body.hpp"
