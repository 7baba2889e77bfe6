#include "training/target.hpp"

#include "core/names.hpp"

namespace opshap::training::targets {

std::vector<std::string> names() {
#define TARGET(name, summary) #name,
  return {
#include "training/targets.def"
  };
#undef TARGET
}

std::unique_ptr<Target> make(const ExplainerRecipe& recipe) {
#define TARGET(name, summary) \
  if (recipe.target == #name) return name(recipe);
#include "training/targets.def"
#undef TARGET
  throw_unknown_name("target", recipe.target, names());
}

}  // namespace opshap::training::targets
