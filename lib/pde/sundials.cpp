#include "pde/sundials.hpp"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>

#include <memory>
#include <new>

#include "core/error.hpp"

namespace opshap::pde {

namespace {

constexpr long most_solver_steps = 100'000'000;

/// A handle of the library with the function that frees it.
template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;
using Context = Owned<std::remove_pointer_t<SUNContext>>;
using Vector = Owned<std::remove_pointer_t<N_Vector>>;
using Matrix = Owned<std::remove_pointer_t<SUNMatrix>>;
using Solver = Owned<std::remove_pointer_t<SUNLinearSolver>>;

Context new_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) throw std::bad_alloc();
  return {context, [](SUNContext owned) { SUNContext_Free(&owned); }};
}

/// A view of y, which it must not outlive.
Vector view(std::vector<double>& y, const Context& context) {
  return {N_VMake_Serial(static_cast<sunindextype>(y.size()), y.data(), context.get()),
          [](std::remove_pointer_t<N_Vector>* vector) { N_VDestroy(vector); }};
}

std::span<double> values(N_Vector vector) {
  return {N_VGetArrayPointer(vector), static_cast<std::size_t>(N_VGetLength(vector))};
}

/// What the library's callbacks are given.
struct System {
  const Rate& rate;
  const TridiagonalJacobian* jacobian = nullptr;
  Tridiagonal scratch = {};
};

int rate_of(double, N_Vector y, N_Vector change, void* system) {
  static_cast<System*>(system)->rate(values(y), values(change));
  return 0;
}

int jacobian_of(double, N_Vector y, N_Vector, SUNMatrix matrix, void* data, N_Vector, N_Vector, N_Vector) {
  auto& system = *static_cast<System*>(data);
  (*system.jacobian)(values(y), system.scratch);
  const auto rows = static_cast<sunindextype>(system.scratch.diagonal.size());
  for (sunindextype i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (i > 0) SM_ELEMENT_B(matrix, i, i - 1) = system.scratch.below[row];
    SM_ELEMENT_B(matrix, i, i) = system.scratch.diagonal[row];
    if (i + 1 < rows) SM_ELEMENT_B(matrix, i, i + 1) = system.scratch.above[row];
  }
  return 0;
}

void check(int flag, std::string_view who, std::string_view step) {
  require<NumericalError>(flag >= 0, who, ": integrator=", ode_library(), ", ", step, "=", flag,
                          " (cannot go on: the solution changes too fast for its tolerances). Use looser tolerances or "
                          "a smoother field.");
}

/// The library reports on standard error; its flags say the same.
void silent(int, const char*, const char*, char*, void*) {}

}  // namespace

std::int64_t integrate_stiff(std::string_view who, std::vector<double>& y, double time, const Tolerances& tolerances,
                             const Rate& rate, const TridiagonalJacobian& jacobian) {
  const Context context = new_context();
  const auto size = y.size();
  System system{rate, &jacobian, {std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)}};
  const Vector state = view(y, context);
  const Matrix matrix(SUNBandMatrix(static_cast<sunindextype>(size), 1, 1, context.get()), SUNMatDestroy);
  const Solver solver(SUNLinSol_Band(state.get(), matrix.get(), context.get()),
                      [](std::remove_pointer_t<SUNLinearSolver>* owned) { SUNLinSolFree(owned); });
  const Owned<void> memory(CVodeCreate(CV_BDF, context.get()), [](void* owned) { CVodeFree(&owned); });
  if (memory == nullptr || state == nullptr || matrix == nullptr || solver == nullptr) throw std::bad_alloc();
  CVodeSetErrHandlerFn(memory.get(), silent, nullptr);
  check(CVodeInit(memory.get(), rate_of, 0, state.get()), who, "init");
  check(CVodeSStolerances(memory.get(), tolerances.relative, tolerances.absolute), who, "tolerances");
  check(CVodeSetUserData(memory.get(), &system), who, "data");
  check(CVodeSetLinearSolver(memory.get(), solver.get(), matrix.get()), who, "solver");
  check(CVodeSetJacFn(memory.get(), jacobian_of), who, "jacobian");
  check(CVodeSetMaxNumSteps(memory.get(), most_solver_steps), who, "steps");
  check(CVodeSetStopTime(memory.get(), time), who, "stop");
  double reached = 0;
  check(CVode(memory.get(), time, state.get(), &reached, CV_NORMAL), who, "step");
  long steps = 0;
  CVodeGetNumSteps(memory.get(), &steps);
  return steps;
}

std::int64_t integrate_explicit(std::string_view who, std::vector<double>& y, double time, const Tolerances& tolerances,
                                const Rate& rate) {
  const Context context = new_context();
  System system{rate};
  const Vector state = view(y, context);
  const Owned<void> memory(ERKStepCreate(rate_of, 0, state.get(), context.get()),
                           [](void* owned) { ERKStepFree(&owned); });
  if (memory == nullptr || state == nullptr) throw std::bad_alloc();
  ERKStepSetErrHandlerFn(memory.get(), silent, nullptr);
  check(ERKStepSetTableNum(memory.get(), ARKODE_DORMAND_PRINCE_7_4_5), who, "table");
  check(ERKStepSStolerances(memory.get(), tolerances.relative, tolerances.absolute), who, "tolerances");
  check(ERKStepSetUserData(memory.get(), &system), who, "data");
  check(ERKStepSetMaxNumSteps(memory.get(), most_solver_steps), who, "steps");
  check(ERKStepSetStopTime(memory.get(), time), who, "stop");
  double reached = 0;
  check(ERKStepEvolve(memory.get(), time, state.get(), &reached, ARK_NORMAL), who, "step");
  long steps = 0;
  ERKStepGetNumSteps(memory.get(), &steps);
  return steps;
}

const char* ode_library() { return "sundials-" SUNDIALS_VERSION; }

}  // namespace opshap::pde
