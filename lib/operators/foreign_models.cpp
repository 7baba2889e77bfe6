#include "operators/foreign_models.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.hpp"
#include "operators/stored_network.hpp"

namespace opshap::operators {

namespace {

constexpr const char* advice =
    "Serve it from its own program, which has one line, torch_operator(model, dimension=2).serve(): --operator "
    "peer:FOLDER";

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The last axis of a transform on the sphere keeps m/2 of m modes, where FNO's keeps m/2 + 1.
bool is_of_the_sphere(const data::Safetensors& content) {
  const auto config = content.metadata.find(stored_config_key);
  if (config == content.metadata.end()) return false;
  const auto json = nlohmann::json::parse(config->second, nullptr, false);
  if (!json.is_object() || !json.contains("n_modes") || !json["n_modes"].is_array() || json["n_modes"].size() != 2 ||
      !json["n_modes"][1].is_number_integer())
    return false;
  const auto modes = json["n_modes"][1].get<std::int64_t>();
  const auto weight = content.tensors.find("fno_blocks.convs.0.weight.tensor");
  return modes > 0 && modes % 2 == 0 && weight != content.tensors.end() && weight->second.shape.size() >= 4 &&
         weight->second.shape[3] == modes / 2;
}

/// Whether it is "fno_blocks.<number>.convs." and more: each block of a UNO is a network of blocks.
bool has_numbered_blocks(std::string_view name) {
  constexpr std::string_view blocks = "fno_blocks.";
  if (!name.starts_with(blocks)) return false;
  name.remove_prefix(blocks.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && name.substr(digits).starts_with(".convs.");
}

/// "" where it is none of them.
std::string foreign_model(const data::Safetensors& content) {
  const auto any = [&](const auto& of_name) {
    return std::ranges::any_of(content.tensors, [&](const auto& entry) { return of_name(entry.first); });
  };
  const auto has = [&](const char* start) {
    return any([start](const std::string& name) { return name.starts_with(start); });
  };
  if (has("horizontal_skips.") || any(has_numbered_blocks)) return "UNO";
  if (has("attention_layers.")) return "CODANO";
  if (has("gno.")) return "FNOGNO";
  if (has("base_model.") && has("residual_model.")) return "UQNO";
  return is_of_the_sphere(content) ? "SFNO" : "";
}

}  // namespace

void refuse_foreign_name(const std::string& name) {
  constexpr std::array<std::string_view, 6> foreign = {"UNO", "SFNO", "CODANO", "FNOGNO", "UQNO", "RNO"};
  const std::string capitals = in_capitals(name);
  require(std::ranges::find(foreign, capitals) == foreign.end(), "operator: name=", name,
          " (is a model of neuraloperator whose layers are not here). ", advice, ".");
}

void refuse_foreign_tensors(const data::Safetensors& content, const std::string& who) {
  const std::string found = foreign_model(content);
  require<DataError>(found.empty(), "weights: file=", who, " (holds the tensors of neuraloperator's ", found,
                     ", whose layers are not here). ", advice, ".");
}

}  // namespace opshap::operators
