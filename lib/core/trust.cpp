#include "core/trust.hpp"

#include <atomic>

namespace opshap {

namespace {

std::atomic<bool> trusted = false;

}  // namespace

void trust_code_of_files() { trusted = true; }

bool code_of_files_is_trusted() { return trusted; }

}  // namespace opshap
