#include "data/space_json.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

Json to_json(const Domain& domain) {
  return {{"shape", domain.shape},
          {"extents", domain.extents},
          {"centring", domain.centring == Centring::node ? "node" : "cell"},
          {"periodic", domain.periodic}};
}

Json to_json(const pde::Space& space) {
  Json channels = Json::array();
  for (const pde::Channel& channel : space.channels)
    channels.push_back({{"name", channel.name}, {"unit", channel.unit}});
  return {{"channels", std::move(channels)}, {"domain", to_json(space.domain)}};
}

Domain domain_from_json(const Json& json, std::string_view who) try {
  return {json.at("shape").get<std::vector<int>>(), json.at("extents").get<std::vector<double>>(),
          json.at("centring").get<std::string>() == "node" ? Centring::node : Centring::cell,
          json.at("periodic").get<bool>()};
} catch (const Json::exception& error) {
  throw DataError(message(who, ": domain=", json.dump(), " (", error.what(), "). Make the file again."));
}

pde::Space space_from_json(const Json& json, std::string_view who) try {
  pde::Space space;
  for (const Json& channel : json.at("channels"))
    space.channels.push_back({channel.at("name").get<std::string>(), channel.at("unit").get<std::string>()});
  space.domain = domain_from_json(json.at("domain"), who);
  return space;
} catch (const Json::exception& error) {
  throw DataError(message(who, ": space=", json.dump(), " (", error.what(), "). Make the file again."));
}

}  // namespace opshap::data
