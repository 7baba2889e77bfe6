#include "games/function_of_measure.hpp"

#include <cstddef>
#include <utility>

#include "games/diagonal_extension.hpp"

namespace opshap::games {

namespace {

class FunctionOfMeasure final : public SolvedGame {
 public:
  FunctionOfMeasure(Measure measure, ScalarFunction f, std::function<std::vector<double>()> shapley_values)
      : measure_(std::move(measure)),
        total_(measure_.total()),
        f_(std::move(f)),
        shapley_values_(std::move(shapley_values)),
        extension_(*this, [this](double t, std::span<double> slopes) {
          const double slope = f_.slope(t * total_);
          for (std::size_t player = 0; player < slopes.size(); ++player) slopes[player] = measure_[player] * slope;
        }) {}

  int players() const override { return measure_.players(); }
  const DifferentiableGame* differentiable() const override { return &extension_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values = measure_.of(coalitions);
    for (double& value : values) value = f_.value(value);
    return values;
  }

  std::vector<double> shapley_values() const override { return shapley_values_(); }

  std::optional<std::vector<double>> aumann_shapley_values() const override {
    if (!f_.absolutely_continuous) return std::nullopt;
    std::vector<double> shares = measure_.cells();
    const double mean_slope = total_ != 0 ? chord() : f_.slope(0);
    for (double& share : shares) share *= mean_slope;
    return shares;
  }

  std::optional<std::vector<double>> discretisation_error() const override {
    if (!f_.absolutely_continuous || !f_.smooth_at_ends || total_ == 0) return std::nullopt;
    const double constant = (f_.slope(0) + f_.slope(total_)) / 2 - chord(), squares = measure_.squares();
    std::vector<double> errors = measure_.cells();
    for (double& cell : errors) cell *= (squares / total_ - cell) * constant / total_;
    return errors;
  }

 private:
  double chord() const { return (f_.value(total_) - f_.value(0)) / total_; }

  Measure measure_;
  double total_;
  ScalarFunction f_;
  std::function<std::vector<double>()> shapley_values_;
  DiagonalExtension extension_;
};

}  // namespace

std::unique_ptr<SolvedGame> function_of_measure(Measure measure, ScalarFunction f,
                                                std::function<std::vector<double>()> shapley_values) {
  return std::make_unique<FunctionOfMeasure>(std::move(measure), std::move(f), std::move(shapley_values));
}

}  // namespace opshap::games
