#include "operators/fno_options.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.hpp"

namespace opshap::operators {

namespace {

// In the order of the enumerations.
const std::vector<std::string> skips = {"none", "identity", "linear", "soft-gating"},
                               activations = {"gelu", "relu", "tanh", "silu"},
                               norms = {"none", "instance_norm", "group_norm", "batch_norm"},
                               stabilizers = {"none", "tanh"};
constexpr double largest_ratio = 64;

template <typename Choice>
const std::string& name_of(Choice choice, const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(choice)];
}

/// null is the choice "none", where there is one.
template <typename Choice>
void read_choice(ConfigReader& reader, const char* key, Choice& choice, const std::vector<std::string>& names) {
  const std::string& absent = name_of(choice, names);
  const std::string found =
      names.front() == "none" ? reader.choice_or_none(key, absent, names) : reader.choice(key, absent, names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (found == names[i]) choice = static_cast<Choice>(i);
}

/// Settings of the reference that change what a network computes, and the one value of each that there is here.
void refuse_others(ConfigReader& reader) {
  const struct {
    const char *key, *only, *why;
  } settings[] = {
      {"resolution_scaling_factor", "null",
       "resamples the skips inside a block, so that the output would depend on the "
       "grid beyond what the operator does"},
      {"complex_data", "false", "needs complex fields; here they are real"},
      {"preactivation", "false", "activates before the spectral convolution; here blocks activate after it"},
      {"separable", "false", "has spectral weights that mix no channels; here they do"},
      {"fno_block_precision", "\"full\"", "rounds spectra to half precision; here they are computed in full"},
      {"max_n_modes", "null", "keeps weights of modes that are not used; here all are"},
  };
  for (const auto& [key, only, why] : settings)
    if (const std::string value = reader.json(key, only); value != only) reader.reject(message(key, "=", value), why);
}

/// Settings that change nothing once the weights are expanded, or outside of a training.
void pass_over(ConfigReader& reader) {
  reader.choice_or_none("factorization", "none",
                        {"none", "dense", "Dense", "tucker", "Tucker", "cp", "CP", "tt", "TT"});
  for (const char* key : {"rank", "fixed_rank_modes", "implementation", "decomposition_kwargs", "channel_mlp_dropout"})
    reader.json(key, "null");
}

}  // namespace

FnoOptions FnoOptions::read(ConfigReader& reader) {
  FnoOptions options;
  BlockOptions& block = options.block;
  options.lifting_channel_ratio = reader.fraction("lifting_channel_ratio", 2, largest_ratio);
  options.projection_channel_ratio = reader.fraction("projection_channel_ratio", 2, largest_ratio);
  options.use_channel_mlp = reader.truth("use_channel_mlp", true);
  options.channel_mlp_expansion = reader.fraction("channel_mlp_expansion", 0.5, largest_ratio);
  read_choice(reader, "fno_skip", block.skip, skips);
  read_choice(reader, "channel_mlp_skip", block.mlp_skip, skips);
  read_choice(reader, "non_linearity", block.activation, activations);
  read_choice(reader, "norm", block.norm, norms);
  read_choice(reader, "stabilizer", block.stabilizer, stabilizers);
  if (!options.use_channel_mlp) block.mlp_skip = Skip::none;  // the reference has none either then
  refuse_others(reader);
  pass_over(reader);
  return options;
}

void FnoOptions::write(nlohmann::ordered_json& config) const {
  const FnoOptions usual;
  const auto add = [&](const char* key, const auto& value, const auto& absent) {
    if (value != absent) config[key] = value;
  };
  const auto add_choice = [&](const char* key, auto choice, auto absent, const std::vector<std::string>& names) {
    if (choice == absent) return;
    const std::string& name = name_of(choice, names);
    config[key] = name == "none" ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
  };
  add("lifting_channel_ratio", lifting_channel_ratio, usual.lifting_channel_ratio);
  add("projection_channel_ratio", projection_channel_ratio, usual.projection_channel_ratio);
  add("use_channel_mlp", use_channel_mlp, usual.use_channel_mlp);
  add("channel_mlp_expansion", channel_mlp_expansion, usual.channel_mlp_expansion);
  add_choice("fno_skip", block.skip, usual.block.skip, skips);
  if (use_channel_mlp) add_choice("channel_mlp_skip", block.mlp_skip, usual.block.mlp_skip, skips);
  add_choice("non_linearity", block.activation, usual.block.activation, activations);
  add_choice("norm", block.norm, usual.block.norm, norms);
  add_choice("stabilizer", block.stabilizer, usual.block.stabilizer, stabilizers);
}

int FnoOptions::mlp_channels(int width) const {
  return static_cast<int>(std::lrint(width * channel_mlp_expansion));  // half to even, as Python's round
}

std::string FnoOptions::beyond_kernels() const {
  if (!use_channel_mlp) return "use_channel_mlp=false";
  if (block.mlp_skip == Skip::linear) return "channel_mlp_skip=linear";
  if (block.activation != Activation::gelu) return "non_linearity=" + name_of(block.activation, activations);
  if (block.norms_whole_fields()) return "norm=" + name_of(block.norm, norms);
  if (block.stabilizer != Stabilizer::none) return "stabilizer=" + name_of(block.stabilizer, stabilizers);
  return "";
}

}  // namespace opshap::operators
