#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/claims.hpp"
#include "reporting/paired_scores.hpp"

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
  std::string at;  ///< where it was measured: "n = 32"
  double value = 0;
  statistics::Interval interval;
  double threshold = 0;
  Side side = Side::at_most;
  std::vector<std::string> figures;  ///< what it is made of, for the table
  std::string quantity;              ///< what it is, where that is not what the other measurements of a claim are

  /// undecided when the interval reaches over the threshold.
  Verdict verdict() const;
};

using Measurements = std::vector<Measurement>;

/// Of a number that nothing random is in.
Measurement exactly(std::string at, double value, double threshold, Side side, std::vector<std::string> figures = {});

/// A number made of the medians of some series; `figures` gets the medians. None with fewer inputs than least_inputs.
std::optional<Measurement> measure(std::string at, const PairedScores& scores, const PairedScores::Function& function,
                                   double threshold, Side side);

/// measure() of the methods' cells of the tables on one grid; none when one of them was not run there.
std::optional<Measurement> measure_at(const Scoreboard& scores, const Discretisation& on,
                                      const std::vector<std::string_view>& methods, std::string_view metric,
                                      const PairedScores::Function& function, double threshold, Side side);

/// measure_at() on all grids with so many players or more.
Measurements measure_from(int least_players, const Scoreboard& scores, const std::vector<std::string_view>& methods,
                          std::string_view metric, const PairedScores::Function& function, double threshold, Side side);

/// The median over the inputs of the first cell's NRMSE over the second's, at most 1; the two medians are the figures.
std::optional<Measurement> better_input_by_input(std::string at, const Cell& first, const Cell& second);

/// Median of the first series over that of the second.
double ratio_of_two(std::span<const double> medians);
/// The first median.
double first_of(std::span<const double> medians);

/// "n = 32", "n = 16 (of 8 × 8 points)": where something was measured.
std::string place(const Discretisation& on);

/// What the measurements are called in the table and in the sentence.
struct Wording {
  std::string quantity;              ///< "OperatorSHAP's median NRMSE over RegressionMSR's"
  std::vector<std::string> figures;  ///< headings of the figures
  std::string at = "at";             ///< heading of the first column
};

/// A sentence that needs all of the measurements, one at least: not reproduced when one contradicts it, undecided when
/// one is undecided. Of the measurements with that verdict the one with the least support gives the value and the
/// evidence, which ends with `more`; one that nothing random is in only where there is no other.
Judgement all_of(const Measurements& measurements, const Wording& wording, const std::string& more = "");

/// Id, source, words and place of a sentence are in reference_data/paper_sentences.csv; the rest is for the caller.
Claim of_the_paper(std::string_view id, std::string_view rule, Judgement (*judge)(const Scoreboard& scores),
                   std::string (*excluded)(const runs::Run& run) = nullptr);

/// "operator_shap was not run.", as a verdict.
Judgement not_run(std::string_view method);

/// Reasons of Claim::excluded.
std::string unless_burgers(const runs::Run& run);
std::string unless_in_the_papers_table(const runs::Run& run);
std::string unless_periodic_line(const runs::Run& run);
std::string unless_on_lines(const runs::Run& run);

}  // namespace opshap::reporting::claims
