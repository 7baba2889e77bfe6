#include "cli/profile.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/data_section.hpp"
#include "cli/explainer_section.hpp"
#include "cli/operator_section.hpp"
#include "cli/profile_section.hpp"
#include "cli/scenario_section.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "data/dataset.hpp"
#include "data/import.hpp"
#include "data/space_json.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

toml::table parse(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw DataError(message("profile: ", source, " line ", error.source().begin.line, " (", error.description(),
                            "). Correct the TOML."));
  }
}

void merge(toml::table& into, const toml::table& from) {
  for (const auto& [key, value] : from) {
    toml::node* known = into.get(key);
    if (known != nullptr && known->is_table() && value.is_table()) {
      merge(*known->as_table(), *value.as_table());
    } else {
      value.visit([&, name = key.str()](const auto& concrete) { into.insert_or_assign(name, concrete); });
    }
  }
}

/// Where a file has its settings. Those of [plane] and [pde.NAME] are known by the names that they get in the end.
void add_places(Places& places, const toml::table& table, const std::string& prefix, const std::string& file) {
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (const toml::table* inner = value.as_table(); inner != nullptr && !inner->is_inline()) {
      const bool laid_over = prefix.empty() && (name == "plane" || name == "pde");
      if (laid_over && name == "pde") {
        for (const auto& [problem, settings] : *inner)
          if (settings.is_table()) add_places(places, *settings.as_table(), "", file);
      } else {
        add_places(places, *inner, laid_over ? "" : prefix + name + ".", file);
      }
      continue;
    }
    places.insert_or_assign(prefix + name, message(file, ", line ", value.source().begin.line));
  }
}

/// Axes of the domain of a problem, or of the data set file that stands in its place.
std::size_t dimension_of(const std::string& problem, const toml::table& data) {
  if (const toml::array* shape = data["file"]["shape"].as_array()) return shape->size();
  return static_cast<std::size_t>(pde::find(problem).input().domain.dimension());
}

/// Lays what a table has for planes and for one problem over the rest of it.
void settle(toml::table& table, const std::string& problem, const toml::table& data) {
  const auto take = [](toml::table& from, const std::string& key) {
    toml::table taken;
    if (const toml::table* held = from.get_as<toml::table>(key)) taken = *held;
    from.erase(key);
    return taken;
  };
  const toml::table plane = take(table, "plane");
  toml::table problems = take(table, "pde");
  for (const auto& [name, settings] : problems) pde::find(name.str());  // an unknown name would never be used
  if (problem.empty()) return;
  if (dimension_of(problem, data) == 2) merge(table, plane);
  merge(table, take(problems, problem));
}

/// An entry n or [nx, ny] of a list of resolutions.
Resolution resolution_of(const toml::node& entry, const std::string& key) {
  std::vector<int> shape;
  const auto add = [&](const toml::node& number) {
    const auto points = number.value<std::int64_t>();
    require(points && *points >= 2 && *points <= 1 << 15, "profile: ", key, "=", points.value_or(0),
            " (an axis needs 2..32768 points). Correct the list.");
    shape.push_back(static_cast<int>(*points));
  };
  if (const toml::array* axes = entry.as_array()) {
    for (const toml::node& number : *axes) add(number);
  } else {
    add(entry);
  }
  require(shape.size() == 1 || shape.size() == 2, "profile: ", key, " (an entry has ", shape.size(),
          " numbers). Write n, or [nx, ny].");
  return Resolution(std::move(shape));
}

/// Ascending.
std::vector<Resolution> resolutions(Section& section, const std::string& key) {
  const toml::array* entries = section.node(key).as_array();
  require(entries != nullptr, "profile: ", key, " (is not a list). Write [16, 32], or [[12, 20], [24, 40]].");
  std::vector<Resolution> sizes;
  for (const toml::node& entry : *entries) sizes.push_back(resolution_of(entry, key));
  require(!sizes.empty() && sizes.size() < 256, "profile: ", key, "=", sizes.size(),
          " entries (needs 1..255). Correct the list.");
  require(std::is_sorted(sizes.begin(), sizes.end()), "profile: ", key, " (are not ascending). Sort the list.");
  return sizes;
}

toml::array toml_of(const std::vector<Resolution>& resolutions) {
  toml::array list;
  for (const Resolution& resolution : resolutions) {
    if (resolution.numbers().size() == 1) {
      list.push_back(resolution.numbers().front());
    } else {
      list.push_back(list_of(resolution.numbers()));
    }
  }
  return list;
}

/// Of one attribution: what is drawn at once, and still fits into the memory of a large machine.
constexpr std::int64_t most_coalitions = std::int64_t{1} << 28;

