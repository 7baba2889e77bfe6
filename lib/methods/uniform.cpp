#include <vector>

#include "methods/of_density.hpp"

namespace opshap::methods {

namespace {

class Uniform final : public Method {
 public:
  std::string_view name() const override { return "uniform"; }
  std::string_view access() const override { return "none"; }

  Attribution attribute(const Question& question) const override {
    const auto points = static_cast<std::size_t>(scenario_of(name(), question).input.domain.points());
    return of_density(
        name(), [&] { return std::vector<double>(points, 0.0); }, question);
  }
};

}  // namespace

std::unique_ptr<Method> uniform() { return std::make_unique<Uniform>(); }

}  // namespace opshap::methods
