#include "cli/departures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/explainer_section.hpp"
#include "core/error.hpp"
#include "core/resolution.hpp"
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
std::vector<std::string> settings_beyond(const training::ExplainerRecipe& recipe,
                                         const training::ExplainerRecipe& paper) {
  std::vector<std::string> settings;
  toml::table ours = explainer_table(recipe, paper);
  for (const char* shared :
       {"epochs", "batch", "learning_rate", "weight_decay", "warmup_epochs", "patience", "coalitions"})
    ours.erase(shared);
  for (const auto& [key, value] : ours) {
    std::ostringstream text;
    value.visit([&](const auto& concrete) { text << concrete; });
    const auto* number = value.as_floating_point();  // which TOML writes with all its digits
    settings.push_back(
        fmt::format("{} = {}", key.str(), number != nullptr ? fmt::format("{}", number->get()) : text.str()));
  }
  return settings;
}

/// How an operator differs from the paper's. The settings of two architectures cannot be compared one by one.
std::vector<std::string> operator_departures(const operators::NetworkSettings& ours,
                                             const operators::NetworkSettings& theirs) {
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
  differs("training samples", data.train, papers.data.train);
  differs("validation samples", data.validation, papers.data.validation);
  differs("test inputs", profile.evaluation.inputs, papers.evaluation.inputs);
  if (data.has_problem()) {
    const auto problem = data.problem();
    for (const pde::Parameter& theirs : pde::find(data.pde).with(papers.data.parameters)->parameters())
      differs("parameter " + theirs.name + " of the problem", pde::number(problem->parameters(), theirs.name),
              theirs.value);
  }
  differs("resolutions", resolutions_in_words(profile.resolutions), resolutions_in_words(paper.resolutions));
  const std::vector<std::string> of_operator = operator_departures(profile.backbone.model, paper.backbone.model);
  sentences.insert(sentences.end(), of_operator.begin(), of_operator.end());
  differs("backbone epochs", profile.backbone.epochs, paper.backbone.epochs);
  differs("backbone batch size", profile.backbone.batch, paper.backbone.batch);
  differs("backbone learning rate", profile.backbone.learning_rate, paper.backbone.learning_rate);
  differs("backbone weight decay", profile.backbone.weight_decay, paper.backbone.weight_decay);
  differs("backbone patience", profile.backbone.patience, paper.backbone.patience);
  differs("explainer epochs", profile.explainer.epochs, paper.explainer.epochs);
  differs("explainer batch size", profile.explainer.batch, paper.explainer.batch);
  differs("explainer learning rate", profile.explainer.learning_rate, paper.explainer.learning_rate);
  differs("explainer weight decay", profile.explainer.weight_decay, paper.explainer.weight_decay);
  differs("explainer warm-up epochs", profile.explainer.warmup_epochs, paper.explainer.warmup_epochs);
  differs("explainer patience", profile.explainer.patience, paper.explainer.patience);
  differs("coalitions per sample and step", profile.explainer.coalitions, paper.explainer.coalitions);
  for (const std::string& setting : settings_beyond(profile.explainer, paper.explainer))
    sentences.push_back("explainer: " + setting + ", which the paper's recipe does not have");
  for (const auto& [name, recipe] : profile.explainers) {
    sentences.push_back(fmt::format("a further explainer, {}, that the paper does not have: {}", name,
                                    fmt::join(settings_beyond(recipe, paper.explainer), ", ")));
  }
  const evaluation::EvaluationSettings &ours = profile.evaluation, &theirs = paper.evaluation;
  differs("most coalitions of a reference", ours.reference_budget, theirs.reference_budget);
  differs("relative error of a reference", ours.reference_error, theirs.reference_error);
  differs("most players of an exact reference", ours.exact_players, theirs.exact_players);
  differs("least budget of a method", ours.minimum_budget, theirs.minimum_budget);
  differs("coalitions of R²", ours.faithfulness_coalitions, theirs.faithfulness_coalitions);
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
