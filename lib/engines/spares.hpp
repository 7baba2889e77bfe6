#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace opshap::engines {

/// Objects that are costly to make, between their uses by one thread at a time. Safe to use from several threads.
template <typename Object>
class Spares {
 public:
  /// One that nobody uses, or what make() returns; it comes back here when the returned pointer goes. Must not outlive
  /// this.
  template <typename Make>
  auto take(const Make& make) {
    std::unique_ptr<Object> object;
    {
      const std::lock_guard lock(mutex_);
      if (!objects_.empty()) {
        object = std::move(objects_.back());
        objects_.pop_back();
      }
    }
    if (!object) object = make();
    const auto give_back = [this](Object* used) {
      const std::lock_guard lock(mutex_);
      objects_.emplace_back(used);
    };
    return std::unique_ptr<Object, decltype(give_back)>(object.release(), give_back);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace opshap::engines
