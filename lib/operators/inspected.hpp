#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace opshap::operators {

/// What a file of weights says of itself, and for a model of which nothing is known, what it makes of grids: {operator,
/// config, dimension, in_channels, out_channels, parameters, real_numbers, mean_field, domain, inverse_shift,
/// normalisers, coalitions, grids [{shape, failure, change_to_twice_as_many}]}, of which those that say nothing are left
/// out. `input` is the shape of an array that a TorchScript model is to get; empty where nobody says. Throws as
/// load_network() and load_torch_script().
nlohmann::ordered_json inspected(const std::filesystem::path& weights, const std::vector<std::int64_t>& input,
                                 const std::string& device);

}  // namespace opshap::operators
