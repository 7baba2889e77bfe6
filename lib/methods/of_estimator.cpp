#include <utility>

#include "methods/method.hpp"

namespace opshap::methods {

namespace {

class OfEstimator final : public Method {
 public:
  explicit OfEstimator(std::shared_ptr<const Estimator> estimator) : estimator_(std::move(estimator)) {}

  std::string_view name() const override { return estimator_->name(); }
  std::string_view access() const override {
    return estimator_->guarantees().access == Access::values ? "values" : "gradient";
  }
  std::optional<Guarantees> guarantees() const override { return estimator_->guarantees(); }
  bool uses_seed() const override { return true; }

  Attribution attribute(const Question& question) const override {
    return opshap::attribute(*estimator_, question.game, question.budget, question.seed);
  }

 private:
  std::shared_ptr<const Estimator> estimator_;
};

}  // namespace

std::unique_ptr<Method> of_estimator(const Estimator& estimator) {
  return std::make_unique<OfEstimator>(std::shared_ptr<const Estimator>(&estimator, [](const Estimator*) {}));
}

std::unique_ptr<Method> of_estimator(std::unique_ptr<Estimator> estimator) {
  return std::make_unique<OfEstimator>(std::move(estimator));
}

}  // namespace opshap::methods
