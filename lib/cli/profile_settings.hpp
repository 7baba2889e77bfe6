#pragma once

#include "cli/profile.hpp"
#include "cli/setting.hpp"

namespace opshap::cli {

/// The tables [data], [backbone], [explainer], [evaluation] and [scenario] of a profile, key by key.
const Settings<DataSettings>& data_settings();
const Settings<networks::BackboneRecipe>& backbone_settings();
const Settings<networks::ExplainerRecipe>& explainer_settings();
const Settings<evaluation::EvaluationSettings>& evaluation_settings();
const Settings<ScenarioRule>& scenario_settings();

/// The recipe of the table [explainer], for networks of this model at these resolutions. Throws InvalidArgument naming
/// key and line.
networks::ExplainerRecipe read_explainer(StrictObject object, const networks::NetworkSettings& model,
                                         const std::vector<Resolution>& resolutions);

/// The table [operator]. The settings are not looked at: what they mean is the architecture's business. Throws
/// InvalidArgument where there is no model.
networks::NetworkSettings read_operator(StrictObject object);
/// The object that read_operator() reads.
nlohmann::ordered_json written_operator(const networks::NetworkSettings& settings);

/// A list of n or [nx, ny], ascending. Throws InvalidArgument naming the key.
std::vector<Resolution> read_resolutions(StrictObject& object, const std::string& key);

/// Every key of these tables: [{name "explainer.batch", summary, range, needed}].
nlohmann::ordered_json profile_keys();
/// docs/profile-keys.md: the same for people, a table of keys for each table of a profile.
std::string profile_keys_page();

}  // namespace opshap::cli
