// `opshap list`: everything that has a name, from the registries.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/profile.hpp"
#include "cli/profile_settings.hpp"
#include "cli/studies.hpp"
#include "cli/suite.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "metrics/registry.hpp"
#include "pde/registry.hpp"
#include "reporting/claims.hpp"
#include "reporting/figures.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// An entry for each of the things.
template <typename Things, typename Describe>
Json listed(const Things& things, const Describe& describe) {
  Json entries = Json::array();
  for (const auto& thing : things) entries.push_back(describe(thing));
  return entries;
}

template <typename Thing>
Json name_and_summary(const Thing& thing) {
  return {{"name", thing.name}, {"summary", thing.summary}};
}

Json describe_estimator(const std::unique_ptr<Estimator>& estimator) {
  static const std::map<Bias, const char*> biases = {
      {Bias::none, "none"}, {Bias::vanishing, "vanishing"}, {Bias::lasting, "lasting"}};
  static const std::map<Efficiency, const char*> efficiencies = {
      {Efficiency::exact, "exact"}, {Efficiency::quadrature, "quadrature"}, {Efficiency::none, "none"}};
  const Guarantees promised = estimator->guarantees();
  return {{"name", estimator->name()},
          {"summary", estimator->summary()},
          {"access", promised.access == Access::values ? "values" : "gradient"},
          {"bias", biases.at(promised.bias)},
          {"efficiency", efficiencies.at(promised.efficiency)},
          {"mse_rate", json_number(promised.mse_rate, "exact at its budget: there is no rate")},
          {"exact_on_additive", promised.exact_on_additive},
          {"exact_on_two_additive", promised.exact_on_two_additive},
          {"exact_at_full_budget", promised.exact_at_full_budget},
          {"refuses", promised.refusal == Refusal::never ? "never" : "by_rank"}};
}

Json describe_game(const games::Kind& kind) {
  using games::Limit;
  static const std::map<Limit, const char*> limits = {{Limit::not_refined, "not_refined"},
                                                      {Limit::aumann_shapley, "aumann_shapley"},
                                                      {Limit::not_diagonal, "not_diagonal"},
                                                      {Limit::atom, "atom"},
                                                      {Limit::depends_on_refinement, "depends_on_refinement"},
                                                      {Limit::unbounded, "unbounded"}};
  const bool needs_operator = kind.random == nullptr;
  const games::Known known = games::known_of(kind);
  const int order = kind.properties.interaction_order;
  const auto unless_operator = [needs_operator](const Json& value) { return needs_operator ? Json(nullptr) : value; };
  return {{"name", kind.name},
          {"summary", kind.summary},
          {"needs_operator", needs_operator},
          {"solved", known.shapley},
          {"aumann_shapley", unless_operator(known.aumann_shapley)},
          {"gradients", unless_operator(known.gradients)},
          {"limit", unless_operator(limits.at(kind.properties.limit))},
          {"interaction_order", order == 0 ? Json(nullptr) : Json(order)}};
}

Json describe_parameter(const pde::Parameter& parameter, const pde::Equation& equation) {
  Json object = {{"name", parameter.name}, {"meaning", parameter.meaning}};
  if (parameter.choices.empty()) {
    object["value"] = parameter.value;
  } else {
    object.update({{"value", pde::choice(equation.parameters(), parameter.name)}, {"choices", parameter.choices}});
  }
  return object;
}

/// `drawn` are the numbers that a flow draws, which `pde solve` takes as it takes parameters; null for a problem.
Json describe_equation(const std::string& name) {
  const pde::Equation& equation = pde::find_equation(name);
  const auto* flows = dynamic_cast<const pde::Trajectories*>(&equation);
  const auto* problem = dynamic_cast<const pde::Problem*>(&equation);
  const pde::Evolution* evolution = problem != nullptr ? problem->evolution() : nullptr;
  const auto stepping = evolution != nullptr ? evolution->time_stepping() : std::nullopt;
  const pde::Rest rest = equation.rest();
  const auto names = [](const std::vector<pde::Channel>& channels) {
    return listed(channels, [](const pde::Channel& channel) { return Json(channel.name); });
  };
  const auto described = [&](const std::vector<pde::Parameter>& parameters) {
    return listed(parameters, [&](const auto& one) { return describe_parameter(one, equation); });
  };
  return {{"name", name},
          {"summary", equation.summary()},
          {"scheme", equation.scheme()},
          {"parameters", described(equation.parameters())},
          {"drawn", flows != nullptr ? described(flows->numbers()) : Json(nullptr)},
          {"input", names(pde::input_channels(equation))},
          {"output", names(problem != nullptr ? problem->output().channels : flows->channels())},
          {"target_time", evolution != nullptr ? Json(evolution->target_time())
                          : flows != nullptr   ? Json(flows->lead())
                                               : Json(nullptr)},
          {"order", stepping ? Json(stepping->order) : Json(nullptr)},
          {"rest", rest ? Json(rest.state) : Json(nullptr)}};
}

