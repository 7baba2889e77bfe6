#include "cli/profile_settings.hpp"

#include <algorithm>
#include <cmath>

#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Samples of a step, and coalitions of an attribution, which are drawn at once: more do not fit any machine that this
/// is for.
constexpr int most_batch = 1 << 20;
constexpr std::int64_t most_coalitions = std::int64_t{1} << 28;

/// A setting of its own kind.
template <typename Table>
Setting<Table> setting(std::string key, std::string range, std::string meaning,
                       std::function<void(StrictObject&, Table&)> read,
                       std::function<Json(const Table&, const Table& usual)> write) {
  return {std::move(key), std::move(range), std::move(meaning), std::move(read), std::move(write)};
}

/// The parameters of a problem in the order of its list.
pde::ParameterValues read_parameters(StrictObject object, const std::string& problem) {
  pde::ParameterValues values;
  for (const pde::Parameter& parameter : pde::find_equation(problem).parameters()) {
    if (!object.has(parameter.name)) continue;
    if (parameter.choices.empty())
      values.emplace(parameter.name, object.get<double>(parameter.name));
    else
      values.emplace(parameter.name, object.get<std::string>(parameter.name));
  }
  object.finish();
  pde::equation_with(problem, values);
  return values;
}

Json written_parameters(const pde::ParameterValues& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values)
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  return object;
}

DataFile read_file_of_data(StrictObject object) {
  DataFile file{.path = object.get<std::string>("path"),
                .content_hash = object.get<std::string>("content"),
                .imported_from = object.get<std::string>("imported_from"),
                .shape = object.array("shape").empty() ? std::vector<int>{} : object.wholes("shape", 1)};
  object.finish();
  return file;
}

std::vector<networks::LabelRule> read_mixture(StrictObject& object) {
  std::vector<networks::LabelRule> mixture;
  for (StrictObject& rule : object.objects("mixture")) {
    mixture.push_back({.players = rule.whole("players", 2), .target = rule.get<std::string>("target")});
    if (rule.has("evaluations")) mixture.back().evaluations = rule.whole<std::int64_t>("evaluations");
    rule.finish();
  }
  return mixture;
}

Json written_mixture(const std::vector<networks::LabelRule>& mixture) {
  Json list = Json::array();
  for (const networks::LabelRule& rule : mixture) {
    list.push_back({{"players", rule.players}, {"target", rule.target}});
    if (rule.evaluations > 0) list.back()["evaluations"] = rule.evaluations;
  }
  return list;
}

std::vector<double> read_shares(StrictObject& object) {
  const std::vector<double> shares = object.list<double>("unlabelled_shares");
  for (const double share : shares) {
    if (!(share >= 0 && std::isfinite(share)))
      object.refuse(message("unlabelled_shares=", share), "is not a share: it must not be negative");
  }
  if (shares.empty() || *std::ranges::max_element(shares) <= 0)
    object.refuse("unlabelled_shares", "are all 0: set unlabelled to 0 instead");
  return shares;
}

std::vector<evaluation::BudgetCurve> read_curves(StrictObject& object) {
  std::vector<evaluation::BudgetCurve> curves;
  for (StrictObject& curve : object.objects("curves")) {
    curves.push_back({.players = curve.whole("players", 2),
                      .budgets = curve.list<std::int64_t>("budgets"),
                      .inputs = curve.whole("inputs")});
    curve.finish();
  }
  return curves;
}

Json written_curves(const std::vector<evaluation::BudgetCurve>& curves) {
  Json list = Json::array();
  for (const evaluation::BudgetCurve& curve : curves)
    list.push_back({{"players", curve.players}, {"budgets", curve.budgets}, {"inputs", curve.inputs}});
  return list;
}

/// The value to write; null to leave the key out.
Json json_if(bool needed, const Json& value) { return needed ? value : Json(nullptr); }

bool plays_alike(const ScenarioRule& a, const ScenarioRule& b) {
  return a.players == b.players && a.blocks == b.blocks;
}

bool asks_alike(const ScenarioRule& a, const ScenarioRule& b) {
  return a.query == b.query && a.position == b.position && a.target == b.target;
}

void explain(ScenarioRule& rule, ScenarioRule::Where where) {
  rule.query = where;
  rule.position.clear();
  rule.target.clear();
}

