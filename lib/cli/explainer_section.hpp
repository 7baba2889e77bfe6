#pragma once

#include <toml++/toml.h>

#include <map>
#include <string>
#include <vector>

#include "cli/profile_section.hpp"
#include "operators/network_config.hpp"
#include "training/recipe.hpp"

namespace opshap::cli {

/// The recipe of the table [explainer] of a profile, for networks of this model at these resolutions. What the paper's
/// recipe does not have needs no key. Throws InvalidArgument naming key and line.
training::ExplainerRecipe read_explainer(Section section, const operators::NetworkSettings& model,
                                         const std::vector<Resolution>& resolutions);

/// The table that read_explainer() reads. Of what the paper's recipe does not have only the settings that are not those
/// of `usual`.
toml::table explainer_table(const training::ExplainerRecipe& recipe, const training::ExplainerRecipe& usual = {});

}  // namespace opshap::cli
