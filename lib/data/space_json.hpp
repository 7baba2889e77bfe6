#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "pde/problem.hpp"

namespace opshap::data {

/// Domains and spaces as JSON, as data sets and weights carry them: {"shape":[..],"extents":[..],"centring":..,
/// "periodic":..} and {"channels":[{"name":..,"unit":..},..],"domain":{..}}. Numbers survive the way there and back
/// exactly.
nlohmann::ordered_json to_json(const Domain& domain);
nlohmann::ordered_json to_json(const pde::Space& space);

/// Throw DataError, starting with `who`, for JSON that is not such a domain or space.
Domain domain_from_json(const nlohmann::ordered_json& json, std::string_view who);
pde::Space space_from_json(const nlohmann::ordered_json& json, std::string_view who);

}  // namespace opshap::data
