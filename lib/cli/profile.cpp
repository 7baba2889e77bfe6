#include "cli/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/profile_settings.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/smoothing.hpp"
#include "core/toml_text.hpp"
#include "data/import.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"
#include "reporting/table.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// A file of settings, and where it has them. Those of [plane] and [pde.NAME] are known by the names that they get in
/// the end.
Json parse(const std::string& text, const std::string& source, const std::string& file, Places& places) {
  std::map<std::string, int, std::less<>> lines;
  Json settings = parse_toml(text, "profile", source, lines);
  for (const auto& [name, line] : lines) {
    std::string_view key = name;
    if (key.starts_with("plane.")) {
      key.remove_prefix(6);
    } else if (key.starts_with("pde.")) {
      key.remove_prefix(std::min(key.size(), key.find('.', 4)));
      if (!key.empty()) key.remove_prefix(1);
    }
    places.insert_or_assign(std::string(key), message(file, file.empty() ? "" : ", ", "line ", line));
  }
  return settings;
}

/// The object under a key; an empty one without it.
Json table_in(const Json& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found != settings.end() && found->is_object() ? *found : Json::object();
}

std::string text_in(const Json& table, const std::string& key) {
  const auto found = table.find(key);
  return found != table.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t whole_in(const Json& table, const std::string& key) {
  const auto found = table.find(key);
  return found != table.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// Axes of the domain of a problem, or of the data set file that stands in its place.
std::size_t dimension_of(const std::string& problem, const Json& data) {
  if (const Json file = table_in(data, "file"); file.contains("shape") && file["shape"].is_array())
    return file["shape"].size();
  return static_cast<std::size_t>(pde::find(problem).input().domain.dimension());
}

/// Whether the data are flows on meshes.
bool on_meshes(const std::string& problem, const Json& data) {
  const Json file = table_in(data, "file");
  return file.contains("shape") ? file["shape"].is_array() && file["shape"].empty() : pde::has_trajectories(problem);
}

/// Lays settings over others. The settings of one architecture mean nothing to another.
void lay_profile_over(Json& under, const Json& over) {
  const Json model = table_in(over, "operator");
  if (model.contains("model") && text_in(model, "model") != text_in(table_in(under, "operator"), "model"))
    under.erase("operator");
  lay_over(under, over);
}

/// Lays what a table has for planes or meshes and for one problem over the rest of it.
void settle(Json& table, const std::string& problem, const Json& data) {
  const auto take = [](Json& from, const std::string& key) {
    Json taken = table_in(from, key);
    from.erase(key);
    return taken;
  };
  const Json plane = take(table, "plane"), meshes = take(table, "meshes"), problems = take(table, "pde");
  for (const auto& [name, settings] : problems.items())
    pde::find_equation(name);  // an unknown name would never be used
  if (problem.empty()) return;
  if (on_meshes(problem, data))
    lay_profile_over(table, meshes);
  else if (dimension_of(problem, data) == 2)
    lay_profile_over(table, plane);
  lay_profile_over(table, table_in(problems, problem));
}

/// A cloud of points has one resolution, which is all of its points.
void require_cloud(const Profile& profile) {
  const int points = profile.data.scattered;
  require(profile.resolutions == std::vector<Resolution>{points}, "profile: data.scattered=", points,
          ", resolutions=", Json(profile.resolutions),
          " (fields at scattered points have one resolution). Write resolutions = [", points, "].");
  require(profile.evaluation.unseen.empty(), "profile: evaluation.unseen (with data.scattered=", points,
          " there are no other grids). Leave it out.");
}

/// A flow is served on its own mesh.
void require_meshes(const Profile& profile) {
  require(profile.resolutions == std::vector<Resolution>{Resolution::own()}, "profile: pde=", profile.data.pde,
          ", resolutions=", Json(profile.resolutions),
          " (flows on meshes are served on their own mesh). Write resolutions = [\"own\"].");
  require(profile.evaluation.unseen.empty() && profile.data.scattered == 0, "profile: pde=", profile.data.pde,
          ", evaluation.unseen, data.scattered (flows on meshes have no other grids). Leave them out.");
}

/// Refuses at once a baseline that no stage of the run could work with. Of data from elsewhere only their file knows.
void require_baseline(const Profile& profile) {
  const ScenarioRule& rule = profile.evaluation.scenario;
  require(rule.baseline != ScenarioRule::Hidden::blur || profile.data.scattered == 0,
          "profile: scenario.baseline=", blur_in_words(rule.blur), ", data.scattered=", profile.data.scattered,
          " (nobody can smooth on scattered points). Give another baseline.");
  if (!profile.data.has_problem()) return;
  const std::unique_ptr<pde::Equation> equation = profile.data.equation();
  if (rule.baseline == ScenarioRule::Hidden::rest) {
    const pde::Rest rest = equation->rest();
    require(static_cast<bool>(rest), "profile: scenario.baseline=rest (", profile.data.pde,
            " has no state at rest: ", rest.reason, "). Give a number for each channel, or \"mean\".");
  }
  const auto name = [](const pde::Channel& channel) { return channel.name; };
  const std::vector<pde::Channel> channels = input_channels(*equation);
  require(rule.baseline != ScenarioRule::Hidden::constant || rule.constants.size() == channels.size(),
          "profile: scenario.baseline=[", joined(rule.constants), "] (the inputs of ", profile.data.pde,
          " have the channels ", reporting::listing(channels, name), "). Give one number for each channel.");
  require(rule.baseline != ScenarioRule::Hidden::blur || !profile.data.on_meshes(),
          "profile: scenario.baseline=", blur_in_words(rule.blur), ", pde=", profile.data.pde,
          " (nobody can smooth on meshes). Give another baseline.");
  if (rule.baseline == ScenarioRule::Hidden::blur) {
    const pde::Space space = profile.data.problem()->input();
    for (const Resolution& resolution : profile.resolutions)
      if (has_resolution(space.domain, resolution))
        require_smoothing("profile", at_resolution(space.domain, resolution), rule.blur);
    const FieldBatch none = FieldBatch::zeros(space.domain, 0, 1);
    for (const Resolution& resolution : profile.evaluation.unseen)
      require_smoothing("profile", interpolated(none, resolution.shape(space.domain.dimension())).domain, rule.blur);
  }
}

/// The table of the first explainer and those of the further ones, with their names.
std::vector<std::pair<std::string, Json*>> explainer_tables(Json& settings) {
  std::vector<std::pair<std::string, Json*>> found;
  if (settings.contains("explainer")) found.emplace_back("explainer", &settings["explainer"]);
  if (settings.contains("explainers") && settings["explainers"].is_object())
    for (auto& [name, value] : settings["explainers"].items()) found.emplace_back("explainers." + name, &value);
  std::erase_if(found, [](const auto& table) { return !table.second->is_object(); });
  return found;
}

/// Takes out of the explainers' settings what the data have not: further inputs where nothing draws any, which are data
/// from elsewhere, flows, and scattered points; of flows also fine_from, since their meshes have no points per axis.
/// Throws InvalidArgument where it is the caller's file, `written`, that asks for them.
void leave_out_what_the_data_lack(Json& settings, Json written) {
  const Json data = table_in(settings, "data");
  const bool scattered = whole_in(data, "scattered") > 0, flows = on_meshes(text_in(data, "pde"), data);
  if (!scattered && !flows && text_in(table_in(data, "file"), "imported_from").empty()) return;
  for (const auto& [name, table] : explainer_tables(written)) {
    const std::int64_t count = whole_in(*table, "unlabelled"), fine = flows ? whole_in(*table, "fine_from") : 0;
    require(count == 0, "profile: ", name, ".unlabelled=", count, " (nothing draws inputs ",
            scattered ? "at scattered points" : "of these data", "). Leave it out and raise data.train instead.");
    require(fine == 0, "profile: ", name, ".fine_from=", fine,
            " (a flow is served on its own mesh, which has no points per axis). Leave it out.");
  }
  for (const auto& [name, table] : explainer_tables(settings)) {
    table->erase("unlabelled");
    table->erase("unlabelled_shares");
    if (flows) table->erase("fine_from");
  }
}

/// Lays an explainer's table over the settings, after those of the explainers that it is like.
void lay_explainer_over(Json& settings, StrictObject& all, const std::string& name, std::size_t depth = 0) {
  require(all.has(name), "profile: explainers.", name,
          " (there is none, and another one is like it). Correct the name.");
  require(all.value(name).is_object(), "profile: explainers.", name, " (is not a table). Write [explainers.", name,
          "].");
  require(depth < all.keys().size(), "profile: explainers.", name, " (is like itself in the end). Break the circle.");
  Json own = all.value(name);
  if (const std::string other = text_in(own, "like"); !other.empty()) {
    lay_explainer_over(settings, all, other, depth + 1);
    own.erase("like");
  }
  lay_over(settings, own);
}

Profile read(const Json& table, const std::string& name, Places places) {
  StrictObject root(table, {.who = "profile: ",
                            .missing = "Add it; `opshap list profiles` names complete examples.",
                            .places = std::move(places)});
  Profile profile;
  profile.name = name;
  profile.summary = root.get<std::string>("summary");
  profile.resolutions = read_resolutions(root, "resolutions");

  read_settings(data_settings(), root.object("data"), profile.data);
  const networks::NetworkSettings model = read_operator(root.object("operator"));
  profile.backbone.model = model;
  profile.backbone.resolutions = profile.resolutions;
  read_settings(backbone_settings(), root.object("backbone"), profile.backbone);

  profile.explainer = read_explainer(root.object("explainer"), model, profile.resolutions);
  // What a further explainer is read from: it must live as long as its reader.
  std::map<std::string, Json> further_tables;
  if (root.has("explainers")) {
    StrictObject further = root.object("explainers");
    for (const std::string& of : further.keys()) {
      if (further.value(of) == false) continue;  // an overlay leaves it out
      Json& settings = further_tables[of] = root.value("explainer");
      lay_explainer_over(settings, further, of);
    }
    const Json all = further_tables;
    StrictObject laid(all, root.voice(), "explainers.");
    for (const std::string& of : laid.keys())
      profile.explainers[of] = read_explainer(laid.object(of), model, profile.resolutions);
  }

  read_settings(evaluation_settings(), root.object("evaluation"), profile.evaluation);
  profile.evaluation.scenario = profile.data.usual_rule();
  if (root.has("scenario")) read_settings(scenario_settings(), root.object("scenario"), profile.evaluation.scenario);
  profile.explainer.scenario = profile.evaluation.scenario;
  for (auto& [of, recipe] : profile.explainers) recipe.scenario = profile.evaluation.scenario;
  profile.evaluation.resolutions = profile.resolutions;
  if (profile.data.scattered > 0) require_cloud(profile);
  if (profile.data.on_meshes()) require_meshes(profile);
  require_baseline(profile);
  for (const Resolution& size : profile.evaluation.unseen) {
    require(std::ranges::find(profile.resolutions, size) == profile.resolutions.end(),
            "profile: evaluation.unseen=", size, " (the explainer is trained at this size). Take it out of the list.");
  }
  require(profile.evaluation.inputs <= profile.data.test, "profile: evaluation.inputs=", profile.evaluation.inputs,
          " (there are ", profile.data.test, " test samples). Lower it or raise data.test.");
  root.finish();
  return profile;
}

/// The object that read() reads. What is as it is by default and newer than stored runs is left out, so that these keep
/// their identity.
Json settings_of(const Profile& profile) {
  networks::ExplainerRecipe usual_explainer;
  usual_explainer.resolutions = profile.resolutions;
  Json settings = {{"summary", profile.summary},
                   {"resolutions", profile.resolutions},
                   {"data", written_settings(data_settings(), profile.data)},
                   {"operator", written_operator(profile.backbone.model)},
                   {"backbone", written_settings(backbone_settings(), profile.backbone)},
                   {"explainer", written_settings(explainer_settings(), profile.explainer, usual_explainer)},
                   {"evaluation", written_settings(evaluation_settings(), profile.evaluation)}};
  // That of the defaults: a parameter of today's problem changes no rule that a stored run has.
  const ScenarioRule usual = profile.data.usual_rule();
  Json scenario = written_settings(scenario_settings(), profile.evaluation.scenario, usual);
  if (!scenario.empty()) settings["scenario"] = std::move(scenario);
  for (const auto& [name, recipe] : profile.explainers)
    settings["explainers"][name] = written_settings(explainer_settings(), recipe, profile.explainer);
  return settings;
}

/// The profile's resolutions give way to those of an imported file whose grid does not have them or has axes of
/// different sizes, unless the caller's own file, `written`, says them.
void take_resolutions(Json& settings, const Json& written, const DataFile& file) {
  if (file.shape.empty() || file.imported_from.empty() || file.resolutions.empty() || written.contains("resolutions"))
    return;
  StrictObject all(settings, {.who = "profile: "});
  const auto fits = [&](const Resolution& resolution) { return has_resolution(file.domain, resolution); };
  const bool equal_axes = Resolution(file.domain.shape()).numbers().size() == 1;
  if (!equal_axes || !std::ranges::all_of(read_resolutions(all, "resolutions"), fits))
    settings["resolutions"] = file.resolutions;
}

/// The profile of load_profile(), with `data` over its table of that name. `file`, if any, is the data set.
Profile load(const std::string& name_or_file, const std::filesystem::path& overrides, const Json& data,
             const std::optional<DataFile>& file = {}) {
  Json table;
  Places places;
  std::string name = name_or_file;
  const bool own_file = name_or_file.ends_with(".toml");
  if (own_file) {
    table = parse(read_file(name_or_file), name_or_file, name_or_file, places);
    name = std::filesystem::path(name_or_file).stem();
  } else {
    const EmbeddedSettings* const found = embedded(embedded_profiles(), name);
    if (found == nullptr) throw_unknown_name("profile", name, names_of(embedded_profiles()));
    table = parse(found->text, "profile " + name, "profile " + name, places);
  }
  Json over = Json::object();
  bool ours = true;
  if (!overrides.empty()) {
    const EmbeddedSettings* const named = embedded(embedded_overlays(), overrides.string());
    ours = named != nullptr;
    over = parse(ours ? named->text : read_file(overrides), overrides.string(),
                 ours ? "overlay " + overrides.string() : overrides.string(), places);
    name += "+" + overrides.stem().string();
  }
  lay_over(over, Json{{"data", data}});
  const Json given = table_in(table, "data"), asked = table_in(over, "data");
  const std::string problem = asked.contains("pde") ? text_in(asked, "pde") : text_in(given, "pde");
  const Json of = table.contains("data") && !asked.contains("pde") ? given : asked;
  settle(table, problem, of);
  settle(over, problem, of);
  Json written = own_file ? table : Json::object();
  if (!ours) lay_over(written, over);
  lay_profile_over(table, over);
  if (file) take_resolutions(table, written, *file);
  leave_out_what_the_data_lack(table, std::move(written));
  if (data.contains("test") && whole_in(table_in(table, "evaluation"), "inputs") > whole_in(data, "test"))
    table["evaluation"]["inputs"] = data["test"];
  return read(table, name, std::move(places));
}

}  // namespace

const EmbeddedSettings* embedded(const std::vector<EmbeddedSettings>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &EmbeddedSettings::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<EmbeddedSettings>& all) {
  std::vector<std::string> names;
  for (const EmbeddedSettings& settings : all) names.push_back(settings.name);
  return names;
}

bool DataSettings::on_meshes() const { return file ? file->shape.empty() : pde::has_trajectories(pde); }

std::unique_ptr<pde::Problem> DataSettings::problem() const { return pde::find(pde).with(parameters); }

std::unique_ptr<pde::Equation> DataSettings::equation() const { return pde::equation_with(pde, parameters); }

ScenarioRule DataSettings::usual_rule() const {
  const std::string_view name = pde;
  const std::string_view ours =
      name.starts_with(data::imported_flows) ? name.substr(data::imported_flows.size()) : name;
  const bool known = has_problem() || (ours != name && pde::has_trajectories(ours));
  return known ? pde::find_equation(ours).default_rule() : ScenarioRule{};
}

Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides, const std::string& pde) {
  return load(name_or_file, overrides, pde.empty() ? Json::object() : Json{{"pde", pde}});
}

Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides,
                     const DataSettings& data) {
  return load(name_or_file, overrides, written_settings(data_settings(), data), data.file);
}