Json describe_metric(const metrics::Metric& metric) {
  return {{"name", metric.name},
          {"summary", metric.definition},
          {"symbol", metric.symbol},
          {"range", metric.range},
          {"better", metric.better == metrics::Better::higher ? "higher" : "lower"},
          {"tolerance", metric.tolerance}};
}

Json describe_claim(const reporting::Claim& claim) {
  return {{"name", claim.id},
          {"summary", claim.statement},
          {"source", claim.source},
          {"where", claim.where},
          {"rule", claim.rule}};
}

Json list_operators() {
  return Json::array({
#define OPERATOR(name, summary) Json{{"name", #name}, {"summary", summary}},
#include "operators/registry.def"
#undef OPERATOR
  });
}

Json describe_profile(const EmbeddedSettings& profile) {
  return {{"name", profile.name}, {"summary", load_profile(profile.name, {}).summary}};
}

Json describe_suite(const EmbeddedSettings& suite) { return {{"name", suite.name}, {"summary", suite_summary(suite)}}; }

struct Listing {
  std::string kind;
  Json (*entries)();
  std::string (*page)() = nullptr;  ///< what people get instead of a line for each entry
};

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all = {
      {"estimators", [] { return listed(estimators::all(), describe_estimator); }},
      {"games", [] { return listed(games::all(), describe_game); }},
      {"pdes", [] { return listed(pde::names(), describe_equation); }},
      {"operators", list_operators},
      {"metrics", [] { return listed(metrics::all(), describe_metric); }},
      {"studies", [] { return listed(studies(), name_and_summary<StudyName>); }},
      {"figures", [] { return listed(reporting::figures::all(), name_and_summary<reporting::FigureKind>); }},
      {"claims", [] { return listed(reporting::claims::all(), describe_claim); }},
      {"profiles", [] { return listed(embedded_profiles(), describe_profile); }},
      {"suites", [] { return listed(embedded_suites(), describe_suite); }},
      {"keys", profile_keys, profile_keys_page}};
  return all;
}

const Listing& find_listing(const std::string& kind) {
  std::vector<std::string> kinds;
  for (const Listing& listing : listings()) {
    if (listing.kind == kind) return listing;
    kinds.push_back(listing.kind);
  }
  throw InvalidArgument(message("list: kind=", kind, " (nothing of that kind).", suggestion(kind, kinds), " There are ",
                                fmt::format("{}", fmt::join(kinds, ", ")), "."));
}

void print_for_people(const Json& entries) {
  std::size_t width = 0;
  for (const Json& entry : entries) width = std::max(width, entry["name"].get_ref<const std::string&>().size());
  for (const Json& entry : entries) {
    std::cout << fmt::format("{:<{}}  {}\n", entry["name"].get_ref<const std::string&>(), width,
                             entry["summary"].get_ref<const std::string&>());
  }
}

void run_list(const std::string& kind, const Globals& globals) {
  if (kind.empty()) {
    for (const Listing& listing : listings()) std::cout << listing.kind << '\n';
    return;
  }
  const auto& [name, list, page] = find_listing(kind);
  const Json entries = list();
  if (globals.json) {
    print_json({{"kind", kind}, {"entries", entries}});
  } else if (page != nullptr) {
    std::cout << page();
  } else {
    print_for_people(entries);
  }
}

}  // namespace

void add_list(CLI::App& app, const Globals& globals) {
  const auto [command, kind] =
      add_command<std::string>(app, "list",
                               "What there is, by kind: estimators, games, pdes, operators, metrics, studies, "
                               "figures, claims, profiles, suites, keys (of profiles)",
                               run_list, globals);
  command->add_option(
      "KIND", kind, "estimators, games, pdes, operators, metrics, studies, figures, claims, profiles, suites or keys");
}

}  // namespace opshap::cli
