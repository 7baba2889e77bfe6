#pragma once

#include <ATen/record_function.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

namespace opshap {

/// Seconds that the operations of LibTorch take while an object lives, those that they call counted once: matrix
/// products and everything else. Of one thread; there is one object at a time. What kernels of our own take is not in
/// it.
class OperationTimes {
 public:
  OperationTimes() {
    sums() = {};
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(begin, end).scopes({at::RecordScope::FUNCTION}));
  }
  OperationTimes(const OperationTimes&) = delete;
  OperationTimes& operator=(const OperationTimes&) = delete;
  ~OperationTimes() { at::removeCallback(handle_); }

  double products() const { return sums().products; }
  double others() const { return sums().others; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Sums {
    double products = 0, others = 0;
    std::vector<double> inner;  ///< of each operation that runs: seconds of those that it called
  };
  struct Begun final : at::ObserverContext {
    Clock::time_point at = Clock::now();
  };

  static Sums& sums() {
    static thread_local Sums sums;
    return sums;
  }

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& /*operation*/) {
    sums().inner.push_back(0);
    return std::make_unique<Begun>();
  }

  static void end(const at::RecordFunction& operation, at::ObserverContext* context) {
    Sums& all = sums();
    if (all.inner.empty()) return;  // it began before this object
    const double whole = std::chrono::duration<double>(Clock::now() - static_cast<Begun*>(context)->at).count(),
                 own = whole - all.inner.back();
    all.inner.pop_back();
    if (!all.inner.empty()) all.inner.back() += whole;
    const bool product = std::string_view(operation.name()).find("mm") != std::string_view::npos;
    (product ? all.products : all.others) += own;
  }

  at::CallbackHandle handle_;
};

}  // namespace opshap
