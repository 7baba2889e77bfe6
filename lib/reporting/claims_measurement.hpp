#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/paired_scores.hpp"
#include "reporting/scoreboard.hpp"

namespace opshap::reporting::claims {

/// The methods that the paper's sentences are about.
constexpr std::string_view explainer = "operator_shap";
/// The paper's RegressionMSR is that of shapiq, whose version it does not name; 1.5.0 is the first that has it.
constexpr std::string_view regression_msr = "regression_msr_shapiq_1_6";
constexpr std::string_view integrated_gradients = "integrated_gradients";
constexpr std::string_view kernel_shap = "kernel_shap";

/// Fewer inputs than these give no interval worth the name: a cell of fewer is not judged.
constexpr std::size_t least_inputs = 5;

/// Which side of the threshold supports the sentence. A value on the threshold supports it.
enum class Side { at_most, at_least };

/// A number that supports a sentence or contradicts it.
struct Measurement {
  /// Where the value lies but for so much of the probability on either side.
  using IntervalAt = std::function<statistics::Interval(double tail)>;

  std::string at;  ///< where it was measured: "n = 32"
  double value = 0;
  IntervalAt interval_at = {};  ///< none: nothing random is in the value
  double threshold = 0;
  Side side = Side::at_most;
  std::vector<std::string> figures = {};  ///< what it is made of, for the table
  std::string quantity = {};              ///< what it is, where that is not what the other measurements of a claim are

  /// 95 % for the default. The value alone where nothing random is in it.
  statistics::Interval interval(double tail = one_sided) const;
  /// The whole 95 % interval is on the supporting side.
  bool supports() const;
  /// With so little on the other side, the whole interval contradicts.
  bool contradicts(double tail) const;

  /// How often a true sentence may be called false.
  static constexpr double one_sided = 0.025;
};

using Measurements = std::vector<Measurement>;

/// Of a number that nothing random is in, as long as it gets no interval_at.
Measurement exactly(std::string at, double value, double threshold, Side side, std::vector<std::string> figures = {});

/// The intervals of resamples.
Measurement::IntervalAt at_tails(statistics::Resamples resamples);

/// A number made of the medians of some series; `figures` gets the medians. None with fewer inputs than least_inputs.
std::optional<Measurement> measure(std::string at, const PairedScores& scores, const PairedScores::Function& function,
                                   double threshold, Side side);

/// measure() of the methods' cells of the tables on one grid; none when one of them was not run there.
std::optional<Measurement> measure_at(const Scoreboard& scores, const Discretisation& on,
                                      const std::vector<std::string_view>& methods, std::string_view metric,
                                      const PairedScores::Function& function, double threshold, Side side);

/// The median over the inputs of the first cell's NRMSE over the second's, at most 1; the two medians are the figures.
std::optional<Measurement> better_input_by_input(std::string at, const Cell& first, const Cell& second);

/// Median of the first series over that of the second.
double ratio_of_two(std::span<const double> medians);
/// The first median less the second one.
double difference_of_two(std::span<const double> medians);
/// The first median.
double first_of(std::span<const double> medians);

/// "n = 32", "n = 16 (of 8 × 8 points)": where something was measured.
std::string place(const Discretisation& on);

/// What the measurements are called in the table and in the sentence.
struct Wording {
  std::string quantity;                   ///< "OperatorSHAP's median NRMSE over RegressionMSR's"
  std::vector<std::string> figures = {};  ///< headings of the figures
  std::string at = "at";                  ///< heading of the first column
  /// The value at which the two things that a measurement compares are equal, and the supporting side of which is the
  /// better one. None where a measurement compares nothing of that kind.
  std::optional<double> equal = std::nullopt;
};

/// The verdict on each measurement of a sentence that needs all of them. Contradicting: by Holm (1979) over those that
/// something random is in, so that a true sentence is called false in one of 40 cases however many there are.
std::vector<Verdict> verdicts(const Measurements& measurements);

/// A sentence that needs all of the measurements, one at least: not reproduced when one contradicts it (verdicts()),
/// reproduced when all plain 95 % intervals support it, else undecided. Of the measurements with that verdict the one
/// with the least support gives the value, the direction and the evidence, which ends with `more`; one that nothing
/// random is in only where there is no other.
Judgement all_of(const Measurements& measurements, const Wording& wording, const std::string& more = "");

/// The cells of a method over the grids where each point is a player, by players: a limit in n is one of finer grids.
std::vector<const Cell*> refinement(const Scoreboard& scores, std::string_view method);

using Judge = std::function<Judgement(const Scoreboard& scores)>;

/// The usual form of a claim: on every grid a number made of the methods' medians is on one side of a bound.
struct OfMedians {
  std::vector<std::string_view> methods;
  std::vector<std::string_view> metrics = {"nrmse"};  ///< a measurement for each
  double (*number)(std::span<const double> medians) = first_of;
  double bound = 0;
  Side side = Side::at_most;
  int from = 0;                           ///< grids with so many players or more
  std::vector<Discretisation> only = {};  ///< where given: these grids, and each of them has to be there
  Wording wording;
  std::string otherwise;  ///< where nothing was measured
};
Judge of_medians(OfMedians form);

/// Which of two methods has to be the better one.
enum class Better { other, explainer };

/// Something beside each trained explainer of the run, input by input: the NRMSE of the one that has to be better over
/// that of the second has a median of at most 1 on every grid. An explainer is not compared with itself.
struct BesideExplainers {
  /// How a sentence and the heading of a column call one of the two.
  struct Name {
    std::string in_sentence, heading;
  };

