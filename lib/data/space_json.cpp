#include "data/space_json.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

const char* centring_in_words(Centring centring) { return centring == Centring::node ? "node" : "cell"; }

Centring centring_of(const Json& json) {
  const auto text = json.at("centring").get<std::string>();
  require<DataError>(text == "node" || text == "cell", "domain: centring=", text,
                     " (points are at nodes or in the middle of cells). Write node or cell.");
  return text == "node" ? Centring::node : Centring::cell;
}

Axis axis_of(const Json& json) {
  const Axis axis{.points = json.at("points").get<int>(),
                  .origin = json.at("origin").get<double>(),
                  .extent = json.at("extent").get<double>(),
                  .intervals = json.at("intervals").get<double>(),
                  .offset = json.at("offset").get<double>(),
                  .centring = centring_of(json),
                  .periodic = json.at("periodic").get<bool>(),
                  .keeps_ends = json.value("keeps_ends", false)};
  require<DataError>(axis.points >= 1 && axis.extent > 0 && axis.intervals > 0, "domain: points=", axis.points,
                     ", extent=", axis.extent, ", intervals=", axis.intervals,
                     " (an axis needs positive ones). Write the file again.");
  return axis;
}

/// Of files from before "axes": one centring and one periodicity, and the first point at the origin.
std::vector<Axis> uniform_axes(const Json& json) {
  const auto shape = json.at("shape").get<std::vector<int>>();
  const auto extents = json.at("extents").get<std::vector<double>>();
  require<DataError>(shape.size() == extents.size(), "domain: extents=", extents.size(), " (there are ", shape.size(),
                     " axes). Write one for each axis.");
  const bool periodic = json.at("periodic").get<bool>();
  const Centring centring = centring_of(json);
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    axes.push_back(centring == Centring::cell ? Axis::cells(shape[axis], extents[axis], 0, periodic)
                   : periodic                 ? Axis::ring(shape[axis], extents[axis])
                                              : Axis::nodes(shape[axis], extents[axis]));
  }
  return axes;
}

}  // namespace

Json to_json(const Domain& domain) {
  std::vector<double> extents;
  Json axes = Json::array();
  for (const Axis& axis : domain.axes()) {
    extents.push_back(axis.extent);
    axes.push_back({{"points", axis.points},
                    {"origin", axis.origin},
                    {"extent", axis.extent},
                    {"intervals", axis.intervals},
                    {"offset", axis.offset},
                    {"centring", centring_in_words(axis.centring)},
                    {"periodic", axis.periodic}});
    if (axis.keeps_ends) axes.back()["keeps_ends"] = true;  // files of before do not know it
  }
  return {{"shape", domain.shape()},
          {"extents", extents},
          {"centring", centring_in_words(domain.axes().front().centring)},
          {"periodic", domain.periodic()},
          {"axes", axes}};
}

Json to_json(const pde::Space& space) {
  Json channels = Json::array();
  for (const pde::Channel& channel : space.channels)
    channels.push_back({{"name", channel.name}, {"unit", channel.unit}});
  return {{"channels", std::move(channels)}, {"domain", to_json(space.domain)}};
}

Json to_json(const std::vector<pde::Parameter>& parameters) {
  Json json = Json::object();
  for (const pde::Parameter& parameter : parameters) {
    if (parameter.choices.empty()) {
      json[parameter.name] = parameter.value;
    } else {
      json[parameter.name] = pde::choice(parameters, parameter.name);
    }
  }
  return json;
}

Domain domain_from_json(const Json& json, std::string_view who) try {
  if (!json.contains("axes")) return Domain::grid(uniform_axes(json));
  std::vector<Axis> axes;
  for (const Json& axis : json.at("axes")) axes.push_back(axis_of(axis));
  return Domain::grid(std::move(axes));
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

pde::ParameterValues parameters_from_json(const Json& json, std::string_view who) try {
  pde::ParameterValues values;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      values.emplace(name, value.get<std::string>());
    } else {
      values.emplace(name, value.get<double>());
    }
  }
  return values;
} catch (const Json::exception& error) {
  throw DataError(message(who, ": parameters=", json.dump(), " (", error.what(), "). Make the file again."));
}

}  // namespace opshap::data