Profile load_profile_for(const std::string& name_or_file, const std::filesystem::path& overrides,
                         const std::filesystem::path& file, const data::Dataset& data) {
  Profile profile = load_profile(name_or_file, overrides);
  const bool flows = !data.node_types.empty();
  const auto has = [&](const Resolution& resolution) {
    return flows ? resolution.is_own() : has_resolution(data.inputs.domain(0), resolution);
  };
  const bool fits = std::ranges::all_of(profile.resolutions, has) &&
                    profile.evaluation.inputs <= static_cast<int>(data.indices(data::Split::test).size());
  const bool one_cloud = profile.data.scattered > 0 || !data.inputs.domain(0).is_grid();
  if (fits || (one_cloud && !flows)) return profile;
  return load_profile(name_or_file, overrides, settings_of_file(file));
}

DataSettings settings_of_file(const std::filesystem::path& path) try {
  const auto metadata = nlohmann::ordered_json::parse(data::read_dataset_metadata(path));
  const auto& request = metadata.at("request");
  const std::string imported_from = data::imported_from(metadata);
  DataSettings settings{.pde = metadata.at("pde").get<std::string>(),
                        .parameters = {},
                        .train = request.at("train").get<int>(),
                        .validation = request.at("validation").get<int>(),
                        .test = request.at("test").get<int>()};
  if (imported_from.empty()) settings.parameters = data::parameters_from_json(metadata.at("parameters"), path.string());
  require(settings.train >= 1 && settings.validation >= 1 && settings.test >= 1, "data set: file=", path.string(),
          ", train=", settings.train, ", validation=", settings.validation, ", test=", settings.test,
          " (a run needs samples of each kind). Make a data set that has them.");
  settings.file = DataFile{.path = path.string(),
                           .content_hash = metadata.at("content_xxh64").get<std::string>(),
                           .imported_from = imported_from,
                           .shape = {},
                           .domain = {},
                           .resolutions = request.at("resolutions").get<std::vector<Resolution>>()};
  if (metadata.contains("windows")) {
    settings.windows = metadata["windows"].get<int>();
    return settings;
  }
  settings.file->domain = data::space_from_json(metadata.at("input"), path.string()).domain;
  settings.file->shape = settings.file->domain.shape();
  return settings;
} catch (const nlohmann::json::exception& error) {
  throw DataError(message("data set: file=", path.string(), " (", error.what(), " in its metadata). Make it again."));
}