evaluation::EvaluationSettings read_evaluation(Section section) {
  evaluation::EvaluationSettings settings;
  settings.inputs = section.count("inputs");
  settings.methods = section.list<std::string>("methods");
  settings.minimum_budget = section.count<std::int64_t>("minimum_budget", 2, most_coalitions);
  settings.faithfulness_coalitions = section.count<std::int64_t>("faithfulness_coalitions", 2, most_coalitions);
  settings.exact_players = section.count("exact_players");
  settings.reference_error = section.positive("reference_error");
  settings.reference_budget = section.count<std::int64_t>("reference_budget", 2);
  if (section.has("unseen") && !(section.node("unseen").as_array() && section.node("unseen").as_array()->empty()))
    settings.unseen = resolutions(section, "unseen");
  const toml::array* curves = section.node("curves").as_array();
  require(curves != nullptr, "profile: evaluation.curves (is not a list). Give a list of tables.");
  for (const toml::node& element : *curves) {
    require(element.is_table(),
            "profile: evaluation.curves (an entry is not a table). Give {players, budgets, inputs}.");
    Section curve(*element.as_table(), "evaluation.curves.");
    settings.curves.push_back({.players = curve.count("players", 2),
                               .budgets = curve.list<std::int64_t>("budgets"),
                               .inputs = curve.count("inputs")});
    curve.finish();
  }
  section.finish();
  return settings;
}

/// A cloud of points has one resolution, which is all of its points.
void require_cloud(const Profile& profile) {
  const int points = profile.data.scattered;
  require(profile.resolutions == std::vector<Resolution>{points}, "profile: data.scattered=", points,
          ", resolutions=", toml_of(profile.resolutions),
          " (fields at scattered points have one resolution). Write resolutions = [", points, "].");
  require(profile.evaluation.unseen.empty(), "profile: evaluation.unseen (with data.scattered=", points,
          " there are no other grids). Leave it out.");
}

/// The table of the first explainer and those of the further ones, with their names.
std::vector<std::pair<std::string, toml::table*>> explainer_tables(toml::table& settings) {
  std::vector<std::pair<std::string, toml::table*>> found;
  if (toml::table* first = settings["explainer"].as_table()) found.emplace_back("explainer", first);
  if (toml::table* further = settings["explainers"].as_table())
    for (auto& [name, value] : *further)
      if (value.is_table()) found.emplace_back("explainers." + std::string(name), value.as_table());
  return found;
}

/// Takes the further inputs out of the explainers' settings where nothing draws any: of data from elsewhere, and at
/// scattered points. Throws InvalidArgument where it is the caller's file, `written`, that asks for them.
void leave_out_unlabelled(toml::table& settings, toml::table written) {
  const bool scattered = settings["data"]["scattered"].value_or(0) > 0;
  if (!scattered && settings["data"]["file"]["imported_from"].value_or(std::string()).empty()) return;
  for (const auto& [name, table] : explainer_tables(written)) {
    const std::int64_t count = (*table)["unlabelled"].value_or(std::int64_t{0});
    require(count == 0, "profile: ", name, ".unlabelled=", count, " (nothing draws inputs ",
            scattered ? "at scattered points" : "of these data", "). Leave it out and raise data.train instead.");
  }
  for (const auto& [name, table] : explainer_tables(settings)) {
    table->erase("unlabelled");
    table->erase("unlabelled_shares");
  }
}

/// Lays an explainer's table over the settings, after those of the explainers that it is like.
void lay_over(toml::table& settings, Section& all, const std::string& name, std::size_t depth = 0) {
  require(all.has(name), "profile: explainers.", name,
          " (there is none, and another one is like it). Correct the name.");
  require(all.node(name).is_table(), "profile: explainers.", name, " (is not a table). Write [explainers.", name, "].");
  require(depth < all.names().size(), "profile: explainers.", name, " (is like itself in the end). Break the circle.");
  toml::table own = *all.node(name).as_table();
  if (const auto other = own["like"].value<std::string>()) {
    lay_over(settings, all, *other, depth + 1);
    own.erase("like");
  }
  merge(settings, own);
}

