#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/run.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// A grid and who plays on it. Several grids may have the same number of players: 4 × 4 points, and 8 × 8 in 16 blocks.
struct Discretisation {
  int players = 0;
  std::vector<int> shape;  ///< points per axis; empty for a grid of the paper, which states only the players

  /// The grid of one axis where each point is a player.
  static Discretisation line(int players) { return {.players = players, .shape = {players}}; }
  bool is_line() const { return *this == line(players); }
  bool every_point_plays() const;
  /// Whether each input is on a mesh of its own, whose blocks play.
  bool on_own_mesh() const { return runs::is_own(shape); }

  /// "32" of a line, "64 (blocks)" on meshes, else "16 (4 × 4)" or "16 (of 8 × 8 points)".
  std::string label() const;
  /// The same for the id of an element: "32", "16-of-4x4", "16-of-8x8", "64-on-meshes".
  std::string id() const;

  auto operator<=>(const Discretisation&) const = default;
};

struct BudgetCurves;

/// A median NRMSE without what the reference's own error adds to it.
struct NetError {
  double value = 0;  ///< root of the median over the inputs of NRMSE² − (error of the reference)², 0 at least
  statistics::Interval interval;  ///< 95 %, over inputs and the reference's error
  double floor = 0;               ///< median error of the reference: what is smaller than this cannot be told
  bool told = true;  ///< false: the median NRMSE is not above twice the floor, so it says more about the reference
};

/// What the attributions on one grid are compared with.
struct ReferenceQuality {
  std::map<std::string, std::size_t> kinds;  ///< inputs by "exact", "certified", "permutation_antithetic"
  statistics::Quartiles error;  ///< ‖se‖₂/‖φ‖₂ over the inputs where it is defined; 0 where it is exact
  std::size_t undefined = 0;    ///< inputs whose values are all 0, so that no error is relative to them
  double largest_error = 0;
  statistics::Quartiles evaluations;               ///< over the inputs
  std::optional<double> target;                    ///< the error that the run asked for; none when it does not say
  std::size_t missed = 0;                          ///< inputs whose error is above the target
  std::optional<statistics::Quartiles> own_share;  ///< evaluation::own_share; none where a row does not say it
};

/// The scores of rows by a metric where they are defined, in order; rows are pointers to runs::Answer or what is one.
template <typename Row>
std::vector<double> defined_scores(const std::vector<Row>& rows, std::string_view metric) {
  std::vector<double> scores;
  for (const runs::Answer* row : rows) {
    if (const Measured& score = row->scores[metric]; score.value) scores.push_back(*score.value);
  }
  return scores;
}

/// Their quartiles; none where the metric is defined on no row.
template <typename Row>
std::optional<statistics::Quartiles> quartiles_of(const std::vector<Row>& rows, std::string_view metric) {
  std::vector<double> scores = defined_scores(rows, metric);
  if (scores.empty()) return std::nullopt;
  return statistics::quartiles(std::move(scores));
}

/// All inputs attributed by one method on one grid with one budget.
struct Cell {
  Discretisation on;
  std::string method;  ///< as in Scoreboard::methods()
  std::string access;
  std::optional<std::int64_t> budget;
  std::vector<const runs::AttributionRow*> rows;

  /// Over the inputs where the metric is defined; none when it is defined on no input.
  std::optional<statistics::Quartiles> quartiles(std::string_view metric) const;
  /// "" when the metric is defined on all inputs, else "2 of 8 undefined: constant reference".
  std::string undefined(std::string_view metric) const;
  /// Wall time of one attribution, game and method together, over the inputs that the method did not refuse; none when
  /// it refused all.
  std::optional<statistics::Quartiles> seconds() const;
  /// NRMSE net of the reference's error; none when the NRMSE is defined on no input.
  std::optional<NetError> net_nrmse() const;
  /// Median number, over the same inputs, of coalitions asked for, of distinct ones, of reverse passes.
  std::optional<double> evaluations() const;
  std::optional<double> distinct() const;
  /// Distinct coalitions and reverse passes by what they cost. In rows that do not say it, a pass of integrated
  /// gradients counts 3, and another one 6.
  std::optional<double> forward_equivalents() const;
  std::optional<double> gradients() const;
  std::set<std::int64_t> samples() const;
  /// The rows of these inputs only.
  Cell restricted_to(const std::set<std::int64_t>& samples) const;
};

/// The attribution that does not look at the input: the mean of the references of the other inputs of its grid, which
/// have the same query. It is what an NRMSE has to be compared with to mean anything. It is made here, where the
/// references are kept, and no row of a run has it.
inline constexpr std::string_view constant_method = "constant";

/// The attributions of a run's PDE, by grid, method and budget, and those of constant_method. Keeps a reference to the
/// run.
class Scoreboard {
 public:
  explicit Scoreboard(const runs::Run& run);

