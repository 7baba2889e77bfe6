#include "core/trust.hpp"

#include <atomic>

namespace opshap {

namespace {

std::atomic<bool> trusted = false, kept_out = false;

}  // namespace

void trust_code_of_files() { trusted = true; }

bool code_of_files_is_trusted() { return trusted; }

void keep_code_of_files_out() { kept_out = true; }

bool code_of_files_is_kept_out() { return kept_out; }

}  // namespace opshap
