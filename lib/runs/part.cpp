#include "runs/part.hpp"

#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"
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

namespace fs = std::filesystem;

Units::Units(fs::path folder, std::string who, std::string_view identity)
    : folder_((make_folder(folder), std::move(folder))),
      identity_(xxh64(identity)),
      lock_(folder_, who),
      manifest_(folder_ / "manifest.jsonl") {
  std::istringstream lines(read_file(folder_ / "manifest.jsonl"));
  for (std::string line; std::getline(lines, line);) done_.insert(line);
}

Units::~Units() {
  std::error_code ignored;
  if (done_.empty()) fs::remove_all(folder_, ignored);
}

std::string Units::bytes(const std::string& name) const {
  if (!is_file(folder_ / name)) return {};
  std::string bytes = read_file(folder_ / name);
  return done_.contains(line_of(name, bytes)) ? bytes : std::string();
}

void Units::store(const std::string& name, std::string_view bytes) {
  const std::string line = line_of(name, bytes);
  require_there();
  write_file(folder_ / name, bytes);
  manifest_.append(line);
  done_.insert(line);
}

std::string Units::once(const std::string& name, const std::function<std::string()>& make) {
  std::string found = bytes(name);
  if (!found.empty()) return found;
  std::string made = make();
  store(name, made);
  return made;
}

void Units::finish() {
  require_there();
  const fs::path leaving = temporary_name(folder_);
  std::error_code ignored;  // of removing what is no longer needed
  fs::remove_all(leaving, ignored);
  fs::rename(folder_, leaving);
  fs::remove_all(leaving, ignored);
}

std::string Units::line_of(const std::string& name, std::string_view bytes) const {
  return nlohmann::ordered_json{{"unit", name}, {"work_xxh64", identity_}, {"xxh64", xxh64(bytes)}}.dump();
}

}  // namespace opshap::runs
