#include "methods/of_density.hpp"

#include "core/error.hpp"

namespace opshap::methods {

const Scenario& scenario_of(std::string_view who, const Question& question) {
  require(question.scenario != nullptr, who,
          ": field=none (the game was not made from an input field). Use an estimator, or a game of an operator.");
  return *question.scenario;
}

Attribution of_density(std::string_view who, std::span<const double> density, const Question& question) {
  const Scenario& scenario = scenario_of(who, question);
  CountedGame ends(question.game, {2});
  Attribution attribution;
  attribution.empty = ends.empty();
  attribution.grand = ends.grand();
  attribution.values =
      cell_values(density, scenario.input.domain, scenario.partition, attribution.empty, attribution.grand);
  attribution.distinct = ends.distinct();
  attribution.evaluations = ends.evaluations();
  attribution.game_seconds = ends.seconds();
  return attribution;
}

}  // namespace opshap::methods