  std::string_view other;
  Better better = Better::other;
  int from = 0;             ///< grids with so many players or more
  int budget_a_player = 0;  ///< the other one's coalitions for each player; 0: the cell of the tables
  Name first, second = {"the explainer", "explainer"};
  bool needs_references = false;  ///< the references have to be among the rows that are kept
  std::string otherwise;          ///< where nothing was measured
  std::string more = {};          ///< the end of the evidence
};
Judge beside_explainers(BesideExplainers form);

/// The power of n in the method's median NRMSE net of the reference's error, over the four largest n, three at least;
/// at the last one the NRMSE has to be above twice the reference's error, below which everything levels off.
Judge power_of_net_error(std::string_view method, Side side, double bound);

/// "operator_shap was not run."
std::string was_not_run(std::string_view method);
/// The same as a verdict.
Judgement not_run(std::string_view method);

/// Reasons of Claim::excluded.
std::string unless_burgers(const runs::Run& run);
std::string unless_periodic_line(const runs::Run& run);
std::string unless_on_lines(const runs::Run& run);

/// The claims, file by file in the order of the report.
std::vector<Claim> of_quality();
std::vector<Claim> of_classical_methods();
std::vector<Claim> of_cost();
std::vector<Claim> of_limits();
std::vector<Claim> of_opshap();

}  // namespace opshap::reporting::claims

namespace opshap::reporting {

/// The budget at which a sampling method's median NRMSE is not above the explainer's, on the inputs of its curve.
/// Infinity where no budget that was run is large enough.
struct BudgetNeeded {
  static constexpr double never = std::numeric_limits<double>::infinity();

  double smallest_run = 0, largest_run = 0;
  double possible = never;  ///< smallest budget where the interval of the ratio allows it, above more_than
  double budget = never;    ///< smallest budget where the medians say so
  double certain = never;   ///< smallest budget where the whole interval says so
  double more_than = 0;  ///< the largest budget that is certainly too small; 0 when the curve does not begin below it
};

/// A sampling method's median NRMSE over the explainer's at one of its budgets.
struct BudgetPoint {
  double budget = 0;
  claims::Measurement ratio;
};
/// At each of them, ascending.
using BudgetCurve = std::vector<BudgetPoint>;

/// Those of a scoreboard that were asked for, by grid and method.
struct BudgetCurves {
  std::map<std::pair<Discretisation, std::string>, BudgetCurve> made;
};

/// Without a point where there are no rows of the explainer or of the method, with a budget and at least five inputs.
const BudgetCurve& budget_curve(const Scoreboard& scores, const Discretisation& on, std::string_view method);

/// By a curve that has a point, with intervals that leave `tail` on each side.
BudgetNeeded needed(const BudgetCurve& curve, double tail = claims::Measurement::one_sided);

}  // namespace opshap::reporting
