// Trainings on flows whose meshes differ: which samples an epoch shows, and on which mesh.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/domain.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "support/rectangle_mesh.hpp"
#include "support/run_folder.hpp"
#include "training/resolution_batches.hpp"
#include "training/training.hpp"

namespace opshap {
namespace {

class FlowTrainingRun : public RunFolder {
 protected:
  FlowTrainingRun() { set_verbosity(Verbosity::quiet); }
};

/// Flows of four windows each, the first of them for training: flow i is on mesh i % 2, and all values of sample k are
/// k.
data::Dataset flow_data(int train, int validation) {
  constexpr int windows = 4;
  const std::vector<Domain> meshes = {Domain::mesh(rectangle_mesh({0, 1}, {0, 1}, 3, 3)),
                                      Domain::mesh(rectangle_mesh({0, 1}, {0, 1}, 4, 3))};
  std::vector<std::int32_t> mesh;
  data::Dataset data;
  for (int sample = 0; sample < windows * (train + validation); ++sample) {
    mesh.push_back(sample / windows % 2);
    data.split.push_back(sample < windows * train ? data::Split::train : data::Split::validation);
    data.resolution_slot.push_back(0);
  }
  data.pde = data.content_hash = "flows";
  data.windows = windows;
  data.inputs = data::SampleFields(meshes, mesh, 1);
  data.targets = data.inputs;
  for (std::int64_t sample = 0; sample < data.samples(); ++sample)
    std::ranges::fill(data.inputs.field(sample), static_cast<double>(sample));
  for (const Domain& domain : meshes)
    data.node_types.emplace_back(static_cast<std::size_t>(domain.points()), pde::NodeType::normal);
  return data;
}

TEST(FlowTraining, ShowsOneWindowOfEachFlowInEveryEpoch) {
  const data::Dataset data = flow_data(6, 2);
  const auto groups = training::resolution_groups(data, data::Split::train, {Resolution::own()});
  ASSERT_EQ(2u, groups.size()) << "one for each mesh";
  std::vector<int> seen(24, 0);
  constexpr int epochs = 200;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<int> flows(6, 0);
    const auto batches = training::epoch_batches(groups, 2, 5, epoch);
    for (const training::Batch& batch : batches) {
      for (const std::int64_t member : batch.members) {
        const std::int64_t sample = groups[batch.group].samples[static_cast<std::size_t>(member)];
        EXPECT_EQ(groups[batch.group].domain, data.inputs.domain_of(sample));
        ++flows[static_cast<std::size_t>(sample / 4)];
        ++seen[static_cast<std::size_t>(sample)];
      }
    }
    ASSERT_EQ(std::vector<int>(6, 1), flows) << epoch;
    const auto again = training::epoch_batches(groups, 2, 5, epoch);
    ASSERT_TRUE(std::ranges::equal(batches, again, {}, &training::Batch::members, &training::Batch::members));
  }
  // A window is shown 50 times in the mean, with a standard deviation of 6.1; 6 of them are 37.
  for (const int times : seen) EXPECT_NEAR(epochs / 4, times, 37);
  // All windows choose the weights.
  std::size_t validated = 0;
  for (const training::Batch& batch :
       training::ordered_batches(training::resolution_groups(data, data::Split::validation, {Resolution::own()}), 3))
    validated += batch.members.size();
  EXPECT_EQ(8u, validated);
}

TEST_F(FlowTrainingRun, LearnsOnEveryMesh) {
  const data::Dataset data = flow_data(2, 1);
  networks::BackboneRecipe recipe{.model = {.model = "gino", .json = R"({"modes": 2, "width": 4, "layers": 1,
    "in_radius": 0.6, "out_radius": 0.6, "in_transform": "linear", "out_transform": "linear", "latent_shape": [4, 4]})"},
                                  .resolutions = {Resolution::own()},
                                  .epochs = 3,
                                  .batch = 2};
  const networks::TrainingSummary summary = training::train_backbone(recipe, data, 1, folder_ / "flows");
  EXPECT_EQ(3, summary.epochs);
  EXPECT_TRUE(std::isfinite(summary.best_validation));
  // The latent grid covers what all meshes lie in.
  EXPECT_EQ((std::vector<double>{0, 1, 0, 1}),
            nlohmann::json::parse(training::backbone_config(recipe, data).json)["mesh_box"].get<std::vector<double>>());
}

}  // namespace
}  // namespace opshap
