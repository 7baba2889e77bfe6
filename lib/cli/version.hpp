#pragma once

namespace opshap::cli::version {

/// The commit the program was built from, and whether the tree had changes then; "unknown" outside a git checkout.
/// Refreshed at every build.
extern const char* const commit;
extern const bool dirty;

}  // namespace opshap::cli::version
