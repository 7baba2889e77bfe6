#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "networks/recipe.hpp"
#include "operators/torch.hpp"
#include "training/samples.hpp"

namespace opshap::training {

/// What an explainer is trained on: what is asked of the games, and how far the explainer is from the answers.
///
/// The training itself knows no target; a recipe names one. Immutable, and safe to call from several threads. Adding
/// one: a file in lib/training and a line in targets.def.
class Target {
 public:
  virtual ~Target() = default;

  /// What the labels are for. A training draws new ones in every epoch, unless it asks once; the validation keeps the
  /// ones it drew.
  enum class Use { training, validation };

  /// Questions and answers of a batch: each tensor has one row for each field.
  using Labels = std::vector<torch::Tensor>;

  /// Asks the games of a batch's members; `streams` has one for each member, and what a member is asked depends on its
  /// stream alone.
  virtual Labels draw(const SampleGames& games, const std::vector<std::int64_t>& members,
                      const std::vector<Rng>& streams, Use use) const = 0;
  /// Whether the training asks once for each of its samples, before its first step, and then keeps the answers.
  virtual bool once() const { return false; }
  /// What the labels of one field with so many players cost, in operator evaluations. A reverse pass of both branches
  /// of the mean field counts six, that of a plain gradient three.
  virtual std::int64_t evaluations(Use use, int players) const = 0;
  /// The part of the mean loss over `batch` fields that some of them have: densities [points, B, 1], their v(N) − v(∅)
  /// [B] and labels. A scalar. 0 when the densities are the exact answer.
  virtual torch::Tensor loss(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                             const Labels& labels, std::int64_t batch) const = 0;
  /// The settings that decide the labels and the loss, as a JSON object.
  virtual std::string identity() const = 0;
};

namespace targets {

#define TARGET(name, summary) std::unique_ptr<Target> name(const networks::ExplainerRecipe& recipe);
#include "training/targets.def"
#undef TARGET

std::vector<std::string> names();

/// The target that a recipe names, or the mixture of them, with the recipe's settings. Throws InvalidArgument for
/// another name, naming the nearest one, and for settings that cannot work.
std::unique_ptr<Target> make(const networks::ExplainerRecipe& recipe);

}  // namespace targets

}  // namespace opshap::training
