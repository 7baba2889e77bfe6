#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pde/registry.hpp"
#include "support/field_of.hpp"

namespace opshap {

/// A solution that is known without the solver, and how far the solver is from it.
struct KnownAnswer {
  std::string method;  ///< "Fourier", "ETDRK4", ..
  std::string check;   ///< what is compared, in words
  double observed = 0, bound = 0;
};

using KnownAnswers = std::vector<KnownAnswer>;

/// The known answers of one problem. A file known_answers_<problem>.cpp has one object of this type; the study finds it
/// by itself.
class AnswersOf {
 public:
  AnswersOf(std::string problem, std::function<KnownAnswers()> answers);
};

/// max |a − b|.
double apart(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace opshap
