#include "data/already_made.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5.hpp"

namespace opshap::data {

namespace fs = std::filesystem;

bool already_made(std::string_view who, const fs::path& path,
                  const std::function<bool(const nlohmann::ordered_json& metadata)>& same) {
  if (!is_there(path)) return false;
  const std::string bytes = is_file(path) ? read_file(path) : "";
  require(is_sealed(bytes), who, ": --out=", path.string(), " (exists and is not a data set). Choose another path.");
  const auto found =
      nlohmann::ordered_json::parse(Hdf5Contents(bytes, path.string()).metadata(), nullptr, /*allow_exceptions=*/false);
  require(found.is_object() && same(found), who, ": --out=", path.string(),
          " (exists and was made by another request). Choose another path, or remove it.");
  return true;
}

}  // namespace opshap::data
