#pragma once

namespace CLI {
/// Those of CLI11, for headers that name them. A file that calls them includes <CLI/CLI.hpp>, which takes a second to
/// compile.
class App;
class Option;
}  // namespace CLI
