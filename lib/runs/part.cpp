#include "runs/part.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"

namespace opshap::runs {

std::filesystem::path Part::folder(const std::filesystem::path& run) const {
  return whole() ? run : run / "parts" / message(index, "-of-", of);
}

Part Part::parse(const std::string& who, const std::string& text) {
  Part part;
  char slash = 0, more = 0;
  std::istringstream in(text);
  require(in >> part.index >> slash >> part.of && slash == '/' && !(in >> more), who, ": --shard=", text,
          " (not of the form i/N). Write for example 0/4 for the first of four parts.");
  require(part.of >= 1 && part.index >= 0 && part.index < part.of, who, ": --shard=", text,
          " (parts are counted from 0). Give an i from 0 to N - 1.");
  return part;
}

nlohmann::ordered_json to_json(const Part& part) { return {{"index", part.index}, {"of", part.of}}; }

}  // namespace opshap::runs