void read_target(StrictObject& object, ScenarioRule& rule) {
  explain(rule, ScenarioRule::Where::region);
  rule.target = object.get<std::string>("target");
  const auto region = parse_region("profile: scenario.target", rule.target);
  if (!region || !region->by_place) {
    object.refuse("target=" + rule.target,
                  "a profile has many grids, and only coordinates mean the same on all, as in mean:0.2..0.4@x");
  }
  rule.region = *region;
}

void read_hiding(StrictObject& object, ScenarioRule& rule) {
  using Hidden = ScenarioRule::Hidden;
  const std::string key = "baseline";
  rule.constants.clear();
  rule.blur = default_blur;
  if (object.value(key).is_array()) {
    rule.baseline = Hidden::constant;
    rule.constants = object.list<double>(key);
    for (const double constant : rule.constants)
      if (!std::isfinite(constant)) object.refuse(message(key, "=", constant), "is not a finite number");
  } else if (const auto width = parse_blur("profile: scenario.baseline", object.get<std::string>(key))) {
    rule.baseline = Hidden::blur;
    rule.blur = *width;
  } else {
    static const std::map<std::string, Hidden> words = {
        {"zero", Hidden::zero}, {"mean", Hidden::mean}, {"node_mean", Hidden::node_mean}, {"rest", Hidden::rest}};
    rule.baseline = words.at(object.word(key, {"zero", "mean", "node_mean", "rest", "blur"}));
  }
}

Json written_hiding(const ScenarioRule& rule, const ScenarioRule&) {
  using Hidden = ScenarioRule::Hidden;
  if (rule.baseline == Hidden::constant) return rule.constants;
  if (rule.baseline == Hidden::blur) return blur_in_words(rule.blur);
  if (rule.baseline == Hidden::node_mean) return "node_mean";
  return rule.baseline == Hidden::mean ? "mean" : rule.baseline == Hidden::rest ? "rest" : "zero";
}

Resolution read_resolution(const StrictObject& object, const std::string& key, const Json& entry) {
  if (entry == "own") return Resolution::own();
  std::vector<int> shape;
  for (const Json& number : entry.is_array() ? entry : Json::array({entry})) {
    const bool whole = number.is_number_integer();
    if (!whole || number.get<std::int64_t>() < 2 || number.get<std::int64_t>() > 1 << 15)
      object.refuse(key + "=" + entry.dump().substr(0, 40), "an axis needs 2..32768 points");
    shape.push_back(number.get<int>());
  }
  if (shape.size() != 1 && shape.size() != 2)
    object.refuse(key + "=" + entry.dump().substr(0, 40), "an entry is n, or [nx, ny]");
  return Resolution(std::move(shape));
}

template <typename Table>
void add_keys(Json& entries, const std::string& table, const Settings<Table>& settings) {
  for (const Setting<Table>& setting : settings) {
    entries.push_back({{"name", table + "." + setting.key},
                       {"summary", setting.meaning},
                       {"range", setting.range},
                       {"needed", !setting.optional}});
  }
}

}  // namespace

const Settings<DataSettings>& data_settings() {
  using T = DataSettings;
  static const Settings<T> all = {
      word_setting<T>("pde", &T::pde, {}, "The problem, a name of `opshap list pdes`"),
      of_the_paper(whole_setting("train", &T::train, 1, "Samples for training"), "training samples"),
      of_the_paper(whole_setting("validation", &T::validation, 1, "Samples that choose the weights"),
                   "validation samples"),
      whole_setting("test", &T::test, 1, "Samples for the evaluation"),
      optional(setting<T>(
          "parameters", "{NAME = VALUE, …}", "Parameters of the problem. Without it: the problem's own",
          [](StrictObject& object, T& data) {
            data.parameters = read_parameters(object.object("parameters"), data.pde);
          },
          [](const T& data, const T&) {
            return json_if(!data.parameters.empty(), written_parameters(data.parameters));
          })),
      optional(setting<T>(
          "file", "a table", "The data set file that stands in a problem's place. Written by the program",
          [](StrictObject& object, T& data) { data.file = read_file_of_data(object.object("file")); },
          [](const T& data, const T&) {
            if (!data.file) return Json(nullptr);
            return Json{{"path", data.file->path},
                        {"content", data.file->content_hash},
                        {"imported_from", data.file->imported_from},
                        {"shape", data.file->shape}};
          })),
      optional(
          whole_setting("scattered", &T::scattered, 4,
                        "The fields are taken at so many scattered points of their grid, a mesh without triangles that "
                        "is the same for all samples; `resolutions` has this number alone. Without it: on the grid")),
      optional(whole_setting("windows", &T::windows, 1,
                             "Of flows on meshes: samples of each trajectory, and the counts above count trajectories. "
                             "Without it: 8"))};
  return all;
}

