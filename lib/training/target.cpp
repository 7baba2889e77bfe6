#include "training/target.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::training::targets {

namespace {

std::unique_ptr<Target> named(const networks::ExplainerRecipe& recipe) {
#define TARGET(name, summary) \
  if (recipe.target == #name) return name(recipe);
#include "training/targets.def"
#undef TARGET
  throw_unknown_name("target", recipe.target, names());
}

/// Games of few players are asked by other targets than games of many.
class Mixture final : public Target {
 public:
  explicit Mixture(const networks::ExplainerRecipe& recipe) {
    int before = 0;
    for (const networks::LabelRule& rule : recipe.mixture) {
      require(rule.players > before, "explainer: mixture, players=", rule.players, " (follows ", before,
              "; each rule is for more players than the one before). Put the rules in order.");
      before = rule.players;
      networks::ExplainerRecipe part = recipe;
      part.target = rule.target;
      part.label_evaluations = rule.evaluations;
      parts_.push_back({rule.players, named(part)});
    }
    rest_ = named(recipe);
    for (const Part& part : parts_)
      require(part.target->once() == rest_->once(), "explainer: mixture, target=", rest_->identity(), " and ",
              part.target->identity(),
              " (one is asked in every epoch, the other once). Mix targets that are asked once, fastshap_reused among "
              "them.");
  }

  bool once() const override { return rest_->once(); }
  Labels draw(const SampleGames& games, const std::vector<std::int64_t>& members, const std::vector<Rng>& streams,
              Use use) const override {
    return of(games.players()).draw(games, members, streams, use);
  }
  std::int64_t evaluations(Use use, int players) const override { return of(players).evaluations(use, players); }
  torch::Tensor loss(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                     const Labels& labels, std::int64_t batch) const override {
    return of(static_cast<int>(volumes.shares.size(0))).loss(densities, volumes, gains, labels, batch);
  }
  std::string identity() const override {
    auto json = nlohmann::ordered_json::parse(rest_->identity());
    for (const Part& part : parts_)
      json["mixture"].push_back(
          {{"players", part.players}, {"target", nlohmann::ordered_json::parse(part.target->identity())}});
    return json.dump();
  }

 private:
  struct Part {
    int players;
    std::unique_ptr<Target> target;
  };

  const Target& of(int players) const {
    const auto found = std::ranges::find_if(parts_, [players](const Part& part) { return players <= part.players; });
    return found == parts_.end() ? *rest_ : *found->target;
  }

  std::vector<Part> parts_;
  std::unique_ptr<Target> rest_;
};

}  // namespace

std::vector<std::string> names() {
#define TARGET(name, summary) #name,
  return {
#include "training/targets.def"
  };
#undef TARGET
}

std::unique_ptr<Target> make(const networks::ExplainerRecipe& recipe) {
  if (recipe.mixture.empty()) return named(recipe);
  return std::make_unique<Mixture>(recipe);
}

}  // namespace opshap::training::targets
