#include "cli/asked_game.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

namespace opshap::cli {

void AskedGame::ask_again(std::string_view who) {
  if (!foreign_) return;
  noise_ = repeated_.noise();
  if (noise_)
    std::cerr << who << ": noise=" << noise_->relative << " (the game gave " << in_words(*noise_)
              << ", so nothing here is exact). Fix its random numbers, or average many of its values.\n";
}

void AskedGame::describe(nlohmann::ordered_json& object) const {
  if (!foreign_) return;
  object["repeated"] = repeated_.repeated();
  object["noise"] = nullptr;
  if (noise_)
    object["noise"] = {{"coalition", noise_->coalition},
                       {"first", noise_->first},
                       {"second", noise_->second},
                       {"relative", noise_->relative}};
}

}  // namespace opshap::cli