const Settings<networks::BackboneRecipe>& backbone_settings() {
  using T = networks::BackboneRecipe;
  static const Settings<T> all = {
      of_the_paper(whole_setting("epochs", &T::epochs, 1, "Passes over the training data at most"), "epochs"),
      of_the_paper(whole_setting("batch", &T::batch, 1, "Samples of a step", most_batch), "batch size"),
      of_the_paper(number_setting("learning_rate", &T::learning_rate, false, "The rate at its peak"), "learning rate"),
      of_the_paper(number_setting("weight_decay", &T::weight_decay, true, "That of AdamW"), "weight decay"),
      of_the_paper(
          whole_setting("patience", &T::patience, 1, "Epochs without a better validation error before it stops"),
          "patience"),
      optional(word_setting<T>(
          "normalisation", &T::normalisation, {"none", "fields", "change"},
          "The units of the network: those of the fields, or each channel of inputs and targets over its deviation; "
          "with `change` the target is what the input changes by, and is added to it. Without it: none"))};
  return all;
}

const Settings<networks::ExplainerRecipe>& explainer_settings() {
  using T = networks::ExplainerRecipe;
  static const Settings<T> all = {
      of_the_paper(whole_setting("epochs", &T::epochs, 1, "Passes over the training data at most"), "epochs"),
      of_the_paper(whole_setting("batch", &T::batch, 1, "Samples of a step", most_batch), "batch size"),
      of_the_paper(number_setting("learning_rate", &T::learning_rate, false, "The rate at its peak"), "learning rate"),
      of_the_paper(number_setting("weight_decay", &T::weight_decay, true, "That of AdamW"), "weight decay"),
      of_the_paper(whole_setting("warmup_epochs", &T::warmup_epochs, 0, "Epochs in which the rate rises to its peak"),
                   "warm-up epochs"),
      of_the_paper(
          whole_setting(
              "patience", &T::patience, 0,
              "Epochs without a better validation loss before it stops; 0: to the end, and the last weights are kept"),
          "patience"),
      of_the_paper(whole_setting("coalitions", &T::coalitions, 2, "Coalitions for each sample and step of FastSHAP"),
                   "coalitions for each sample and step"),
      optional(
          word_setting<T>("target", &T::target, {},
                          "What it learns from: `fastshap`, `fastshap_reused` (coalitions), or values by `mean_field`, "
                          "`two_level`, `permutation_pairs`, `kernel_shap_paired`, `second_order`, "
                          "`integrated_gradients`, `exact`. Without it: fastshap")),
      optional(
          whole_setting<T, std::int64_t>("label_evaluations", &T::label_evaluations, 0,
                                         "What a label may cost, where labels are values. 0: the target's own choice")),
      optional(setting<T>(
          "mixture", "[{players = P, target = \"NAME\", evaluations = E}, …]",
          "Other targets for games of up to P players. Without it: none",
          [](StrictObject& object, T& recipe) { recipe.mixture = read_mixture(object); },
          [](const T& recipe, const T&) { return written_mixture(recipe.mixture); })),
      optional(truth_setting("relative", &T::relative,
                             "Every resolution counts as much in FastSHAP's loss. Without it: the paper's loss, in "
                             "which n = 16 outweighs n = 1024 by 29 to 1")),
      optional(word_setting<T>("coordinates", &T::coordinates, {"grid", "query", "query_angle", "query_offset"},
                               "The coordinates that it is given; `query` is the angle and no padding on a periodic "
                               "domain, else the offset and the quadrature `volumes`. Without it: the grid's")),
      optional(truth_setting("atom", &T::atom, "A second output for the query's own cell. Without it: one output")),
      optional(word_setting<T>("cells", &T::cells, {"volumes", "equal"},
                               "What the density is multiplied by: the cells' volumes, or equal weights at the ends of "
                               "an axis too, where cells are half as large, as in an FNO's own sums and in the paper's "
                               "1/n; `coordinates = \"query\"` implies `equal`. Without it: volumes")),
      optional(whole_setting("fine_from", &T::fine_from, 0,
                             "Below so many points an axis a further channel tells how coarse the grid is; from there "
                             "on the answer does not depend on the grid. 0: never")),
      optional(number_setting("padding", &T::padding, true,
                              "How far each axis is padded, as a fraction of it. Without it: the operator's")),
      optional(word_setting<T>(
          "quadrature", &T::quadrature, {"points", "volumes"},
          "The weight of a point in its Fourier sums: equal, or its part of the padded axis; on a padded bounded "
          "domain the drift is then 1/n² instead of 1/n. Without it: the operator's, or points")),
      optional(setting<T>(
          "queries", "\"fixed\", \"any\"",
          "One explainer for every query with `any`. Without it: for the query of the scenario",
          [](StrictObject& object, T& recipe) {
            recipe.any_query = object.word("queries", {"fixed", "any"}) == "any";
          },
          [](const T& recipe, const T&) { return Json(recipe.any_query ? "any" : "fixed"); })),
      optional(member_setting(
          "resolutions", &T::resolutions, "[n, …] or [[nx, ny], …]",
          "Points an axis that its samples are served at, some of the profile's. Without it: all of these",
          [](StrictObject& object, T& recipe) { recipe.resolutions = read_resolutions(object, "resolutions"); })),
      optional(setting<T>(
          "base", "\"none\", \"integrated_gradients\", \"mean_field\"",
          "What it corrects: the slopes of the operator, or of its mean-field closure, along the diagonal, which are "
          "asked for each explanation. On grids whose points are the players. Without it: none",
          [](StrictObject& object, T& recipe) { recipe.base.kind = find_base(object.word("base", base_names())); },
          [](const T& recipe, const T&) { return Json(name_of(recipe.base.kind)); })),
      optional(setting<T>(
          "base_nodes", message("1 to ", ExplainerBase::most_nodes),
          message("Nodes of the base on the diagonal: 6 forward equivalents each for the mean field, and 3 for "
                  "integrated gradients. Without it: ",
                  ExplainerBase::usual_nodes),
          [](StrictObject& object, T& recipe) {
            recipe.base.nodes = object.whole("base_nodes", 1, ExplainerBase::most_nodes);
          },
          [](const T& recipe, const T&) { return Json(recipe.base.nodes); })),
      optional(setting<T>(
          "order", "\"none\", \"coarse\"",
          "With `coarse` the correction of a base is multiplied by 16/n, n the number of points, as the error of the "
          "mean field falls; then it serves finer grids than it was trained on. Without it: none",
          [](StrictObject& object, T& recipe) {
            recipe.base.coarse = object.word("order", {"none", "coarse"}) == "coarse";
          },
          [](const T& recipe, const T&) { return Json(recipe.base.coarse ? "coarse" : "none"); })),
      optional(number_setting("clipping", &T::clipping, true,
                              "Gradients are cut to so many times the running mean of their length. 0: never")),
      optional(number_setting("averaging", &T::averaging, true,
                              "At each step the running mean of the weights keeps this share of itself; the mean is "
                              "validated and kept. 0: no mean")),
      optional(whole_setting<T, std::int64_t>(
          "unlabelled", &T::unlabelled, 0,
          "Further inputs of the problem, not solved; refused for imported data and at scattered points. 0: none")),
      optional(
          member_setting("unlabelled_shares", &T::unlabelled_shares, "[s, …]",
                         "Their shares for the resolutions. Without it: equal ones",
                         [](StrictObject& object, T& recipe) { recipe.unlabelled_shares = read_shares(object); }))};
  return all;
}

