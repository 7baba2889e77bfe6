#pragma once

#include <toml++/toml.h>

#include "cli/profile_section.hpp"
#include "core/scenario.hpp"

namespace opshap::cli {

/// The problem's usual rule with what the table [scenario] of a profile says otherwise. Throws InvalidArgument naming
/// the key.
ScenarioRule read_scenario(Section section, ScenarioRule rule);

/// What of a rule differs from the problem's usual one, which read_scenario() reads; an empty table where nothing does.
toml::table scenario_table(const ScenarioRule& rule, const ScenarioRule& usual);

}  // namespace opshap::cli
