#include "reporting/methods.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

using Known = std::pair<std::string_view, MethodStyle>;

const std::array<Known, 10>& known() {
  static const std::array<Known, 10> styles = {{
      {"operator_shap", {"OperatorSHAP", "#D55E00", "", 5}},
      {"regression_msr_shapiq_1_6", {"RegressionMSR (shapiq)", "#000000", "6,3,2,3", 13}},
      {"integrated_gradients", {"Integrated gradients", "#E69F00", "8,3,2,3", 12}},
      {"kernel_shap", {"KernelSHAP", "#0072B2", "6,3", 7}},
      {"kernel_shap_paired", {"KernelSHAP (paired)", "#56B4E9", "", 6}},
      {"permutation", {"Permutation", "#009E73", "6,3", 9}},
      {"permutation_antithetic", {"Permutation (antithetic)", "#CC79A7", "", 11}},
      {"mean_field", {"Mean field", "#000000", "12,4", 4}},
      {"constant", {"Constant (mean of the other inputs)", "#808080", "12,3,2,3", 3}},
      {"uniform", {"Uniform", "#808080", "2,3", 2}},
  }};
  return styles;
}

std::string name_in_words(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

/// "operator_shap" of "operator_shap:deep".
std::string_view without_explainer(std::string_view method) { return method.substr(0, method.find(':')); }

std::size_t rank(std::string_view method) {
  return static_cast<std::size_t>(std::ranges::find(known(), without_explainer(method), &Known::first) -
                                  known().begin());
}

/// The looks of several explainers of one method: the first is the method's own. The numbers of colours and of dashes
/// have no common factor, so fifteen explainers have different pairs of them. No known method has one of the markers
/// but the first.
constexpr std::array<const char*, 3> explainer_colors = {"#D55E00", "#9467BD", "#8C6D31"};
constexpr std::array<const char*, 5> explainer_dashes = {"", "9,3", "3,3", "9,3,3,3", "14,4"};
constexpr std::array<int, 4> explainer_markers = {5, 8, 10, 3};

void set_explainer_look(MethodStyle& style, std::size_t number) {
  style.color = explainer_colors[number % explainer_colors.size()];
  style.dash = explainer_dashes[number % explainer_dashes.size()];
  style.marker = explainer_markers[number % explainer_markers.size()];
}

/// Colours of Tol (2021), scheme "muted", which known methods do not have; and a marker with each.
constexpr std::array<const char*, 8> other_colors = {"#332288", "#882255", "#117733", "#AA4499",
                                                     "#999933", "#44AA99", "#CC6677", "#661100"};
constexpr int first_marker = 4;

bool is_known(std::string_view method) { return rank(method) < known().size(); }

/// Gives a method that is not known the colour and marker of this number. Colours repeat, with other markers.
void set_look(MethodStyle& style, std::size_t number) {
  const std::size_t round = number / other_colors.size();
  style.color = other_colors[number % other_colors.size()];
  style.dash = (number + round) % 2 == 0 ? "4,2" : "7,2,2,2";
  style.marker = first_marker + static_cast<int>((number + 3 * round) % 10);
}

std::size_t look_by_name(std::string_view method) {
  std::size_t letters = 0;
  for (const char letter : method) letters += static_cast<unsigned char>(letter);
  return letters % other_colors.size();
}

}  // namespace

std::vector<std::string> known_methods() {
  std::vector<std::string> names;
  for (const auto& [name, style] : known()) names.emplace_back(name);
  return names;
}

MethodStyle style_of(std::string_view method) {
  const std::string_view head = without_explainer(method);
  MethodStyle style = is_known(method) ? known()[rank(method)].second : MethodStyle{.label = name_in_words(head)};
  if (!is_known(method)) set_look(style, look_by_name(method));
  if (head.size() < method.size()) {
    std::string explainer(method.substr(head.size() + 1));
    std::replace(explainer.begin(), explainer.end(), '_', ' ');
    style.label += " (" + explainer + ")";
  }
  return style;
}

MethodStyle reference_style() { return {.label = "reference", .color = "#009E73", .dash = "", .marker = 0}; }

MethodStyles::MethodStyles(const std::vector<std::string>& methods) {
  for (const std::string& method : methods) styles_.emplace(method, style_of(method));
  std::set<std::size_t> taken;
  std::map<std::string_view, std::size_t> explainers;  // how many of a method have their look
  for (auto& [method, style] : styles_) {
    if (is_known(method)) {
      const std::size_t number = explainers[without_explainer(method)]++;
      if (number > 0) set_explainer_look(style, number);
      continue;
    }
    constexpr std::size_t colors = other_colors.size();
    std::size_t number = look_by_name(method);
    for (std::size_t tried = 1; !taken.insert(number).second; ++tried)
      number = tried / colors * colors + (look_by_name(method) + tried) % colors;
    set_look(style, number);
  }
}

MethodStyle MethodStyles::of(std::string_view method) const {
  const auto found = styles_.find(method);
  return found == styles_.end() ? style_of(method) : found->second;
}

void sort_for_display(std::vector<std::string>& methods) {
  std::ranges::sort(methods, {}, [](const std::string& method) { return std::pair(rank(method), method); });
}

std::string pde_label(std::string_view pde) {
  if (const std::string_view label = paper_label(pde); !label.empty()) return std::string(label);
  for (const auto& [prefix, origin] :
       {std::pair("pdebench_", " (imported, PDEBench)"), std::pair("npy_", " (imported, .npy)"),
        std::pair("meshgraphnets_", " (imported, MeshGraphNets)")}) {
    if (pde.starts_with(prefix)) return pde_label(pde.substr(std::string_view(prefix).size())) + origin;
  }
  std::string words = name_in_words(pde);
  if (words.ends_with("1d") || words.ends_with("2d"))
    words = words.substr(0, words.size() - 2) + " " + words[words.size() - 2] + "D";
  return words;
}

std::string reference_label(std::string_view reference) {
  if (reference == "exact") return "exact Shapley values";
  if (reference == "certified") return "certified";
  return style_of(reference).label;
}

bool is_baseline(std::string_view access) { return access == "none"; }

std::string access_label(std::string_view access) { return access == "gradient" ? "gradients" : std::string(access); }

}  // namespace opshap::reporting