Profile read(const toml::table& table, const std::string& name, const Places& places = {}) {
  Section root(table, "", "profile", places);
  Profile profile;
  profile.name = name;
  profile.summary = root.get<std::string>("summary");
  profile.resolutions = resolutions(root, "resolutions");

  profile.data = read_data(root.section("data"));
  const operators::NetworkSettings model = read_operator(root.section("operator"));
  Section backbone = root.section("backbone");
  profile.backbone = {.model = model,
                      .resolutions = profile.resolutions,
                      .epochs = backbone.count("epochs"),
                      .batch = backbone.count("batch", 1, 1 << 20),
                      .learning_rate = backbone.positive("learning_rate"),
                      .weight_decay = backbone.not_negative("weight_decay"),
                      .patience = backbone.count("patience")};
  backbone.finish();

  profile.explainer = read_explainer(root.section("explainer"), model, profile.resolutions);
  if (root.has("explainers")) {
    Section further = root.section("explainers");
    for (const std::string& name : further.names()) {
      if (further.node(name).value<bool>() == false) continue;  // an overlay leaves it out
      toml::table settings = *root.node("explainer").as_table();
      lay_over(settings, further, name);
      profile.explainers[name] =
          read_explainer(Section(settings, "explainers." + name + ".", "profile", places), model, profile.resolutions);
    }
  }

  profile.evaluation = read_evaluation(root.section("evaluation"));
  if (profile.data.has_problem()) profile.evaluation.scenario = profile.data.problem()->default_rule();
  if (root.has("scenario"))
    profile.evaluation.scenario = read_scenario(root.section("scenario"), profile.evaluation.scenario);
  profile.explainer.scenario = profile.evaluation.scenario;
  for (auto& [name, recipe] : profile.explainers) recipe.scenario = profile.evaluation.scenario;
  profile.evaluation.resolutions = profile.resolutions;
  if (profile.data.scattered > 0) require_cloud(profile);
  for (const Resolution& size : profile.evaluation.unseen) {
    require(std::ranges::find(profile.resolutions, size) == profile.resolutions.end(),
            "profile: evaluation.unseen=", size, " (the explainer is trained at this size). Take it out of the list.");
  }
  require(profile.evaluation.inputs <= profile.data.test, "profile: evaluation.inputs=", profile.evaluation.inputs,
          " (there are ", profile.data.test, " test samples). Lower it or raise data.test.");
  root.finish();
  return profile;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedSettings& profile : embedded_profiles()) names.push_back(profile.name);
  return names;
}

/// The table that read() reads. What is as it is by default and newer than stored runs is left out, so that these keep
/// their identity.
toml::table settings_of(const Profile& profile) {
  const training::BackboneRecipe& backbone = profile.backbone;
  const evaluation::EvaluationSettings& evaluation = profile.evaluation;
  toml::array curves;
  for (const evaluation::BudgetCurve& curve : evaluation.curves) {
    toml::table entry{{"players", curve.players}, {"budgets", list_of(curve.budgets)}, {"inputs", curve.inputs}};
    entry.is_inline(true);
    curves.push_back(std::move(entry));
  }
  toml::table table{{"summary", profile.summary},
                    {"resolutions", toml_of(profile.resolutions)},
                    {"data", data_table(profile.data)},
                    {"operator", operator_table(profile.backbone.model)},
                    {"backbone", toml::table{{"epochs", backbone.epochs},
                                             {"batch", backbone.batch},
                                             {"learning_rate", backbone.learning_rate},
                                             {"weight_decay", backbone.weight_decay},
                                             {"patience", backbone.patience}}},
                    {"explainer", explainer_table(profile.explainer)},
                    {"evaluation", toml::table{{"inputs", evaluation.inputs},
                                               {"methods", list_of(evaluation.methods)},
                                               {"minimum_budget", evaluation.minimum_budget},
                                               {"faithfulness_coalitions", evaluation.faithfulness_coalitions},
                                               {"exact_players", evaluation.exact_players},
                                               {"reference_error", evaluation.reference_error},
                                               {"reference_budget", evaluation.reference_budget},
                                               {"curves", std::move(curves)}}}};
  const ScenarioRule usual = profile.data.has_problem() ? pde::find(profile.data.pde).default_rule() : ScenarioRule{};
  const toml::table scenario = scenario_table(evaluation.scenario, usual);
  if (!scenario.empty()) table.insert("scenario", scenario);
  if (!evaluation.unseen.empty()) table["evaluation"].as_table()->insert("unseen", toml_of(evaluation.unseen));
  toml::table further;
  for (const auto& [name, recipe] : profile.explainers)
    further.insert(name, explainer_table(recipe, profile.explainer));
  if (!further.empty()) table.insert("explainers", std::move(further));
  return table;
}

/// The profile's resolutions give way to those of an imported file whose grid does not have them or has axes of
/// different sizes, unless the caller's own file, `written`, says them.
void take_resolutions(toml::table& settings, const toml::table& written, const DataFile& file) {
  if (file.imported_from.empty() || file.resolutions.empty() || written.contains("resolutions")) return;
  Section all(settings, "");
  const auto fits = [&](const Resolution& resolution) { return has_resolution(file.domain, resolution); };
  const bool equal_axes = Resolution(file.domain.shape()).numbers().size() == 1;
  if (!equal_axes || !std::ranges::all_of(resolutions(all, "resolutions"), fits))
    settings.insert_or_assign("resolutions", toml_of(file.resolutions));
}