  /// The backbone's median relative error over the test inputs of a grid; none where the run does not know it.
  std::optional<double> backbone_error(const Discretisation& on) const;
  /// A grid takes part in verdicts only where the operator that is explained is the problem's, and where the reference
  /// is one: a median backbone error of at most 0.1, of flows at the explained point at most half of the error of who
  /// says that nothing changes, and a median reference error of at most five times the run's target. Why this grid does
  /// not; empty where it does. An error that the run does not know is no reason.
  std::string unfit(const Discretisation& on) const;
  /// The same with the grids that take part in verdicts alone.
  Scoreboard of_fit_grids() const;
  /// Some values of references are there. The rows of runs that are kept in a repository may be without.
  bool keeps_references() const;

  const runs::Run& run() const { return run_; }
  /// By grid, method and budget.
  const std::vector<Cell>& cells() const { return cells_; }
  /// By players, then by shape.
  const std::vector<Discretisation>& discretisations() const { return discretisations_; }
  /// In the order of display. A run with several trained explainers has them as "<method>:<explainer>"; a method's bare
  /// name then means its first explainer in the rows.
  const std::vector<std::string>& methods() const { return methods_; }
  /// Those of one access class ("amortised": the trained explainers), in the order of display.
  std::vector<std::string> methods_with_access(std::string_view access) const;
  /// Registry names of methods that see only values of coalitions.
  std::vector<std::string> sampling_methods() const;

  /// The cell of the tables: the budget with the most inputs, among these the one nearest to the paper's max(2n, 1024).
  /// nullptr when not run.
  const Cell* cell(const Discretisation& on, std::string_view method) const;
  /// nullptr when not run.
  const Cell* cell(const Discretisation& on, std::string_view method, std::int64_t budget) const;
  /// Where budget_curve() keeps what it has made of these cells: several claims ask for the same curves, which take
  /// seconds.
  BudgetCurves& budget_curves() const { return *budget_curves_; }
  /// All budgets of a sampling method, ascending, on the inputs that all of them share; empty with fewer than `least`
  /// budgets.
  std::vector<Cell> curve(const Discretisation& on, std::string_view method, std::size_t least = 3) const;
  /// Those of discretisations() on which some sampling method has a curve.
  std::vector<Discretisation> discretisations_with_curves() const;

  /// The first row of each input on a grid, whatever its method: what rows say of the input's reference is the same in
  /// all.
  std::vector<const runs::AttributionRow*> references(const Discretisation& on) const;
  /// The reference on a grid of the run.
  ReferenceQuality reference(const Discretisation& on) const;
  /// Stored values of a method ("reference" for the reference); nullptr when there are none.
  const runs::ValuesRow* values(const Discretisation& on, std::int64_t sample, std::string_view method) const;

 private:
  /// A cell for each grid, method and budget of the rows, behind the cells that there are.
  void add_cells(const std::vector<runs::AttributionRow>& rows);
  void add_constants();
  /// The first column with this name or, for a method with several explainers, with its first one.
  std::string column(std::string_view method) const;
  template <typename Row>
  std::string column_of(const Row& row) const;

  const runs::Run& run_;
  std::vector<Cell> cells_;
  std::vector<Discretisation> discretisations_;
  std::map<std::string, std::vector<std::string>, std::less<>> explainers_;  ///< of a method, in the order of the rows
  std::vector<std::string> methods_;
  std::shared_ptr<BudgetCurves> budget_curves_;
  std::shared_ptr<const std::vector<runs::AttributionRow>>
      constants_;  ///< where the cells' rows of constant_method are
};

/// The sample numbers of the test inputs of a row of backbone errors, in the order of these errors. A row does not say
/// them: an evaluation goes through its test inputs by ascending number, and the attributions on the same grid name
/// them. None when the attributions are not of as many inputs as the row.
std::optional<std::vector<std::int64_t>> samples_of(const Scoreboard& scores, const runs::OperatorRow& errors);

/// The backbone's relative error of each test input on a grid, by sample number, where it is defined. Empty when the
/// run does not say which input an error belongs to.
std::map<std::int64_t, double> backbone_errors(const Scoreboard& scores, const std::vector<int>& shape);

/// ‖summed − coarse‖₂ / ‖coarse‖₂, where coarse is the stored reference of an input on a line of `players` points, and
/// summed is the one on a line of `finer` points, a power of two times as many, added up over the coarse cells. Both
/// grids have a point at 0 of a periodic line and cells centred at their points, so a fine cell on the border of two
/// coarse ones is shared by both. None when one of the two is not stored or the coarse one is zero.
std::optional<double> distance_of_references(const Scoreboard& scores, std::int64_t sample, int players, int finer);

}  // namespace opshap::reporting
