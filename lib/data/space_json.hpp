#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "pde/problem.hpp"

namespace opshap::data {

/// Domains, spaces and parameters as JSON, as data sets and weights carry them. Numbers survive the way there and back
/// exactly.
///
/// A domain is a grid: {"shape","extents","centring","periodic","axes":[{"points","origin","extent","intervals",
/// "offset","centring","periodic"},..]}. The first four keys are those of files from before "axes": sizes, the first
/// axis's centring, and whether all axes are periodic. A space is {"channels":[{"name","unit"},..],"domain":{..}}.
/// Throws InvalidArgument for a mesh.
nlohmann::ordered_json to_json(const Domain& domain);
nlohmann::ordered_json to_json(const pde::Space& space);
/// {"nu":0.01,"solver":"etdrk4"}, in the order of the parameters.
nlohmann::ordered_json to_json(const std::vector<pde::Parameter>& parameters);

/// Throw DataError, starting with `who`, for JSON that is not such a domain or space, or not such values.
Domain domain_from_json(const nlohmann::ordered_json& json, std::string_view who);
pde::Space space_from_json(const nlohmann::ordered_json& json, std::string_view who);
pde::ParameterValues parameters_from_json(const nlohmann::ordered_json& json, std::string_view who);

}  // namespace opshap::data
