#include "cli/trained_explainer.hpp"

#include <iostream>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/generate.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

std::unique_ptr<methods::Method> trained_explainer(const std::filesystem::path& weights, const Operator& explained,
                                                   const std::string& device, std::optional<std::string> name) {
  return methods::of_explainer(networks::library().load_explainer(weights, explained, device), std::move(name),
                               xxh64(read_file(weights)));
}

data::Dataset explainer_data(data::Dataset data, const Profile& profile, const networks::ExplainerRecipe& recipe,
                             std::uint64_t seed) {
  if (recipe.unlabelled == 0) return data;
  require(profile.data.has_problem(), "train: explainer.unlabelled=", recipe.unlabelled,
          " (the data set was imported: "
          "nothing here draws further inputs of it). Set it to 0.");
  return data::with_unlabelled(
      std::move(data), *profile.data.problem(), seed,
      {.count = recipe.unlabelled, .grid = recipe.resolutions.back(), .shares = recipe.unlabelled_shares});
}

void require_trained_for(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                         const Operator& op, const ScenarioRule& rule, bool force) {
  const TrainedFor known = explainer.trained_for();
  const std::string name = weights.filename().string();
  if (known.empty()) {
    std::cerr << who << ": note: " << name
              << " does not say what it was trained for, so nobody can tell whether it fits. Train it again.\n";
    return;
  }
  const std::string other = differences(known, trained_for(op, rule));
  if (other.empty()) return;
  require(force, who, ": --explainer=", name, " (was trained for something else: ", other,
          "). Ask what it was trained for, train another one, or give --force.");
  std::cerr << who << ": note: " << name << " was trained for something else: " << other << ".\n";
}

void require_explains(const std::string& who, const methods::Method& explainer, const std::filesystem::path& weights,
                      const Domain& domain, const ScenarioRule& rule, const std::vector<Readout>& readouts) {
  if (explainer.any_query()) return;
  const TrainedFor facts = explainer.trained_for();
  const auto known = facts.find("query");
  const bool of_target = known != facts.end() && known->second.starts_with("target ");
  const bool fits = of_target
                        ? readouts.size() == 1 && known->second == "target " + rule.target
                        : readouts == std::vector<Readout>{Query{.point = domain.centre(), .channel = rule.channel}};
  require(fits, who, of_target ? ": --target (" : ": --query (", weights.filename().string(), " was trained for the ",
          of_target ? known->second : "centre of the domain",
          "). Ask for that, train one for any query (queries = "
          "\"any\"), or use other methods.");
}

}  // namespace opshap::cli
