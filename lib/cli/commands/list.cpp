// `opshap list`: everything that has a name, from the registries.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

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

std::string_view words(Access access) { return access == Access::values ? "values" : "gradient"; }

std::string_view words(Bias bias) {
  return bias == Bias::none ? "none" : bias == Bias::vanishing ? "vanishing" : "lasting";
}

std::string_view words(Efficiency efficiency) {
  return efficiency == Efficiency::exact ? "exact" : efficiency == Efficiency::quadrature ? "quadrature" : "none";
}

std::string_view words(Refusal refusal) { return refusal == Refusal::never ? "never" : "by_rank"; }

Json list_estimators() {
  Json entries = Json::array();
  for (const auto& estimator : estimators::all()) {
    const Guarantees promised = estimator->guarantees();
    entries.push_back({{"name", estimator->name()},
                       {"summary", estimator->summary()},
                       {"access", words(promised.access)},
                       {"bias", words(promised.bias)},
                       {"efficiency", words(promised.efficiency)},
                       {"mse_rate", json_number(promised.mse_rate, "exact at its budget: there is no rate")},
                       {"exact_on_additive", promised.exact_on_additive},
                       {"exact_on_two_additive", promised.exact_on_two_additive},
                       {"exact_at_full_budget", promised.exact_at_full_budget},
                       {"refuses", words(promised.refusal)}});
  }
  return entries;
}

std::string_view words(games::Limit limit) {
  switch (limit) {
    case games::Limit::not_refined:
      return "not_refined";
    case games::Limit::aumann_shapley:
      return "aumann_shapley";
    case games::Limit::not_diagonal:
      return "not_diagonal";
    case games::Limit::atom:
      return "atom";
    case games::Limit::depends_on_refinement:
      return "depends_on_refinement";
    case games::Limit::unbounded:
      return "unbounded";
  }
  throw std::logic_error("list: a limit without a name");
}

Json list_games() {
  Json entries = Json::array();
  for (const games::Kind& kind : games::all()) {
    const bool needs_operator = kind.random == nullptr;
    const games::Known known = games::known_of(kind);
    const int order = kind.properties.interaction_order;
    const auto unless_operator = [needs_operator](const Json& value) { return needs_operator ? Json(nullptr) : value; };
    entries.push_back({{"name", kind.name},
                       {"summary", kind.summary},
                       {"needs_operator", needs_operator},
                       {"solved", known.shapley},
                       {"aumann_shapley", unless_operator(known.aumann_shapley)},
                       {"gradients", unless_operator(known.gradients)},
                       {"limit", unless_operator(words(kind.properties.limit))},
                       {"interaction_order", order == 0 ? Json(nullptr) : Json(order)}});
  }
  return entries;
}

Json channel_names(const pde::Space& space) {
  Json names = Json::array();
  for (const pde::Channel& channel : space.channels) names.push_back(channel.name);
  return names;
}

Json list_pdes() {
  Json entries = Json::array();
  for (const auto& problem : pde::all()) {
    const pde::Evolution* evolution = problem->evolution();
    const auto stepping = evolution != nullptr ? evolution->time_stepping() : std::nullopt;
    Json parameters = Json::array();
    for (const pde::Parameter& parameter : problem->parameters()) {
      parameters.push_back({{"name", parameter.name}, {"meaning", parameter.meaning}});
      if (parameter.choices.empty()) {
        parameters.back()["value"] = parameter.value;
      } else {
        parameters.back().update(
            {{"value", pde::choice(problem->parameters(), parameter.name)}, {"choices", parameter.choices}});
      }
    }
    entries.push_back({{"name", problem->name()},
                       {"summary", problem->summary()},
                       {"scheme", problem->scheme()},
                       {"parameters", std::move(parameters)},
                       {"input", channel_names(problem->input())},
                       {"output", channel_names(problem->output())},
                       {"target_time", evolution != nullptr ? Json(evolution->target_time()) : Json(nullptr)},
                       {"order", stepping ? Json(stepping->order) : Json(nullptr)}});
  }
  return entries;
}

Json list_operators() {
  return Json::array({
#define OPERATOR(name, summary) Json{{"name", #name}, {"summary", summary}},
#include "operators/registry.def"
#undef OPERATOR
  });
}

Json list_metrics() {
  Json entries = Json::array();
  for (const metrics::Metric& metric : metrics::all()) {
    entries.push_back({{"name", metric.name},
                       {"summary", metric.definition},
                       {"symbol", metric.symbol},
                       {"range", metric.range},
                       {"better", metric.better == metrics::Better::higher ? "higher" : "lower"},
                       {"tolerance", metric.tolerance}});
  }
  return entries;
}

Json list_studies() {
  Json entries = Json::array();
  for (const StudyName& study : studies()) entries.push_back({{"name", study.name}, {"summary", study.summary}});
  return entries;
}

Json list_figures() {
  Json entries = Json::array();
  for (const reporting::FigureKind& kind : reporting::figures::all())
    entries.push_back({{"name", kind.name}, {"summary", kind.summary}});
  return entries;
}

Json list_claims() {
  Json entries = Json::array();
  for (const reporting::Claim& claim : reporting::claims::all()) {
    entries.push_back({{"name", claim.id},
                       {"summary", claim.statement},
                       {"source", claim.source},
                       {"where", claim.where},
                       {"rule", claim.rule}});
  }
  return entries;
}

Json list_profiles() {
  Json entries = Json::array();
  for (const EmbeddedSettings& profile : embedded_profiles())
    entries.push_back({{"name", profile.name}, {"summary", load_profile(profile.name, {}).summary}});
  return entries;
}

Json list_suites() {
  Json entries = Json::array();
  for (const EmbeddedSettings& suite : embedded_suites())
    entries.push_back({{"name", suite.name}, {"summary", suite_summary(suite)}});
  return entries;
}

struct Listing {
  std::string kind;
  Json (*entries)();
  std::string (*page)() = nullptr;  ///< what people get instead of a line for each entry
};

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all = {{"estimators", list_estimators},
                                           {"games", list_games},
                                           {"pdes", list_pdes},
                                           {"operators", list_operators},
                                           {"metrics", list_metrics},
                                           {"studies", list_studies},
                                           {"figures", list_figures},
                                           {"claims", list_claims},
                                           {"profiles", list_profiles},
                                           {"suites", list_suites},
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

}  // namespace

void add_list(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand("list",
                                     "What there is, by kind: estimators, games, pdes, operators, metrics, studies, "
                                     "figures, claims, profiles, suites, keys (of profiles)");
  const auto kind = std::make_shared<std::string>();
  command->add_option(
      "KIND", *kind, "estimators, games, pdes, operators, metrics, studies, figures, claims, profiles, suites or keys");
  command->callback([kind, &globals] {
    if (kind->empty()) {
      for (const Listing& listing : listings()) std::cout << listing.kind << '\n';
      return;
    }
    const Json entries = find_listing(*kind).entries();
    const auto page = find_listing(*kind).page;
    if (globals.json) {
      print_json({{"kind", *kind}, {"entries", entries}});
    } else if (page != nullptr) {
      std::cout << page();
    } else {
      print_for_people(entries);
    }
  });
}

}  // namespace opshap::cli
