#pragma once

namespace opshap {

/// Set once by the command line (--trust): files that are code, such as TorchScript archives, run without a note.
void trust_code_of_files();
bool code_of_files_is_trusted();

}  // namespace opshap