Profile parse_profile(const std::string& text, const std::string& source) {
  Places places;
  const Json settings = parse(text, source, "", places);
  return read(settings, std::filesystem::path(source).stem(), std::move(places));
}

std::string to_toml(const Profile& profile) { return toml_text(settings_of(profile), {"data.parameters"}); }

std::string identity(const Profile& profile) {
  Profile nameless = profile;
  nameless.summary.clear();
  if (nameless.data.file) nameless.data.file->path.clear();
  return to_toml(nameless);
}

namespace {

std::string resolutions_in_words(const std::vector<Resolution>& values) {
  return "[" + reporting::listing(values, [](const Resolution& value) { return message(value); }) + "]";
}

std::string curves_in_words(const std::vector<evaluation::BudgetCurve>& curves) {
  const auto of_one = [](const evaluation::BudgetCurve& curve) {
    return fmt::format("n = {}: [{}] on {} inputs", curve.players, fmt::join(curve.budgets, ", "), curve.inputs);
  };
  return curves.empty() ? "none" : reporting::listing(curves, of_one);
}

/// The settings of a recipe that only the suite has, where they differ from the paper's.
std::vector<std::string> settings_beyond(const networks::ExplainerRecipe& recipe,
                                         const networks::ExplainerRecipe& paper) {
  std::vector<std::string> words;
  for (const Setting<networks::ExplainerRecipe>& setting : explainer_settings()) {
    if (!setting.optional) continue;
    const auto value = setting.write(recipe, paper);
    if (!value.is_null()) words.push_back(message(setting.key, " = ", value));
  }
  return words;
}

/// How an operator differs from the paper's. The settings of two architectures cannot be compared one by one.
std::vector<std::string> operator_departures(const networks::NetworkSettings& ours,
                                             const networks::NetworkSettings& theirs) {
  const auto settings = nlohmann::ordered_json::parse(ours.json), papers = nlohmann::ordered_json::parse(theirs.json);
  if (ours.model != theirs.model) {
    const auto in_words = [](const auto& setting) { return message(setting.key(), " = ", setting.value()); };
    return {message("operator: ", ours.model, " (", reporting::listing(settings.items(), in_words),
                    ") instead of the paper's ", theirs.model)};
  }
  std::vector<std::string> sentences;
  for (const auto& [key, value] : papers.items()) {
    const auto own = settings.value(key, nlohmann::ordered_json("none"));
    if (own != value) sentences.push_back(message("operator ", key, ": ", own, " instead of the paper's ", value));
  }
  for (const auto& [key, value] : settings.items()) {
    if (!papers.contains(key))
      sentences.push_back(message("operator ", key, ": ", value, ", which the paper's settings do not have"));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> departures(const Profile& profile) {
  std::vector<std::string> sentences;
  const DataSettings& data = profile.data;
  if (data.file) {
    sentences.push_back(data.file->imported_from.empty()
                            ? message("data: the data set ", data.file->path, ", which this run did not make")
                            : message("data: imported from ", data.file->imported_from, "; not the paper's"));
  }
  if (!data.file && data.on_meshes())
    sentences.push_back(
        "data: flows of our own solver on our own meshes, which stand in for those of the MeshGraphNets release");
  if (data.scattered > 0)
    sentences.push_back(message("data: at ", data.scattered, " scattered points of the grid instead of the grid"));
  const Profile paper = data.file ? load_profile("paper", {}, data) : load_profile("paper", {}, data.pde);
  // A file has its own counts and parameters. Those of the paper are in the profile without it.
  const Profile papers = data.file ? load_profile("paper", {}, data.has_problem() ? data.pde : "") : paper;
  const auto differs = [&](const std::string& what, const auto& ours, const auto& theirs) {
    if (ours != theirs) sentences.push_back(message(what, ": ", ours, " instead of the paper's ", theirs));
  };
  const auto add = [&](const std::vector<std::string>& further) {
    sentences.insert(sentences.end(), further.begin(), further.end());
  };
  add(settings_that_differ(data_settings(), "", data, papers.data));
  if (data.has_problem()) {
    const std::unique_ptr<pde::Equation> equation = data.equation();
    for (const pde::Parameter& theirs : pde::equation_with(data.pde, papers.data.parameters)->parameters())
      differs("parameter " + theirs.name + " of the problem", pde::number(equation->parameters(), theirs.name),
              theirs.value);
  }
  differs("resolutions", resolutions_in_words(profile.resolutions), resolutions_in_words(paper.resolutions));
  add(operator_departures(profile.backbone.model, paper.backbone.model));
  add(settings_that_differ(backbone_settings(), "backbone ", profile.backbone, paper.backbone));
  networks::ExplainerRecipe papers_recipe = paper.explainer;
  papers_recipe.resolutions = profile.resolutions;  // those of the profile have a sentence of their own
  add(settings_that_differ(explainer_settings(), "explainer ", profile.explainer, papers_recipe));
  for (const std::string& setting : settings_beyond(profile.explainer, papers_recipe))
    sentences.push_back("explainer: " + setting + ", which the paper's recipe does not have");
  for (const auto& [name, recipe] : profile.explainers) {
    sentences.push_back(fmt::format("a further explainer, {}, that the paper does not have: {}", name,
                                    fmt::join(settings_beyond(recipe, papers_recipe), ", ")));
  }
  const evaluation::EvaluationSettings &ours = profile.evaluation, &theirs = paper.evaluation;
  // A file may have fewer test inputs than the paper's.
  add(settings_that_differ(evaluation_settings(), "", ours, papers.evaluation));
  for (const std::string& method : theirs.methods) {
    if (std::ranges::find(ours.methods, method) == ours.methods.end())
      sentences.push_back(message("methods: without ", method, ", which the paper's table has"));
  }
  differs("budgets of the curves", curves_in_words(ours.curves), curves_in_words(theirs.curves));
  differs("game", ours.scenario.describe(), theirs.scenario.describe());
  return sentences;
}

bool comparable_with_paper(Profile profile) {
  profile.explainers.clear();
  return departures(profile).empty();
}

std::vector<Profile> load_profiles(const std::string& name_or_file, const std::filesystem::path& overrides,
                                   std::vector<std::string> pdes) {
  if (pdes == std::vector<std::string>{"all"}) {
    pdes.clear();
    for (const std::string& name : pde::names())
      if (pde::find_equation(name).in_paper()) pdes.push_back(name);
  }
  std::vector<Profile> profiles;
  for (const std::string& pde : pdes) profiles.push_back(load_profile(name_or_file, overrides, pde));
  return profiles;
}

data::DatasetRequest data_request(const Profile& profile, std::uint64_t seed) {
  return {.pde = profile.data.pde,
          .parameters = profile.data.parameters,
          .layout = {.samples = profile.data.samples(),
                     .train = profile.data.train,
                     .validation = profile.data.validation,
                     .test = profile.data.test,
                     .resolutions = profile.data.scattered > 0 ? std::vector<Resolution>{} : profile.resolutions},
          .seed = seed,
          .windows = profile.data.windows};
}

data::Dataset at_points_of(const Profile& profile, data::Dataset data) {
  return profile.data.scattered > 0 ? data::scattered(std::move(data), profile.data.scattered) : std::move(data);
}

}  // namespace opshap::cli
