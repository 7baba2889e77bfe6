#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opshap::reporting {

/// How a method looks in every table and figure: colours of Okabe and Ito (2008), and a dash and a marker that tell
/// methods apart without colour.
struct MethodStyle {
  std::string label;  ///< "KernelSHAP"
  std::string color;  ///< "#0072B2"; "#000000" is the colour of the surrounding text
  std::string dash;   ///< "" solid, else lengths of strokes and gaps: "6,3"
  int marker = 0;     ///< gnuplot's pointtype; 0 none
  bool bar = false;   ///< a filled box instead of a line, as of other things in a legend
  bool line = true;   ///< false: the marker alone
};

/// The names of the methods with a style of their own, in the order of display. No two of them have the same colour and
/// dash, and none the marker of another.
std::vector<std::string> known_methods();

/// Any name has a style. One that is not known, as that of a program ("peer:mine"), gets its name in words, and by its
/// letters a colour that no known method has. "operator_shap:<explainer>" has the method's look, with the explainer's
/// name in words behind the method's.
MethodStyle style_of(std::string_view method);

/// The look of the references that attributions are compared with: a line of its own colour, without a marker.
MethodStyle reference_style();

/// The styles of the methods of one figure. No two look the same: they differ in colour or dash, so that lines without
/// markers can be told apart, and in marker or dash, so that prints without colour can. This holds for up to fifteen
/// explainers of a method and for up to eight methods that are not known. Further ones share colours with these and
/// have other markers.
///
/// The first of several explainers of a method has the method's look. A method that is not known keeps the colour of
/// style_of() unless an alphabetically earlier one has it.
class MethodStyles {
 public:
  explicit MethodStyles(const std::vector<std::string>& methods);
  /// Of a method of the figure; of another one style_of().
  MethodStyle of(std::string_view method) const;

 private:
  std::map<std::string, MethodStyle, std::less<>> styles_;
};

/// Explainers first, then what they are compared with; unknown names last, in alphabetical order.
void sort_for_display(std::vector<std::string>& methods);

/// "exact Shapley values", "certified" or a method's label: what an attribution was compared with.
std::string reference_label(std::string_view reference);

/// Whether a method is the attribution that needs no method: v(N) − v(∅) shared out by volume. It costs nothing, so it
/// has no place among costs.
bool is_baseline(std::string_view access);

/// "allen_cahn1d" becomes "Allen–Cahn 1D"; a PDE that is not in the paper gets its name in words.
/// The names of imported data say so: "Advection 1D (imported, PDEBench)".
std::string pde_label(std::string_view pde);

/// What a method sees of the operator: "values" (of coalitions), "gradients", "amortised" (the input alone, after
/// training), "none".
std::string access_label(std::string_view access);

}  // namespace opshap::reporting
