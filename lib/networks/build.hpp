#pragma once

namespace opshap::networks {

/// The commit that this library was built from, and whether the tree had changes then; "unknown" outside a git
/// checkout. Refreshed at every build.
extern const char* const commit;
extern const bool dirty;

/// What two libraries of one build have in common and others do not: the commit, a checksum of all headers, and the
/// compiler.
extern const char* const build;

}  // namespace opshap::networks
