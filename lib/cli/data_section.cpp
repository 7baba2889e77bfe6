#include "cli/data_section.hpp"

#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

/// The parameters of a problem in the order of its list.
pde::ParameterValues read_parameters(Section section, const std::string& problem) {
  pde::ParameterValues values;
  for (const pde::Parameter& parameter : pde::find(problem).parameters()) {
    if (!section.has(parameter.name)) continue;
    if (parameter.choices.empty()) {
      values.emplace(parameter.name, section.get<double>(parameter.name));
    } else {
      values.emplace(parameter.name, section.get<std::string>(parameter.name));
    }
  }
  section.finish();
  pde::find(problem).with(values);
  return values;
}

DataFile read_file_of_data(Section section) {
  DataFile file{.path = section.get<std::string>("path"),
                .content_hash = section.get<std::string>("content"),
                .imported_from = section.get<std::string>("imported_from"),
                .shape = {}};
  file.shape = section.counts("shape", 1);
  section.finish();
  return file;
}

toml::table parameters_table(const pde::ParameterValues& values) {
  toml::table table;
  for (const auto& [name, value] : values)
    std::visit([&, &key = name](const auto& held) { table.insert(key, held); }, value);
  table.is_inline(true);
  return table;
}

}  // namespace

DataSettings read_data(Section section) {
  DataSettings settings = {.pde = section.get<std::string>("pde"),
                           .parameters = {},
                           .train = section.count("train"),
                           .validation = section.count("validation"),
                           .test = section.count("test")};
  if (section.has("parameters")) settings.parameters = read_parameters(section.section("parameters"), settings.pde);
  if (section.has("file")) settings.file = read_file_of_data(section.section("file"));
  if (section.has("scattered")) settings.scattered = section.count("scattered", 4);
  section.finish();
  return settings;
}

toml::table data_table(const DataSettings& data) {
  toml::table table{{"pde", data.pde}, {"train", data.train}, {"validation", data.validation}, {"test", data.test}};
  if (!data.parameters.empty()) table.insert("parameters", parameters_table(data.parameters));
  if (data.scattered > 0) table.insert("scattered", data.scattered);
  if (data.file) {
    table.insert("file", toml::table{{"path", data.file->path},
                                     {"content", data.file->content_hash},
                                     {"imported_from", data.file->imported_from},
                                     {"shape", list_of(data.file->shape)}});
  }
  return table;
}

}  // namespace opshap::cli
