// Every solver against solutions that are known without it, and against the laws of its equation.

#include "known_answers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reporting/evidence.hpp"

namespace opshap {

namespace {

std::map<std::string, std::function<KnownAnswers()>>& registered() {
  static std::map<std::string, std::function<KnownAnswers()>> answers;
  return answers;
}

/// How far the laws that the solver watches were from holding, at most, over some of the problem's own inputs.
KnownAnswers watched(const pde::Problem& problem) {
  const std::vector<pde::Invariant> invariants = problem.invariants();
  KnownAnswers answers;
  for (const pde::Invariant& invariant : invariants)
    answers.push_back({"as in data sets", fmt::format("{}, largest of 5 samples", invariant.name), 0, invariant.limit});
  for (std::uint64_t sample = 0; sample < 5; ++sample) {
    const pde::Solution solution = problem.solve(problem.draw(Rng(42, "known_answers"), sample).input);
    for (std::size_t i = 0; i < invariants.size(); ++i)
      answers[i].observed = std::max(answers[i].observed, solution.departures[i]);
  }
  return answers;
}

}  // namespace

AnswersOf::AnswersOf(std::string problem, std::function<KnownAnswers()> answers) {
  registered().emplace(std::move(problem), std::move(answers));
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::nan("");
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(a[i] - b[i]);
    if (!(distance <= largest)) largest = distance;
  }
  return largest;
}

TEST(KnownAnswers, AreGivenByEverySolver) {
  reporting::Table table{.name = "checks",
                         .caption =
                             "How far each solver is from what is known without it. Observed must not exceed "
                             "the bound; differences are the largest over the grid.",
                         .columns = {{"PDE"}, {"method"}, {"check"}, {"observed", true}, {"bound", true}},
                         .rows = {}};
  for (const auto& known : pde::all()) {
    const std::unique_ptr<pde::Problem> problem = known->with(known->quick());
    KnownAnswers answers;
    const auto found = registered().find(std::string(known->name()));
    // What is not in the paper has its closed forms in its own test.
    if (found == registered().end()) {
      EXPECT_FALSE(known->in_paper()) << known->name() << " has no known answers";
    } else {
      answers = found->second();
    }
    for (const KnownAnswer& law : watched(*problem)) answers.push_back(law);
    for (const KnownAnswer& answer : answers) {
      EXPECT_LE(answer.observed, answer.bound) << known->name() << ", " << answer.method << ": " << answer.check;
      table.add({std::string(known->name()), answer.method, answer.check, fmt::format("{:.2g}", answer.observed),
                 fmt::format("{:.2g}", answer.bound)});
    }
  }
  reporting::publish({.name = "known_answers",
                      .title = "Solvers against what is known without them",
                      .finding = "Every solver of a data set meets its closed forms, its golden values and its laws.",
                      .studies = {},
                      .tables = {std::move(table)}});
}

}  // namespace opshap
