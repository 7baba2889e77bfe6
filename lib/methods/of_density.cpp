#include "methods/of_density.hpp"

#include <algorithm>
#include <chrono>

#include "core/error.hpp"
#include "core/threads.hpp"

namespace opshap::methods {

const Scenario& scenario_of(std::string_view who, const Question& question) {
  require(question.scenario != nullptr, who,
          ": field=none (the game was not made from an input field). Use an estimator, or a game of an operator.");
  return *question.scenario;
}

Attribution of_density(std::string_view who, const std::function<std::vector<double>()>& density,
                       const Question& question) {
  const Scenario& scenario = scenario_of(who, question);
  const auto start = std::chrono::steady_clock::now();
  CountedGame ends(question.game, {2});
  Attribution attribution;
  std::vector<double> found;
  parallel_for(2, [&](std::size_t part) {
    if (part == 0) {
      found = density();
    } else {
      attribution.empty = question.empty ? *question.empty : ends.empty();
      attribution.grand = question.grand ? *question.grand : ends.grand();
    }
  });
  attribution.values =
      cell_values(found, scenario.input.domain, scenario.partition, attribution.empty, attribution.grand);
  attribution.distinct = 2;
  attribution.evaluations = ends.evaluations();
  attribution.game_seconds = ends.seconds();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  attribution.estimator_seconds = std::max(0.0, seconds - attribution.game_seconds);
  return attribution;
}

}  // namespace opshap::methods
