#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opshap::peers {

/// Languages that write_template() knows: "python", "c++", "r".
std::vector<std::string> template_languages();

/// Writes a plugin that works, with the package that it needs, into a new folder whose name becomes the plugin's.
///
/// Throws InvalidArgument for a language without a template, a name that is none of a plugin, and a folder that is
/// there.
void write_template(std::string_view language, const std::filesystem::path& folder);

}  // namespace opshap::peers