const Settings<evaluation::EvaluationSettings>& evaluation_settings() {
  using T = evaluation::EvaluationSettings;
  static const Settings<T> all = {
      of_the_paper(whole_setting("inputs", &T::inputs, 1, "Test inputs that are explained"), "test inputs"),
      member_setting(
          "methods", &T::methods, "[\"NAME\", …]",
          "Methods of `opshap list estimators` and programs, `peer:FOLDER`; the explainers and the uniform attribution "
          "are always there",
          [](StrictObject& object, T& evaluation) { evaluation.methods = object.list<std::string>("methods"); }),
      of_the_paper(whole_setting<T, std::int64_t>("minimum_budget", &T::minimum_budget, 2,
                                                  "A sampling method gets max(2n, this) evaluations", most_coalitions),
                   "least budget of a method"),
      of_the_paper(whole_setting<T, std::int64_t>("faithfulness_coalitions", &T::faithfulness_coalitions, 2,
                                                  "Coalitions that R² is measured on", most_coalitions),
                   "coalitions of R²"),
      of_the_paper(whole_setting("exact_players", &T::exact_players, 1, "Up to so many players the reference is exact"),
                   "most players of an exact reference"),
      of_the_paper(number_setting("reference_error", &T::reference_error, false,
                                  "Above, it is certified to this relative error, …"),
                   "relative error of a reference"),
      of_the_paper(whole_setting<T, std::int64_t>("reference_budget", &T::reference_budget, 2,
                                                  "… or stops after so many evaluations"),
                   "most coalitions of a reference"),
      setting<T>(
          "curves", "[{players = n, budgets = [m, …], inputs = k}, …]",
          "Errors against budgets: each method at each budget on the first inputs",
          [](StrictObject& object, T& evaluation) { evaluation.curves = read_curves(object); },
          [](const T& evaluation, const T&) { return written_curves(evaluation.curves); }),
      optional(member_setting(
          "unseen", &T::unseen, "[n, …] or [[nx, ny], …]",
          "Points an axis that no training input had, where the explainers are scored too. Without it: none",
          [](StrictObject& object, T& evaluation) {
            if (!object.array("unseen").empty()) evaluation.unseen = read_resolutions(object, "unseen");
          }))};
  return all;
}

