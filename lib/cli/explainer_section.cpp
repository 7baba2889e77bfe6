#include "cli/explainer_section.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace opshap::cli {

namespace {

/// Samples of a step: more of them do not fit any machine that this is for.
constexpr int most_batch = 1 << 20;

std::vector<training::LabelRule> read_mixture(Section& section) {
  const toml::array* rules = section.node("mixture").as_array();
  require(rules != nullptr, "profile: explainer.mixture (is not a list). Give a list of tables.");
  std::vector<training::LabelRule> mixture;
  for (const toml::node& element : *rules) {
    require(element.is_table(),
            "profile: explainer.mixture (an entry is not a table). Give {players, target, evaluations}.");
    Section rule(*element.as_table(), "explainer.mixture.");
    mixture.push_back({.players = rule.count("players", 2), .target = rule.get<std::string>("target")});
    if (rule.has("evaluations")) mixture.back().evaluations = rule.count<std::int64_t>("evaluations");
    rule.finish();
  }
  return mixture;
}

std::vector<double> read_shares(Section& section, std::size_t resolutions) {
  const std::vector<double> shares = section.list<double>("unlabelled_shares");
  require(shares.size() == resolutions, "profile: explainer.unlabelled_shares=", shares.size(), " numbers (there are ",
          resolutions, " resolutions). Give one for each.");
  for (const double share : shares)
    require(share >= 0 && std::isfinite(share), "profile: explainer.unlabelled_shares=", share,
            " (is not a share). Give numbers that are not negative.");
  require(*std::ranges::max_element(shares) > 0,
          "profile: explainer.unlabelled_shares (are all 0). Set unlabelled to 0 instead.");
  return shares;
}

toml::array list_of(const std::vector<training::LabelRule>& mixture) {
  toml::array list;
  for (const training::LabelRule& rule : mixture) {
    toml::table entry{{"players", rule.players}, {"target", rule.target}};
    if (rule.evaluations > 0) entry.insert("evaluations", rule.evaluations);
    entry.is_inline(true);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

training::ExplainerRecipe read_explainer(Section section, const operators::NetworkSettings& model,
                                         const std::vector<Resolution>& resolutions) {
  training::ExplainerRecipe recipe{.model = model,
                                   .resolutions = resolutions,
                                   .epochs = section.count("epochs"),
                                   .batch = section.count("batch", 1, most_batch),
                                   .learning_rate = section.positive("learning_rate"),
                                   .weight_decay = section.not_negative("weight_decay"),
                                   .warmup_epochs = section.count("warmup_epochs", 0),
                                   .patience = section.count("patience", 0),
                                   .coalitions = section.count("coalitions", 2)};
  const auto word = [&](const std::string& key, const std::vector<std::string>& known) {
    const auto value = section.get<std::string>(key);
    std::string all;
    for (const std::string& name : known) all += message(all.empty() ? "" : ", ", name);
    require(std::ranges::find(known, value) != known.end(), "profile: explainer.", key, "=", value, " (not one of ",
            all, "). Correct it.");
    return value;
  };
  if (section.has("target")) recipe.target = section.get<std::string>("target");
  if (section.has("label_evaluations")) recipe.label_evaluations = section.count<std::int64_t>("label_evaluations", 0);
  if (section.has("mixture")) recipe.mixture = read_mixture(section);
  if (section.has("relative")) recipe.relative = section.get<bool>("relative");
  if (section.has("coordinates"))
    recipe.coordinates = word("coordinates", {"grid", "query", "query_angle", "query_offset"});
  if (section.has("atom")) recipe.atom = section.get<bool>("atom");
  if (section.has("cells")) recipe.cells = word("cells", {"volumes", "equal"});
  if (section.has("fine_from")) recipe.fine_from = section.count("fine_from", 0);
  if (section.has("padding")) recipe.padding = section.not_negative("padding");
  if (section.has("quadrature")) recipe.quadrature = word("quadrature", {"points", "volumes"});
  if (section.has("queries")) recipe.any_query = word("queries", {"fixed", "any"}) == "any";
  if (section.has("clipping")) recipe.clipping = section.not_negative("clipping");
  if (section.has("averaging")) recipe.averaging = section.not_negative("averaging");
  if (section.has("unlabelled")) recipe.unlabelled = section.count<std::int64_t>("unlabelled", 0);
  if (section.has("unlabelled_shares")) recipe.unlabelled_shares = read_shares(section, resolutions.size());
  section.finish();
  return recipe;
}

toml::table explainer_table(const training::ExplainerRecipe& recipe, const training::ExplainerRecipe& usual) {
  toml::table table{{"epochs", recipe.epochs},
                    {"batch", recipe.batch},
                    {"learning_rate", recipe.learning_rate},
                    {"weight_decay", recipe.weight_decay},
                    {"warmup_epochs", recipe.warmup_epochs},
                    {"patience", recipe.patience},
                    {"coalitions", recipe.coalitions}};
  const auto insert = [&](const char* key, const auto& value, const auto& known) {
    if (value != known) table.insert(key, value);
  };
  insert("target", recipe.target, usual.target);
  insert("label_evaluations", recipe.label_evaluations, usual.label_evaluations);
  if (recipe.mixture != usual.mixture) table.insert("mixture", list_of(recipe.mixture));
  insert("relative", recipe.relative, usual.relative);
  insert("coordinates", recipe.coordinates, usual.coordinates);
  insert("atom", recipe.atom, usual.atom);
  insert("cells", recipe.cells, usual.cells);
  insert("fine_from", recipe.fine_from, usual.fine_from);
  if (recipe.padding && recipe.padding != usual.padding) table.insert("padding", *recipe.padding);
  if (recipe.quadrature && recipe.quadrature != usual.quadrature) table.insert("quadrature", *recipe.quadrature);
  if (recipe.any_query != usual.any_query) table.insert("queries", recipe.any_query ? "any" : "fixed");
  insert("clipping", recipe.clipping, usual.clipping);
  insert("averaging", recipe.averaging, usual.averaging);
  insert("unlabelled", recipe.unlabelled, usual.unlabelled);
  if (recipe.unlabelled_shares != usual.unlabelled_shares)
    table.insert("unlabelled_shares", list_of(recipe.unlabelled_shares));
  return table;
}

}  // namespace opshap::cli
