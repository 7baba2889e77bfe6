#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/domain.hpp"
#include "pde/polygon.hpp"

namespace opshap::pde {

/// A vector, or a number, at place (x, y) and time t.
using VectorFunction = std::function<Point(double x, double y, double t)>;
using ScalarFunction = std::function<double(double x, double y, double t)>;
/// Whether the side of a boundary whose middle is (x, y) belongs to a part of it.
using BoundaryPart = std::function<bool(double x, double y)>;

/// What drives an incompressible flow of density 1: ∂u/∂t + (u·∇)u = −∇p + ν∆u + f, ∇·u = 0.
struct FlowConditions {
  double viscosity = 0;            ///< ν
  VectorFunction boundary;         ///< u on all of the boundary that is no outlet
  BoundaryPart outlet = nullptr;   ///< where ν ∂u/∂n = p n instead; nowhere where it is not given
  VectorFunction force = nullptr;  ///< f; 0 where it is not given
};

/// An incompressible flow on triangles, step by step.
///
/// Velocity is quadratic on each triangle and pressure linear (Taylor & Hood 1973). In time: the backward differences
/// of second order; convection is explicit, 2 N(uⁿ) − N(uⁿ⁻¹) with N(u) = (u·∇)u, and integrated exactly; viscosity is
/// implicit; pressure is corrected incrementally in the rotational form (Guermond & Shen 2004, "On the error estimates
/// for the rotational pressure-correction projection methods"), with φ = 0 at outlets. Both
/// systems are factored once a step size.
///
/// Orders: 3 in space for the velocity, 2 for the pressure; in time 2 for the velocity, and with an outlet between 1
/// and 3/2 (Guermond, Minev & Shen 2005). Steps are stable up to about .2 h/max|u|, where h is the shortest edge where
/// the flow is fast.
/// Cost: .6 ms a step with 1450 vertices. Not safe to use from several threads at once.
class TaylorHood {
 public:
  /// Throws InvalidArgument for a mesh without triangles, a viscosity that is not positive, and missing boundary
  /// values.
  TaylorHood(const Mesh& mesh, FlowConditions conditions);
  ~TaylorHood();
  TaylorHood(TaylorHood&&) noexcept;
  TaylorHood& operator=(TaylorHood&&) noexcept;

  /// The state at a time, from functions that are asked at this time and at those one and two steps before. Throws as
  /// set_step().
  void start(const VectorFunction& velocity, const ScalarFunction& pressure, double time, double step);
  /// Fluid at rest.
  void start_at_rest(double time, double step);
  /// A change of the step interpolates the state before the present one linearly, which keeps the order. Throws
  /// InvalidArgument for a step that is not positive and finite.
  void set_step(double step);
  void advance();

  double time() const;
  double step() const;
  /// At the vertices of the mesh, in their order.
  std::vector<Point> velocity() const;
  std::vector<double> pressure() const;
  /// The largest |u| of all nodes; not a number or infinite when the steps were too large.
  double fastest() const;
  /// The L2 norm of the projection of ∇·u to the pressures, with a lumped mass: what is left of the divergence.
  double divergence() const;
  /// The force on a part of the boundary: what the momentum equation leaves over at its nodes (John & Matthies 2001,
  /// "Higher-order finite element discretizations in a benchmark problem for incompressible flows").
  Point force_on(const BoundaryPart& part) const;

  /// L2 norms of the difference to functions of place at the present time. Of the pressure the mean difference is left
  /// out where there is no outlet.
  double velocity_error(const VectorFunction& velocity) const;
  double pressure_error(const ScalarFunction& pressure) const;

 private:
  class Scheme;
  std::unique_ptr<Scheme> scheme_;
};

}  // namespace opshap::pde
