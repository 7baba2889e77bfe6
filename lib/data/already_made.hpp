#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace opshap::data {

/// True when the file that a command is about to write is there and `same` says of its metadata that it was made by
/// the same request; false when nothing is there. `who` starts the messages. Throws InvalidArgument for any other file,
/// which is not written over, and DataError for a data set that is damaged.
bool already_made(std::string_view who, const std::filesystem::path& path,
                  const std::function<bool(const nlohmann::ordered_json& metadata)>& same);

}  // namespace opshap::data