const Settings<ScenarioRule>& scenario_settings() {
  using T = ScenarioRule;
  static const Settings<T> all = {
      optional(setting<T>(
          "players", "\"points\", \"blocks\"",
          "Who plays. Without it: the problem's own, which is each point of the grid",
          [](StrictObject& object, T& rule) {
            const bool blocks = object.word("players", {"points", "blocks"}) == "blocks";
            rule.players = blocks ? T::Players::blocks : T::Players::points;
            rule.blocks = 0;
            if (blocks) object.value("blocks");  // refuses where it is missing
          },
          [](const T& rule, const T& usual) {
            return json_if(!plays_alike(rule, usual), rule.players == T::Players::blocks ? "blocks" : "points");
          })),
      optional(setting<T>(
          "blocks", "1 to 2147483647", "With `players = \"blocks\"`: how many",
          [](StrictObject& object, T& rule) {
            if (rule.players != T::Players::blocks)
              object.refuse("blocks", "the players are points; write players = \"blocks\" too");
            rule.blocks = object.whole("blocks");
          },
          [](const T& rule, const T& usual) {
            return json_if(!plays_alike(rule, usual) && rule.players == T::Players::blocks, rule.blocks);
          })),
      optional(
          setting<T>("baseline", "\"zero\", \"mean\", \"node_mean\", \"rest\", \"blur\", \"blur:0.1\" or [c, …]",
                     "What a hidden point holds: 0, the mean of the training data, on one mesh that of each node, the "
                     "state at rest of the problem, the input after a Gaussian filter of this part of the domain's "
                     "length (0.15 without "
                     "a number), or a number for each channel. Without it: the problem's own, which is 0",
                     read_hiding, written_hiding)),
      optional(setting<T>(
          "query", "\"centre\"", "Which output is explained. Without it: the problem's own, which is the centre",
          [](StrictObject& object, T& rule) {
            object.word("query", {"centre"});
            explain(rule, T::Where::centre);
          },
          [](const T& rule, const T& usual) {
            const bool centre = rule.query != T::Where::position && rule.query != T::Where::region;
            return json_if(centre && !asks_alike(rule, usual), "centre");
          })),
      optional(setting<T>(
          "query_at", "[x] or [x, y]", "In its place: the point nearest to coordinates",
          [](StrictObject& object, T& rule) {
            explain(rule, T::Where::position);
            rule.position = object.list<double>("query_at");
          },
          [](const T& rule, const T& usual) {
            return json_if(rule.query == T::Where::position && !asks_alike(rule, usual), rule.position);
          })),
      optional(setting<T>(
          "target", "\"mean:x0..x1@x\"", "In its place: the mean over a region",
          [](StrictObject& object, T& rule) { read_target(object, rule); },
          [](const T& rule, const T& usual) {
            return json_if(rule.query == T::Where::region && !asks_alike(rule, usual), rule.target);
          })),
      optional(whole_setting("query_channel", &T::channel, 0, "The channel of the output. Without it: 0")),
      optional(
          member_setting("masked_channels", &T::masked, "[c, …]",
                         "The channels that players hide; an empty list is all. Without it: the problem's own",
                         [](StrictObject& object, T& rule) { rule.masked = object.wholes("masked_channels", 0); }))};
  return all;
}

