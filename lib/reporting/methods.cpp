#include "reporting/methods.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

struct Known {
  std::string_view name;
  MethodStyle style;
};

const std::array<Known, 9>& known() {
  static const std::array<Known, 9> styles = {{
      {"operator_shap", {"OperatorSHAP", "#D55E00", "", 5}},
      {"regression_msr_shapiq_1_6", {"RegressionMSR (shapiq)", "#000000", "6,3,2,3", 13}},
      {"integrated_gradients", {"Integrated gradients", "#E69F00", "8,3,2,3", 12}},
      {"kernel_shap", {"KernelSHAP", "#0072B2", "6,3", 7}},
      {"kernel_shap_paired", {"KernelSHAP (paired)", "#56B4E9", "", 6}},
      {"permutation", {"Permutation", "#009E73", "6,3", 9}},
      {"permutation_antithetic", {"Permutation (antithetic)", "#CC79A7", "", 11}},
      {"mean_field", {"Mean field", "#000000", "", 4}},
      {"uniform", {"Uniform", "#808080", "2,3", 2}},
  }};
  return styles;
}

std::string in_words(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

/// "operator_shap" of "operator_shap:deep".
std::string_view without_explainer(std::string_view method) { return method.substr(0, method.find(':')); }

std::size_t rank(std::string_view method) {
  const auto found = std::find_if(known().begin(), known().end(), [method](const Known& candidate) {
    return candidate.name == without_explainer(method);
  });
  return static_cast<std::size_t>(found - known().begin());
}

std::size_t sum_of_letters(std::string_view name) {
  std::size_t letters = 0;
  for (const char letter : name) letters += static_cast<unsigned char>(letter);
  return letters;
}

MethodStyle style_of_method(std::string_view method) {
  const std::size_t place = rank(method);
  if (place < known().size()) return known()[place].style;
  static constexpr std::array<const char*, 4> colors = {"#0072B2", "#009E73", "#CC79A7", "#E69F00"};
  const std::size_t letters = sum_of_letters(method);
  return {.label = in_words(method),
          .color = colors[letters % colors.size()],
          .dash = letters % 2 == 0 ? "4,2" : "9,3",
          .marker = 4 + static_cast<int>(letters % 10)};
}

}  // namespace

MethodStyle style_of(std::string_view method) {
  MethodStyle style = style_of_method(without_explainer(method));
  if (const std::size_t colon = method.find(':'); colon != std::string_view::npos) {
    const std::string_view explainer = method.substr(colon + 1);
    static constexpr std::array<const char*, 5> dashes = {"", "9,3", "5,2", "9,3,2,3", "3,3"};
    const std::size_t letters = sum_of_letters(explainer);
    style.label += " (" + std::string(explainer) + ")";
    style.dash = dashes[letters % dashes.size()];
    style.marker = 4 + static_cast<int>(letters % 10);
  }
  return style;
}

void sort_for_display(std::vector<std::string>& methods) {
  std::sort(methods.begin(), methods.end(),
            [](const std::string& a, const std::string& b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
}

std::string pde_label(std::string_view pde) {
  if (const std::string_view label = paper_label(pde); !label.empty()) return std::string(label);
  for (const auto& [prefix, origin] :
       {std::pair("pdebench_", " (imported, PDEBench)"), std::pair("npy_", " (imported, .npy)")}) {
    if (pde.starts_with(prefix)) return pde_label(pde.substr(std::string_view(prefix).size())) + origin;
  }
  std::string words = in_words(pde);
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

std::string access_label(std::string_view access) {
  if (access == "values") return "values";
  if (access == "gradient") return "gradients";
  return std::string(access);
}

}  // namespace opshap::reporting
