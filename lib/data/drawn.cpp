#include "data/drawn.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/hdf5.hpp"

namespace opshap::data {

std::vector<std::vector<pde::Drawn>> read_drawn(const std::filesystem::path& path) {
  const Hdf5Contents file(read_file(path), path.string());
  std::vector<std::vector<pde::Drawn>> drawn(static_cast<std::size_t>(file.column("/crc32c").shape[0]));
  constexpr std::string_view folder = "/params/";
  for (const std::string& name : file.columns()) {
    if (!name.starts_with(folder)) continue;
    const Column column = file.column(name);
    const auto* values = std::get_if<std::vector<double>>(&column.values);
    require<DataError>(
        values != nullptr && values->size() == drawn.size() * static_cast<std::size_t>(column.row_size()),
        "data set: file=", path.string(), ", column=", name,
        " (has another type or size than the data set says). Generate it again.");
    const auto width = static_cast<std::ptrdiff_t>(column.row_size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const auto row = values->begin() + static_cast<std::ptrdiff_t>(i) * width;
      drawn[i].push_back({name.substr(folder.size()), {row, row + width}});
    }
  }
  return drawn;
}

}  // namespace opshap::data
