#include "cli/values_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"

namespace opshap::cli {

namespace {

/// The shape of a number for each attribution.
std::vector<std::int64_t> outer_shape(const Values& values) {
  if (values.one_game) return {};
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.attributions.size())};
  if (values.attributions.front().size() > 1)
    shape.push_back(static_cast<std::int64_t>(values.attributions.front().size()));
  return shape;
}

/// `part` of each attribution, one after the other.
template <typename Part>
data::NpyArray npy_array(const Values& values, bool of_players, const Part& part) {
  std::vector<std::int64_t> shape = outer_shape(values);
  if (of_players) shape.push_back(static_cast<std::int64_t>(values.attributions.front().front().values.size()));
  std::vector<double> numbers;
  for (const auto& of_input : values.attributions) {
    for (const Attribution& attribution : of_input) {
      const std::vector<double> found = part(attribution);
      numbers.insert(numbers.end(), found.begin(), found.end());
    }
  }
  return {std::move(shape), data::Dtype::float64, std::move(numbers)};
}

data::NpyArray npy_values(const Values& values) {
  return npy_array(values, true, [](const Attribution& found) { return found.values; });
}

std::string npz(const Values& values) {
  std::vector<std::pair<std::string, data::NpyArray>> arrays = {{"values", npy_values(values)}};
  const bool errors = std::ranges::all_of(values.attributions, [](const auto& of_input) {
    return std::ranges::all_of(of_input, [](const Attribution& found) { return found.standard_errors.has_value(); });
  });
  if (errors)
    arrays.emplace_back("standard_errors",
                        npy_array(values, true, [](const Attribution& found) { return *found.standard_errors; }));
  arrays.emplace_back("empty", npy_array(values, false, [](const Attribution& f) { return std::vector{f.empty}; }));
  arrays.emplace_back("grand", npy_array(values, false, [](const Attribution& f) { return std::vector{f.grand}; }));
  return data::format_npz(arrays);
}

std::string csv(const Values& values) {
  const bool several = !values.one_game;
  std::string text = several ? "input,query,player,value,standard_error\n" : "player,value,standard_error\n";
  for (std::size_t input = 0; input < values.attributions.size(); ++input) {
    for (std::size_t query = 0; query < values.attributions[input].size(); ++query) {
      const Attribution& found = values.attributions[input][query];
      for (std::size_t player = 0; player < found.values.size(); ++player) {
        if (several) text += fmt::format("{},{},", input, values.names[query].dump());
        text += fmt::format("{},{},{}\n", player, found.values[player],
                            found.standard_errors ? fmt::format("{}", (*found.standard_errors)[player]) : "");
      }
    }
  }
  return text;
}

}  // namespace

void require_values_file(const std::filesystem::path& out) {
  if (out.empty() || out == "-") return;
  const std::string ending = out.extension().string();
  for (const char* known : {".npy", ".npz", ".csv", ".json"}) {
    if (ending == known) return;
  }
  // What is no regular file has no ending: a device, a pipe.
  const auto kind = std::filesystem::status(out).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::directory)
    return;
  throw InvalidArgument(message("attribute: --out=", out.string(),
                                " (its ending says no format that values have). Give .npy, .npz, .csv or .json."));
}

void write_values(const std::filesystem::path& out, const Values& values, const nlohmann::ordered_json& json) {
  const std::string ending = out == "-" ? ".npy" : out.extension().string();
  if (ending == ".npz") return write_file(out, npz(values));
  if (ending == ".csv") return write_file(out, csv(values));
  if (ending == ".json") return write_file(out, json.dump(2) + '\n');
  data::write_npy(out, npy_values(values));
}

}  // namespace opshap::cli
