#include "evaluation/held_out.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "evaluation/evaluate.hpp"
#include "games/cell_mask_game.hpp"
#include "metrics/registry.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::evaluation {

namespace {

std::uint64_t item(const Resolution& resolution, std::int64_t sample) {
  return resolution.key() << 32 | static_cast<std::uint64_t>(sample);
}

/// Whether an input has an error and a reference with one. Then these are added, and else it is left out.
bool add(HeldOutErrors& found, const Measured& error, const Measured& of_reference) {
  const bool known = error.value && of_reference.value;
  if (known) {
    found.nrmse.push_back(*error.value);
    found.reference_errors.push_back(*of_reference.value);
  }
  found.left_out += !known;
  return known;
}

}  // namespace

double HeldOutErrors::median() const { return statistics::quartiles(nrmse).median; }

statistics::Interval HeldOutErrors::interval(std::uint64_t seed) const {
  const auto drawn_median = [this](statistics::Draw& draw) {
    std::vector<double> drawn;
    for (const std::size_t input : draw.inputs) drawn.push_back(nrmse[input]);
    return statistics::quartiles(std::move(drawn)).median;
  };
  return statistics::bootstrap(nrmse.size(), drawn_median, seed).interval();
}

HeldOut::HeldOut(HeldOutPlan plan, runs::Units* units) : plan_(std::move(plan)) {
  require(plan_.inputs.count() > 0, "held-out inputs: inputs=0 (nothing to score on). Give one or more.");
  Progress progress("references", plan_.inputs.count() * static_cast<std::int64_t>(plan_.resolutions.size()), "inputs");
  for (const Resolution& resolution : plan_.resolutions) {
    std::vector<Case>& cases = cases_.emplace_back();
    for (std::int64_t sample = 0; sample < plan_.inputs.count(); ++sample) {
      throw_if_stopped("references");
      Case found = prepared(resolution, sample);
      const auto compute = [&] {
        ReferenceSettings settings = plan_.reference;
        settings.max_evaluations = std::max(settings.max_evaluations, minimum_reference_evaluations(*found.game));
        const CertifiedReference reference = certified_reference(
            *found.game, settings, Rng(plan_.seed, "held out", 0, item(resolution, sample)).bits64());
        const std::optional<double>& error = reference.error.value;  // doubles come back with the same bits
        return nlohmann::json{{"values", reference.attribution.values},
                              {"error", error ? nlohmann::json(*error) : nlohmann::json(nullptr)}}
            .dump();
      };
      const Readout& readout = found.scenario.readout;
      const std::string point = readout.is_query() ? std::to_string(readout.query().point) : "target";
      const auto json = nlohmann::json::parse(
          units == nullptr ? compute() : units->once(message(resolution, "-", sample, "-", point, ".json"), compute));
      found.values = json.at("values").get<std::vector<double>>();
      const auto& error = json.at("error");
      found.error = error.is_null() ? Measured::undefined("the values are all 0") : Measured::of(error.get<double>());
      cases.push_back(std::move(found));
      progress.advance(1, message("n = ", resolution));
    }
  }
}

HeldOut::Case HeldOut::prepared(const Resolution& resolution, std::int64_t sample) const {
  Scenario scenario = scenario_at(plan_.rule, plan_.inputs.one(sample), resolution);
  if (plan_.any_query) {
    const auto all = static_cast<std::uint64_t>(scenario.input.domain.points());
    const auto point =
        static_cast<std::int64_t>(Rng(plan_.seed, "held-out queries", 0, item(resolution, sample)).below(all));
    scenario.readout = Query{.point = point, .channel = plan_.rule.channel};
  }
  auto game = games::cell_mask_game(plan_.op, scenario);
  return {.scenario = std::move(scenario), .game = std::move(game), .values = {}};
}

std::optional<HeldOutErrors> HeldOut::errors_at(std::size_t place, const methods::Method& method, Budget budget,
                                                int inputs) const try {
  const std::vector<Case>& cases = cases_.at(place);
  HeldOutErrors found{.shape = shape_at(cases.front().scenario.input.domain, plan_.resolutions[place]),
                      .players = players(place)};
  for (std::size_t sample = 0; sample < std::min(cases.size(), static_cast<std::size_t>(inputs)); ++sample) {
    throw_if_stopped("held-out inputs");
    const Case& one = cases[sample];
    const std::uint64_t seed =
        Rng(plan_.seed, method.name(), 0, item(plan_.resolutions[place], static_cast<std::int64_t>(sample))).bits64();
    const Attribution attribution = method.attribute({*one.game, &one.scenario, budget, seed});
    if (!add(found, metrics::nrmse(one.values, attribution.values), one.error)) continue;
    found.seconds.push_back(attribution.game_seconds + attribution.estimator_seconds);
    found.forward_equivalents.push_back(static_cast<double>(attribution.forward_equivalents));
  }
  return found;
} catch (const InvalidArgument&) {
  return std::nullopt;
}

HeldOutErrors HeldOut::own_player_missed(std::size_t place) const {
  const std::vector<Case>& cases = cases_.at(place);
  HeldOutErrors found{.shape = shape_at(cases.front().scenario.input.domain, plan_.resolutions[place]),
                      .players = players(place)};
  for (const Case& one : cases) add(found, own_share(one.values, one.scenario), one.error);
  require<DataError>(!found.nrmse.empty(), "held-out inputs: resolution=", plan_.resolutions[place],
                     " (the Shapley values of all inputs are 0). Give inputs that change the operator's answer.");
  return found;
}

double HeldOut::drift(const Explainer& explainer, const Resolution& coarse, const Resolution& fine) const {
  std::vector<double> drifts;
  const auto density_of = [&](const Scenario& scenario) {
    const auto game = games::cell_mask_game(plan_.op, scenario);
    CountedGame counted(*game, {2});
    return attribution_density(explainer, scenario, counted);
  };
  for (std::int64_t sample = 0; sample < plan_.inputs.count(); ++sample) {
    const Scenario few = scenario_at(plan_.rule, plan_.inputs.one(sample), coarse);
    const Scenario many = scenario_at(plan_.rule, plan_.inputs.one(sample), fine);
    const Measured drift =
        evaluation::drift(density_of(few), few.input.domain, density_of(many), many.input.domain, few.readout);
    if (drift.value) drifts.push_back(*drift.value);
  }
  require<DataError>(!drifts.empty(), "held-out inputs: resolution=", fine,
                     " (the explainer's densities are constant on all inputs). Train it, or give other inputs.");
  return statistics::quartiles(drifts).median;
}

std::vector<double> values_for(const Scenario& here, const Scenario& there, std::span<const double> values) {
  const Domain& domain = here.input.domain;
  if (domain == there.input.domain && here.partition.player_of == there.partition.player_of)
    return {values.begin(), values.end()};
  std::vector<double> shares(static_cast<std::size_t>(here.partition.players), 0.0);
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const auto nearest = static_cast<std::size_t>(there.input.domain.nearest(domain.position(point)));
    const auto owner = static_cast<std::size_t>(there.partition.player_of[nearest]);
    const auto player = static_cast<std::size_t>(here.partition.player_of[static_cast<std::size_t>(point)]);
    shares[player] += values[owner] * domain.volume(point) / there.partition.volumes[owner];
  }
  return shares;
}

}  // namespace opshap::evaluation
