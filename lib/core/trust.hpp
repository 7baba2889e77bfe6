#pragma once

namespace opshap {

/// Set once by the command line (--trust): files that are code, such as TorchScript archives, run without a note.
void trust_code_of_files();
bool code_of_files_is_trusted();

/// Set once by the command line (--sandbox): from now on this process runs no file that is code. Another one, in a
/// sandbox, does it.
void keep_code_of_files_out();
bool code_of_files_is_kept_out();

}  // namespace opshap
