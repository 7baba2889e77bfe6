#include "estimators/boosted_trees.hpp"

#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "estimators/members.hpp"

namespace opshap::estimators {

namespace {

std::vector<int> each_once(std::vector<int> members, int players) {
  std::ranges::sort(members);
  members.erase(std::ranges::unique(members).begin(), members.end());
  if (!members.empty()) {
    const int wrong = members.front() < 0 ? members.front() : members.back();
    require(wrong >= 0 && wrong < players, "tree leaf: player=", wrong, " (needs 0..", players - 1,
            "). Give the leaf to a game with its players.");
  }
  return members;
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int player) { return std::ranges::binary_search(b, player); });
}

/// (k−1)! o!/(k+o)!: that one of k players comes after the other k−1 and before the o others. No binomial is formed, so
/// it never overflows.
double pivotal(std::size_t k, std::size_t o) {
  double probability = 1 / static_cast<double>(k);
  for (std::size_t j = 1; j <= k; ++j) probability *= static_cast<double>(j) / static_cast<double>(o + j);
  return probability;
}

}  // namespace

std::vector<double> shapley_values_of_leaves(int players, std::span<const TreeLeaf> leaves) {
  std::vector<double> values(static_cast<std::size_t>(players), 0.0);
  for (const TreeLeaf& leaf : leaves) {
    const std::vector<int> required = each_once(leaf.required, players), forbidden = each_once(leaf.forbidden, players);
    if (overlap(required, forbidden)) continue;
    // Of no players a share is infinite, and nobody gets it.
    const double gain = leaf.value * pivotal(required.size(), forbidden.size()),
                 loss = leaf.value * pivotal(forbidden.size(), required.size());
    for (const int player : required) values[static_cast<std::size_t>(player)] += gain;
    for (const int player : forbidden) values[static_cast<std::size_t>(player)] -= loss;
  }
  return values;
}

using Json = nlohmann::json;

