#include "pde/fields.hpp"
#include "pde/heat_equation.hpp"
#include "pde/registry.hpp"

namespace opshap::pde {

namespace {

class Heat1d final : public HeatEquation {
 public:
  explicit Heat1d(std::vector<Parameter> parameters) : HeatEquation("heat1d", std::move(parameters)) {}

  std::string_view name() const override { return "heat1d"; }
  std::string_view summary() const override { return "u_t = kappa u_xx, periodic on [0, 1]"; }
  std::unique_ptr<Problem> with(const ParameterValues& changes) const override {
    return std::make_unique<Heat1d>(changed(name(), parameters_, changes));
  }
  Space input() const override { return {{{"u", "1"}}, Domain::unit({1024})}; }
  Sample draw(const Rng& root, std::uint64_t sample) const override { return mixed_1d(input().domain, root, sample); }
};

}  // namespace

std::unique_ptr<Problem> heat1d() {
  return std::make_unique<Heat1d>(std::vector<Parameter>{{"kappa", 0.01, "conductivity"}});
}

}  // namespace opshap::pde
