// Losses of a device that are recorded once and repeated with other numbers.

#include "training/recorded_loss.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// A recording that does the same work again.
class Again final : public training::Recording {
 public:
  explicit Again(std::function<void()> work) : work_(std::move(work)) {}
  void repeat() const override { work_(); }

 private:
  std::function<void()> work_;
};

TEST(RecordedLoss, IsThatOfTheTensorsAndIsRecordedOnceForEachKind) {
  const torch::Tensor weight = torch::tensor(2.0, torch::kFloat64);
  int computed = 0, recorded = 0;
  const auto compute = [&](const training::RecordedLoss::Tensors& of) {
    ++computed;
    return training::LossAndGradients{.loss = weight * (of[0] * of[1]).sum(), .gradients = {(of[0] * of[1]).sum()}};
  };
  training::RecordedLoss loss([&](const std::function<void()>& work) {
    ++recorded;
    return std::make_unique<Again>(work);
  });
  const auto holds = [&](std::int64_t group, std::int64_t size) {
    const torch::Tensor a = torch::rand({size}, torch::kFloat64), b = torch::rand({size}, torch::kFloat64);
    const auto found = loss({group, size}, {a, b}, compute);
    const auto product = torch::dot(a, b).item<double>();
    EXPECT_EQ("", mismatch(2 * product, found.loss.item<double>(), rounding(100, 1)));
    EXPECT_EQ("", mismatch(product, found.gradients[0].item<double>(), rounding(100, 1)));
  };
  for (const std::int64_t group : {0, 1})
    for (const std::int64_t size : {3, 5}) holds(group, size);
  EXPECT_EQ(0, recorded) << "the first of a kind";
  for (int time = 0; time < 3; ++time)
    for (const std::int64_t group : {0, 1})
      for (const std::int64_t size : {3, 5}) holds(group, size);
  EXPECT_EQ(4, recorded);
  for (std::int64_t size = 6; size < 50; ++size)
    for (int time = 0; time < 2; ++time) holds(0, size);
  EXPECT_EQ(32, recorded) << "each kind has memory of its own";
}

TEST(RecordedLoss, IsComputedWhereTheDeviceTakesNoRecording) {
  int asked = 0;
  training::RecordedLoss loss([&](const std::function<void()>&) {
    ++asked;
    return nullptr;
  });
  for (int time = 0; time < 4; ++time) {
    const auto found = loss({}, {torch::tensor(static_cast<float>(time))}, [](const auto& of) {
      return training::LossAndGradients{.loss = of[0] + 1, .gradients = {}};
    });
    EXPECT_EQ(time + 1, found.loss.item<float>());
  }
  EXPECT_EQ(1, asked);
  EXPECT_FALSE(training::recorder(torch::kCPU));
}

}  // namespace
}  // namespace opshap
