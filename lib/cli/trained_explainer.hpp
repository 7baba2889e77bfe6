#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/profile.hpp"
#include "core/domain.hpp"
#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "methods/method.hpp"

namespace opshap::cli {

/// The trained explainer of a weight file as a method. `name` tells it apart from others.
/// Throws as load_explainer().
std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device,
                                                   std::optional<std::string> name = std::nullopt);

/// What an explainer of this recipe is trained on: the data set of a profile and the further inputs that the recipe
/// wants. Throws InvalidArgument where these cannot be drawn.
data::Dataset explainer_data(data::Dataset data, const Profile& profile, const networks::ExplainerRecipe& recipe,
                             std::uint64_t seed);

/// Throws InvalidArgument, starting with `who`, for an explainer of the centre alone unless that is the only point to
/// explain.
void require_explains(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                      const Domain& domain, const ScenarioRule& rule, const std::vector<Readout>& readouts);

/// Refuses an explainer that was trained for another operator, baseline, rule of players, masked channels or output
/// channel than those of the question; with `force` a remark on standard error says so. One that does not say what it
/// was trained for is taken with a remark. Throws InvalidArgument.
void require_trained_for(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                         const Operator& op, const ScenarioRule& rule, bool force);

}  // namespace opshap::cli