networks::ExplainerRecipe read_explainer(StrictObject object, const networks::NetworkSettings& model,
                                         const std::vector<Resolution>& resolutions) {
  networks::ExplainerRecipe recipe;
  recipe.model = model;
  recipe.resolutions = resolutions;
  const StrictObject messages = object;
  read_settings(explainer_settings(), std::move(object), recipe);
  for (const Resolution& own : recipe.resolutions)
    if (std::ranges::find(resolutions, own) == resolutions.end())
      messages.refuse(message("resolutions=", own), "is not among the resolutions of the profile");
  const std::size_t shares = recipe.unlabelled_shares.size(), all = recipe.resolutions.size();
  if (shares != 0 && shares != all)
    messages.refuse("unlabelled_shares", message("has ", shares, " numbers for ", all, " resolutions"));
  return recipe;
}

networks::NetworkSettings read_operator(StrictObject object) {
  networks::NetworkSettings settings;
  settings.model = object.get<std::string>("model");
  const Json rest = object.rest();
  for (const auto& [key, value] : rest.items()) {
    if (value.is_object()) object.refuse(key, "is neither a number, a word, nor a list of them");
  }
  settings.json = rest.dump();
  return settings;
}

Json written_operator(const networks::NetworkSettings& settings) {
  Json object = {{"model", settings.model}};
  object.update(Json::parse(settings.json));
  return object;
}

std::vector<Resolution> read_resolutions(StrictObject& object, const std::string& key) {
  std::vector<Resolution> sizes;
  for (const Json& entry : object.array(key)) sizes.push_back(read_resolution(object, key, entry));
  if (sizes.empty() || sizes.size() > 255) object.refuse(key, message("has ", sizes.size(), " entries; needs 1..255"));
  if (!std::is_sorted(sizes.begin(), sizes.end())) object.refuse(key, "are not ascending");
  return sizes;
}

Json profile_keys() {
  Json entries = Json::array();
  add_keys(entries, "data", data_settings());
  add_keys(entries, "backbone", backbone_settings());
  add_keys(entries, "explainer", explainer_settings());
  add_keys(entries, "evaluation", evaluation_settings());
  add_keys(entries, "scenario", scenario_settings());
  return entries;
}

std::string profile_keys_page() {
  std::string text =
      "# Keys of a profile\n\n"
      "A profile is one TOML file. `opshap list profiles` names complete ones, `--profile FILE.toml` takes yours, and "
      "`--config FILE.toml` lays single keys over either. A key with * has to be there. This page is what `opshap list "
      "keys` prints.\n\n"
      "- `summary`, a text, and `resolutions`, a list of n or [nx, ny], stand above the tables.\n"
      "- `[operator]` has `model` and the settings of that architecture. An overlay with another `model` replaces the "
      "whole table.\n"
      "- `[explainers.NAME]` is a further explainer, which is scored too: its differences from `[explainer]`, or from "
      "another one with `like = \"OTHER\"`. `NAME = false` in `[explainers]` leaves one out.\n"
      "- `[plane]` and `[pde.NAME]`, with tables of the kinds below, are laid over the rest for a problem in the "
      "plane, and then for one problem.\n";
  std::string last;
  for (const Json& entry : profile_keys()) {
    const std::string name = entry["name"], table = name.substr(0, name.find('.'));
    if (table != last) text += message("\n## [", table, "]\n\n| key | value | |\n|---|---|---|\n");
    last = table;
    text += message("| `", name.substr(table.size() + 1), "`", entry["needed"].get<bool>() ? " *" : "", " | ",
                    entry["range"].get<std::string>(), " | ", entry["summary"].get<std::string>(), " |\n");
  }
  return text;
}

}  // namespace opshap::cli
