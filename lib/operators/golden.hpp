#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "networks/networks.hpp"
#include "networks/recipe.hpp"

namespace opshap::operators {

class Network;

/// The output of an operator whose parameters and input are made from integers alone, rounded to float32: with sm the
/// SplitMix64 finaliser, U(t, j) = (sm(t·2^32 + j) >> 11)·2^-53·2 − 1; tensor t (in byte order of the names) has
/// 0.15·U(t, j) for complex weights (re, im after one another), 1 + 0.1·U for gates, 0.1·U for biases,
/// sqrt(3·shape[0]/size)·U for the rest; the input is U(1000, j). input_shape is [B, C, n] or [B, C, n0, n1]. For a
/// network on meshes it is [B, C, N]: the points 1..N are at frac(½ + i·0.7548776662466927) and
/// frac(½ + i·0.5698402909980532), rounded to float32, and the input's index j runs over [B, N, C]. Throws
/// InvalidArgument when it does not fit the config, and as tensor_options for the device.
FieldBatch golden_output(const networks::NetworkConfig& config, const std::vector<std::int64_t>& input_shape,
                         networks::Precision precision, const std::string& device = "cpu");
networks::GoldenValues golden_values(const FieldBatch& output);

/// Gives a network the parameters described above.
void set_golden_parameters(Network& network);

/// U(tensor, index) as above.
double golden_number(std::uint64_t tensor, std::uint64_t index);

/// What a file of weights says of itself, and for a model of which nothing is known, what it makes of grids: {operator,
/// config, dimension, in_channels, out_channels, parameters, real_numbers, mean_field, domain, inverse_shift,
/// normalisers, coalitions, grids [{shape, failure, change_to_twice_as_many}]}, of which those that say nothing are
/// left out. `input` is the shape of an array that a TorchScript model is to get; empty where nobody says. Throws as
/// load_network() and load_torch_script().
nlohmann::ordered_json inspected(const std::filesystem::path& weights, const std::vector<std::int64_t>& input,
                                 const std::string& device);

}  // namespace opshap::operators
