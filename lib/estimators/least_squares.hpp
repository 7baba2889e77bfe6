#pragma once

#include <memory>

#include "core/estimator.hpp"

namespace opshap::estimators {

/// What becomes of a least-squares problem whose equations are too few, or too much alike, to determine its solution.
enum class Deficiency {
  refuse,        ///< InvalidArgument with its rank and the one it needs
  minimum_norm,  ///< of all solutions the one of least length; Attribution::minimum_norm says so
};

/// An estimator that solves a least-squares problem over the coalitions it draws.
class LeastSquares : public Estimator {
 public:
  explicit LeastSquares(Deficiency deficiency) : deficiency_(deficiency) {}

  /// The same method with Deficiency::minimum_norm. It works with smaller budgets, and promises to be exact on no
  /// family of games.
  virtual std::unique_ptr<Estimator> with_minimum_norm() const = 0;

 protected:
  Deficiency deficiency() const { return deficiency_; }
  /// Every solution is the only one.
  bool determined() const { return deficiency_ == Deficiency::refuse; }
  Refusal refusal() const { return determined() ? Refusal::by_rank : Refusal::never; }

 private:
  Deficiency deficiency_;
};

}  // namespace opshap::estimators
