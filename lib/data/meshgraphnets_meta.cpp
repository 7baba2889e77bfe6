#include "data/meshgraphnets_meta.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/strict_json.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

/// Two files of the release have "<dtype: 'float32'>".
Dtype stored_dtype(StrictObject& field) {
  auto word = field.get<std::string>("dtype");
  constexpr std::string_view before = "<dtype: '", behind = "'>";
  if (word.starts_with(before) && word.ends_with(behind))
    word = word.substr(before.size(), word.size() - before.size() - behind.size());
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::int32, Dtype::int64}) {
    if (to_string(dtype) == word) return dtype;
  }
  field.refuse("dtype=" + word, "not one of float32, float64, int32, int64");
}

MeshgraphnetsMeta::Field field_of(StrictObject field, std::int64_t frames) {
  const auto type = field.get<std::string>("type");
  if (type == "dynamic_varlen")
    field.refuse("type=" + type,
                 "an array whose length changes from frame to frame is of another data set: flows have none");
  if (type != "static" && type != "dynamic") field.refuse("type=" + type, "not one of static, dynamic");
  MeshgraphnetsMeta::Field found{
      .dynamic = type == "dynamic", .shape = field.list<std::int64_t>("shape"), .dtype = stored_dtype(field)};
  const std::string shape = "shape=" + shape_text(found.shape);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto good = [](std::int64_t size) { return size == -1 || (size >= 1 && size <= most); };
  if (found.shape.size() != 3 || !std::ranges::all_of(found.shape, good))
    field.refuse(shape, "needs three sizes: frames, nodes or cells, numbers");
  if (std::ranges::count(found.shape, -1) != 1)
    field.refuse(shape, "one size is -1, which follows from the number of bytes, and the others are known");
  found.open_axis = static_cast<std::size_t>(std::ranges::find(found.shape, -1) - found.shape.begin());
  const std::int64_t expected = found.dynamic ? frames : 1;
  if (found.shape[0] != -1 && found.shape[0] != expected)
    field.refuse(shape,
                 message("a ", type, " array has ", expected, " at its first axis, trajectory_length is ", frames));
  return found;
}

}  // namespace

const std::vector<std::string>& MeshgraphnetsMeta::known_fields() {
  static const std::vector<std::string> names = {"cells", "mesh_pos", "node_type", "velocity", "density", "pressure"};
  return names;
}

MeshgraphnetsMeta parse_meshgraphnets_meta(std::string_view text, const std::string& name, bool of_records) {
  const auto json = strict_json<Json>(text, "meshgraphnets: file=" + name);
  StrictObject object(json, {.who = "meshgraphnets: file=" + name + ", ",
                             .advice = "Get the file again.",
                             .missing = "Get the file again.",
                             .of_a_file = true});
  MeshgraphnetsMeta meta;
  meta.simulator = object.get<std::string>("simulator", "");
  if (object.has("dt")) meta.time_step = object.positive("dt");
  if (object.has("start_time")) meta.start = object.get<double>("start_time");
  if (!of_records) return meta;
  meta.frames = object.whole<std::int64_t>("trajectory_length");
  StrictObject features = object.object("features");
  for (const std::string& field : object.list<std::string>("field_names"))
    meta.fields.emplace(field, field_of(features.object(field), meta.frames));
  for (const char* needed : {"cells", "mesh_pos", "node_type", "velocity"}) {
    require<DataError>(meta.fields.contains(needed), "meshgraphnets: file=", name, ", field_names (have no ", needed,
                       ", so it is no flow on meshes). Name a folder of cylinder_flow or airfoil.");
  }
  return meta;
}

std::string format_meshgraphnets_meta(const MeshgraphnetsMeta& meta) {
  Json features = Json::object(), names = Json::array();
  for (const std::string& name : MeshgraphnetsMeta::known_fields()) {
    const auto field = meta.fields.find(name);
    if (field == meta.fields.end()) continue;
    features[name] = {{"type", field->second.dynamic ? "dynamic" : "static"},
                      {"shape", field->second.shape},
                      {"dtype", to_string(field->second.dtype)}};
    names.push_back(name);
  }
  Json json = {{"simulator", meta.simulator}, {"dt", meta.time_step}, {"collision_radius", nullptr}};
  if (meta.start != 0) json["start_time"] = meta.start;
  json["features"] = features;
  json["field_names"] = names;
  json["trajectory_length"] = meta.frames;
  return json.dump();
}

}  // namespace opshap::data