/// The profile of load_profile(), with `data` over its table of that name. `file`, if any, is the data set.
Profile load(const std::string& name_or_file, const std::filesystem::path& overrides, const toml::table& data,
             const std::optional<DataFile>& file = {}) {
  toml::table table;
  std::string name = name_or_file;
  if (name_or_file.ends_with(".toml")) {
    table = parse(read_file(name_or_file), name_or_file);
    name = std::filesystem::path(name_or_file).stem();
  } else {
    const auto& profiles = embedded_profiles();
    const auto found = std::find_if(profiles.begin(), profiles.end(),
                                    [&](const EmbeddedSettings& profile) { return profile.name == name; });
    if (found == profiles.end()) throw_unknown_name("profile", name, profile_names());
    table = parse(found->text, "profile " + name);
  }
  toml::table over;
  bool ours = true;
  if (!overrides.empty()) {
    const auto& known = embedded_overlays();
    const auto named = std::ranges::find(known, overrides.string(), &EmbeddedSettings::name);
    ours = named != known.end();
    over = parse(ours ? named->text : read_file(overrides), overrides.string());
    name += "+" + overrides.stem().string();
  }
  Places places;
  add_places(places, table, "", name_or_file.ends_with(".toml") ? name_or_file : "profile " + name_or_file);
  if (!overrides.empty()) add_places(places, over, "", ours ? "overlay " + overrides.string() : overrides.string());
  merge(over, toml::table{{"data", data}});
  const std::string problem =
      over["data"]["pde"].value<std::string>().value_or(table["data"]["pde"].value_or(std::string()));
  const toml::table* settled = over["data"].as_table();
  if (const toml::table* given = table["data"].as_table(); given != nullptr && !settled->contains("pde"))
    settled = given;
  const toml::table of = *settled;
  settle(table, problem, of);
  settle(over, problem, of);
  toml::table written = name_or_file.ends_with(".toml") ? table : toml::table();
  if (!ours) merge(written, over);
  // The settings of one architecture mean nothing to another.
  if (over["operator"]["model"].value_or(std::string()) != table["operator"]["model"].value_or(std::string()) &&
      over["operator"]["model"])
    table.erase("operator");
  merge(table, over);
  if (file) take_resolutions(table, written, *file);
  leave_out_unlabelled(table, std::move(written));
  if (const auto test = data["test"].value<std::int64_t>()) {
    const auto inputs = table["evaluation"]["inputs"].value<std::int64_t>();
    if (inputs > test) table["evaluation"].as_table()->insert_or_assign("inputs", *test);
  }
  return read(table, name, places);
}

}  // namespace

std::unique_ptr<pde::Problem> DataSettings::problem() const { return pde::find(pde).with(parameters); }

Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides, const std::string& pde) {
  return load(name_or_file, overrides, pde.empty() ? toml::table() : toml::table{{"pde", pde}});
}

Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides,
                     const DataSettings& data) {
  return load(name_or_file, overrides, data_table(data), data.file);
}

Profile load_profile_for(const std::string& name_or_file, const std::filesystem::path& overrides,
                         const std::filesystem::path& file, const data::Dataset& data) {
  Profile profile = load_profile(name_or_file, overrides);
  const auto has = [&](const Resolution& resolution) { return has_resolution(data.inputs.domain, resolution); };
  const bool fits = std::ranges::all_of(profile.resolutions, has) &&
                    profile.evaluation.inputs <= static_cast<int>(data.indices(data::Split::test).size());
  if (fits || profile.data.scattered > 0 || !data.inputs.domain.is_grid()) return profile;
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
                           .domain = data::space_from_json(metadata.at("input"), path.string()).domain,
                           .resolutions = request.at("resolutions").get<std::vector<Resolution>>()};
  settings.file->shape = settings.file->domain.shape();
  return settings;
} catch (const nlohmann::json::exception& error) {
  throw DataError(message("data set: file=", path.string(), " (", error.what(), " in its metadata). Make it again."));
}

Profile parse_profile(const std::string& text, const std::string& source) {
  return read(parse(text, source), std::filesystem::path(source).stem());
}

std::string to_toml(const Profile& profile) {
  std::ostringstream out;
  out << settings_of(profile) << '\n';
  return out.str();
}

std::string identity(const Profile& profile) {
  Profile nameless = profile;
  nameless.summary.clear();
  if (nameless.data.file) nameless.data.file->path.clear();
  return to_toml(nameless);
}

}  // namespace opshap::cli
