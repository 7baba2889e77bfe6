#include "cli/departures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/profile_settings.hpp"
#include "core/error.hpp"
#include "core/scenario.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

std::string resolutions_in_words(const std::vector<Resolution>& values) {
  std::string text;
  for (const Resolution& value : values) text += message(text.empty() ? "[" : ", ", value);
  return text + "]";
}

std::string curves_in_words(const std::vector<evaluation::BudgetCurve>& curves) {
  std::string words;
  for (const evaluation::BudgetCurve& curve : curves)
    words += fmt::format("{}n = {}: [{}] on {} inputs", words.empty() ? "" : ", ", curve.players,
                         fmt::join(curve.budgets, ", "), curve.inputs);
  return words.empty() ? "none" : words;
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
    std::string with;
    for (const auto& [key, value] : settings.items()) with += message(with.empty() ? "" : ", ", key, " = ", value);
    return {message("operator: ", ours.model, " (", with, ") instead of the paper's ", theirs.model)};
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
    const auto problem = data.problem();
    for (const pde::Parameter& theirs : pde::find(data.pde).with(papers.data.parameters)->parameters())
      differs("parameter " + theirs.name + " of the problem", pde::number(problem->parameters(), theirs.name),
              theirs.value);
  }
  differs("resolutions", resolutions_in_words(profile.resolutions), resolutions_in_words(paper.resolutions));
  add(operator_departures(profile.backbone.model, paper.backbone.model));
  add(settings_that_differ(backbone_settings(), "backbone ", profile.backbone, paper.backbone));
  add(settings_that_differ(explainer_settings(), "explainer ", profile.explainer, paper.explainer));
  for (const std::string& setting : settings_beyond(profile.explainer, paper.explainer))
    sentences.push_back("explainer: " + setting + ", which the paper's recipe does not have");
  for (const auto& [name, recipe] : profile.explainers) {
    sentences.push_back(fmt::format("a further explainer, {}, that the paper does not have: {}", name,
                                    fmt::join(settings_beyond(recipe, paper.explainer), ", ")));
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

}  // namespace opshap::cli