namespace {

/// A function of libxgboost, of the type that it is declared with.
struct Symbol {
  void* address;
  template <typename Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

Symbol symbol(const char* name) {
  static void* const library = [] {
    void* found = nullptr;
    for (const char* file : {"libxgboost.so.0", "libxgboost.so"}) {
      if (found == nullptr) found = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    require<EnvironmentError>(found != nullptr, "xgboost: library=libxgboost.so (", ::dlerror(),
                              "; trees are fitted by it). Run: apt-get install libxgboost-dev");
    return found;
  }();
  void* address = ::dlsym(library, name);
  require<EnvironmentError>(address != nullptr, "xgboost: ", name,
                            " (the library has no such function). Install XGBoost 1.6 or later.");
  return {address};
}

/// What is used of libxgboost. It brings an OpenMP runtime, which LibTorch may have another one of, so it is loaded by
/// the first fit and not with the program, for nobody else.
struct Xgboost {
  decltype(&::XGBGetLastError) XGBGetLastError = symbol("XGBGetLastError");
  decltype(&::XGDMatrixCreateFromMat_omp) XGDMatrixCreateFromMat_omp = symbol("XGDMatrixCreateFromMat_omp");
  decltype(&::XGDMatrixSetFloatInfo) XGDMatrixSetFloatInfo = symbol("XGDMatrixSetFloatInfo");
  decltype(&::XGDMatrixFree) XGDMatrixFree = symbol("XGDMatrixFree");
  decltype(&::XGBoosterCreate) XGBoosterCreate = symbol("XGBoosterCreate");
  decltype(&::XGBoosterSetParam) XGBoosterSetParam = symbol("XGBoosterSetParam");
  decltype(&::XGBoosterUpdateOneIter) XGBoosterUpdateOneIter = symbol("XGBoosterUpdateOneIter");
  decltype(&::XGBoosterSaveModelToBuffer) XGBoosterSaveModelToBuffer = symbol("XGBoosterSaveModelToBuffer");
  decltype(&::XGBoosterFree) XGBoosterFree = symbol("XGBoosterFree");
};

const Xgboost& xgboost() {
  static const Xgboost loaded;
  return loaded;
}

void check(int status) {
  if (status == 0) return;
  // The first line of what XGBoost says, without its time stamp and source line; a stack trace follows it.
  std::string words = xgboost().XGBGetLastError();
  words.erase(std::min(words.find('\n'), words.size()));
  if (const auto place = words.find("Check failed: "); place != std::string::npos) words.erase(0, place);
  if (words.find("bad_alloc") != std::string::npos)
    throw EnvironmentError(message("xgboost: error=\"", words, "\" (not enough memory). Lower the budget."));
  throw NumericalError(
      message("xgboost: error=\"", words, "\" (the library gave up). Check that the game's values fit float32."));
}

using Owner = std::unique_ptr<void, int (*)(void*)>;

/// 1 for a member, 0 for the others. What is missing is NaN, that is nothing: with 0 for "missing" the library would
/// drop all zeros.
Owner make_matrix(const Coalitions& coalitions, std::span<const double> targets) {
  const auto n = static_cast<std::size_t>(coalitions.players());
  std::vector<float> members(coalitions.size() * n);
  for (std::size_t row = 0; row < coalitions.size(); ++row)
    for_each_member(coalitions.row(row), [&](std::size_t player) { members[row * n + player] = 1; });
  DMatrixHandle handle = nullptr;
  check(xgboost().XGDMatrixCreateFromMat_omp(members.data(), coalitions.size(), n,
                                             std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  Owner matrix(handle, xgboost().XGDMatrixFree);
  const std::vector<float> labels(targets.begin(), targets.end());
  check(xgboost().XGDMatrixSetFloatInfo(handle, "label", labels.data(), labels.size()));
  return matrix;
}

std::string in_full(double value) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << value;
  return text.str();
}

}  // namespace

std::string fit_xgboost(const Coalitions& coalitions, std::span<const double> targets, const Boosting& boosting) {
  require(coalitions.size() > 0 && coalitions.size() == targets.size(), "xgboost: targets=", targets.size(),
          " (there are ", coalitions.size(), " coalitions). Give one target per coalition, and at least one.");
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
  const Owner matrix = make_matrix(coalitions, targets);
  const DMatrixHandle training = matrix.get();
  BoosterHandle handle = nullptr;
  check(xgboost().XGBoosterCreate(&training, 1, &handle));
  const Owner booster(handle, xgboost().XGBoosterFree);
  const std::pair<const char*, std::string> parameters[] = {{"verbosity", "0"},
                                                            {"nthread", "1"},
                                                            {"tree_method", "hist"},
                                                            {"objective", "reg:squarederror"},
                                                            {"base_score", in_full(mean)},
                                                            {"max_bin", std::to_string(boosting.bins)},
                                                            {"max_depth", std::to_string(boosting.depth)},
                                                            {"eta", in_full(boosting.learning_rate)},
                                                            {"lambda", in_full(boosting.lambda)}};
  for (const auto& [name, value] : parameters) check(xgboost().XGBoosterSetParam(handle, name, value.c_str()));
  for (int round = 0; round < boosting.rounds; ++round)
    check(xgboost().XGBoosterUpdateOneIter(handle, round, training));
  bst_ulong length = 0;
  const char* model = nullptr;
  check(xgboost().XGBoosterSaveModelToBuffer(handle, R"({"format":"ubj"})", &length, &model));
  return {model, length};
}

BoostedTrees BoostedTrees::parse(int players, std::string_view model, std::string_view who, double factor) {
  BoostedTrees result(players);
  try {
    // The first key of an object stands in quotes in JSON, and after its length, of type L, in XGBoost's UBJSON.
    const Json learner = (model.starts_with("{L") ? Json::from_ubjson(model) : Json::parse(model)).at("learner");
    // From XGBoost 3.1 on a vector of one number: "[5E-1]".
    auto base_score = learner.at("learner_model_param").at("base_score").get<std::string>();
    std::erase_if(base_score, [](char letter) { return letter == '[' || letter == ']'; });
    result.base_ = factor * static_cast<double>(std::stof(base_score));
    for (const Json& json : learner.at("gradient_booster").at("model").at("trees")) {
      const auto lefts = json.at("left_children").get<std::vector<int>>(),
                 rights = json.at("right_children").get<std::vector<int>>(),
                 features = json.at("split_indices").get<std::vector<int>>();
      const Json& conditions = json.at("split_conditions");
      Tree tree(lefts.size());
      std::vector<int> open{0};
      std::size_t visited = 0;
      while (!open.empty()) {
        const auto at = static_cast<std::size_t>(open.back());
        open.pop_back();
        require<DataError>(++visited <= tree.size(), who, ": node=", at,
                           " (has two parents, so this is no tree). Save the model anew.");
        // Numbers in XGBoost's models are float32, in JSON in decimal.
        const auto condition = static_cast<double>(conditions.at(at).get<float>());
        Node& node = tree.at(at);
        if (lefts[at] == -1) {
          node.value = factor * condition;
          continue;
        }
        // A value below the condition goes left. For a condition outside (0, 1] everyone goes the same way.
        node = {.player = features.at(at),
                .absent = 0 < condition ? lefts[at] : rights.at(at),
                .present = 1 < condition ? lefts[at] : rights.at(at)};
        require<DataError>(node.player >= 0 && node.player < players, who, ": feature=", node.player, " (needs 0..",
                           players - 1, "). Give the model of a game with these players.");
        open.push_back(node.absent);
        if (node.present != node.absent) open.push_back(node.present);
      }
      result.trees_.push_back(std::move(tree));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw DataError(message(who, ": model=", error.what(),
                            " (no tree model in XGBoost's JSON or UBJSON). Save it with XGBoosterSaveModel."));
  }
  return result;
}

BoostedTrees BoostedTrees::fit(const Coalitions& coalitions, std::span<const double> targets,
                               const Boosting& boosting) {
  const int exponent = largest_exponent(targets).value_or(0);
  const std::vector<double> scaled = Scale(exponent).inside({targets.begin(), targets.end()});
  return parse(coalitions.players(), fit_xgboost(coalitions, scaled, boosting), "xgboost", std::ldexp(1.0, exponent));
}

std::vector<double> BoostedTrees::evaluate(const Coalitions& coalitions) const {
  std::vector<double> values(coalitions.size(), base_);
  for (const Tree& tree : trees_) {
    for (std::size_t row = 0; row < values.size(); ++row) {
      const auto members = coalitions.row(row);
      const Node* node = tree.data();
      while (node->player >= 0)
        node = &tree[static_cast<std::size_t>(contains(members, node->player) ? node->present : node->absent)];
      values[row] += node->value;
    }
  }
  return values;
}

std::vector<TreeLeaf> BoostedTrees::leaves() const {
  std::vector<TreeLeaf> leaves;
  TreeLeaf path;
  const auto descend = [&](const auto& self, const Tree& tree, int at) -> void {
    const Node& node = tree[static_cast<std::size_t>(at)];
    if (node.player < 0) {
      leaves.push_back(path);
      leaves.back().value = node.value;
      return;
    }
    if (node.present == node.absent) return self(self, tree, node.present);
    path.required.push_back(node.player);
    self(self, tree, node.present);
    path.required.pop_back();
    path.forbidden.push_back(node.player);
    self(self, tree, node.absent);
    path.forbidden.pop_back();
  };
  for (const Tree& tree : trees_) descend(descend, tree, 0);
  return leaves;
}

}  // namespace opshap::estimators
