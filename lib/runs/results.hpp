#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured.hpp"
#include "core/scenario.hpp"
#include "metrics/scores.hpp"

namespace opshap::runs {

/// What one method answered to one question: who was asked, what the answer cost, and how right it is. Rows of
/// evaluations and of comparisons have it in common.
struct Answer {
  /// Registry name of an estimator; or "operator_shap", "uniform" (the constant attribution (v(N)−v(∅))·volume share),
  /// "peer:NAME".
  std::string method;
  std::optional<std::string> explainer;  ///< the name of its weights, where the method is a trained explainer
  std::string access;                    ///< "values", "gradient", "amortised", "none"
  std::optional<std::int64_t> budget;    ///< distinct coalitions allowed; none for methods without a budget
  std::uint64_t seed = 0;                ///< 0 where the method draws nothing
  std::int64_t distinct = 0, evaluations = 0, gradients = 0;
  /// With reverse passes by what they cost (Attribution::forward_equivalents). 0 without passes, and in rows of before.
  std::int64_t forward_equivalents = 0;
  double game_seconds = 0;       ///< wall time inside the game
  double estimator_seconds = 0;  ///< wall time of sampling and solving
  metrics::Scores scores;        ///< or why there are none
};

/// A run folder: everything `opshap report` needs, and everything it writes.
///
///   manifest.json       what ran: command, settings, seed, commit, environment, departures, stage times
///   results.jsonl       one row an attribution or operator error (below); metrics only
///   training.jsonl      one row a training
///   attributions.jsonl  the attributions themselves, so that metrics can be recomputed
///   references.jsonl    the references alone, where the folder is kept without the other attributions (kept.hpp)
///   fields.jsonl        inputs, solutions and predictions that figures show
///   log.jsonl           when each stage began and ended
///
/// From these files alone `opshap report` writes report.html, claims.json, figures/ and tables/. Each file of rows may
/// be packed by gzip instead, and then its name ends with .gz.
///
/// Each line of a .jsonl file is one JSON object with a "schema" key ("opshap.<row>/1"). Rows of runs made before a
/// field existed are read with the default that the field's comment names.

/// One attribution of one input by one method, scored by every metric (schema opshap.attribution/1).
struct AttributionRow : Answer {
  static constexpr std::string_view schema = "opshap.attribution/1";

  std::string pde;          ///< "burgers1d"
  int players = 0;          ///< n
  std::int64_t sample = 0;  ///< index in the data set
  std::string reference;    ///< evaluation::CertifiedReference::method: "exact", "certified", or that of an estimate
  /// Standard error of the reference, ‖se‖₂/‖φ_ref‖₂; 0 for exact; undefined where φ_ref is 0.
  Measured reference_error = Measured::of(0);
  std::int64_t reference_evaluations = 0;          ///< forward equivalents
  std::vector<int> shape = {};                     ///< points per axis; rows of before: {players}
  std::optional<double> own_share = std::nullopt;  ///< evaluation::own_share of the reference; rows of before: nothing
  /// The two estimates that a sampled reference is made of, with the error of each as reference_error has it, and the
  /// p-value of their comparison (evaluation::CrossCheck); rows of before, and exact references: nothing.
  std::vector<std::string> reference_parts = {};
  std::vector<double> reference_part_errors = {};
  std::optional<double> reference_check = std::nullopt;
};

/// `method` of the rows of the references themselves.
inline constexpr std::string_view reference_method = "reference";

/// The attribution behind a row, keyed by (pde, shape, players, sample, method, explainer, budget) (schema
/// opshap.values/1). The reference itself is stored with method reference_method.
struct ValuesRow {
  static constexpr std::string_view schema = "opshap.values/1";

  std::string pde;
  int players = 0;
  std::int64_t sample = 0;
  std::string method;
  std::optional<std::int64_t> budget;
  double empty = 0, grand = 0;
  std::vector<double> values;
  std::vector<double> standard_errors;  ///< [] where the method has none
  std::vector<int> shape = {};          ///< points per axis; rows of before: {players}
  std::optional<std::string> explainer = std::nullopt;
};

/// The row with values and standard errors in float32, as references are kept: each is the shortest decimal number that
/// gives the float32 back. A number beyond the normal numbers of float32 stays as it is.
ValuesRow in_float32(ValuesRow row);

/// How good the backbone is at one resolution (schema opshap.operator/1).
struct OperatorRow {
  static constexpr std::string_view schema = "opshap.operator/1";

  std::string pde;
  int points = 0;  ///< of the whole grid: the product of `shape`
  /// ‖prediction − solution‖₂/‖solution‖₂, one per test input; undefined where the solution is 0.
  std::vector<Measured> relative_errors;

  /// Those that are defined, in order.
  std::vector<double> defined_errors() const;
  std::vector<int> shape = {};              ///< points per axis; {0} for meshes of their own; rows of before: {points}
  std::vector<double> solution_norms = {};  ///< ‖solution‖₂, one per test input; rows of before: none
  /// Of flows, whose input is the same quantity earlier: |prediction − solution| at the explained point, and
  /// |input − solution| there, which is the error of who says that nothing changes. One per test input.
  std::vector<double> query_errors = {}, query_changes = {};
};

/// What the games at one resolution are about (schema opshap.games/1). Rows of before have none.
struct GamesRow {
  static constexpr std::string_view schema = "opshap.games/1";
  /// A baseline is called far from the data above so many standard deviations.
  static constexpr double far_from_the_data = 3;

  std::string pde;
  int players = 0;
  std::vector<int> shape;                  ///< points per axis; empty for a mesh
  std::vector<int> active;                 ///< evaluation::count_active_players of each test input
  std::vector<std::string> channels;       ///< of the input
  std::vector<double> baseline_distances;  ///< evaluation::baseline_distances, one per channel
  std::string baseline = {};  ///< what hides a player, in words: "zero" (ScenarioRule::baseline_in_words()); rows of
                              ///< before: nothing
  std::vector<double> rest = {};  ///< the state at rest of the problem, one per channel; empty where none is known
};

/// What training cost (schema opshap.training/1).
struct TrainingRow {
  static constexpr std::string_view schema = "opshap.training/1";

  std::string pde;
  std::string stage;  ///< "backbone" or "explainer"
  std::int64_t epochs = 0, best_epoch = 0;
  double best_validation = 0;
  std::int64_t operator_evaluations =
      0;  ///< forward passes of the backbone spent on coalition values; 0 for the backbone itself
  double seconds = 0;
  std::optional<std::string> explainer = std::nullopt;  ///< which one, where a run trains several
};

/// How far a trained explainer's answers depend on the grid (schema opshap.drift/1).
struct DriftRow {
  static constexpr std::string_view schema = "opshap.drift/1";

  std::string pde;
  std::string method;
  std::optional<std::string> explainer = std::nullopt;
  std::vector<int> shape;      ///< points per axis
  std::vector<int> finest;     ///< of the grid that it is compared with
  std::vector<double> drifts;  ///< of each test input, evaluation::drift
};

/// One test input on its grid, or on a mesh in the plane, with its solution and the backbone's prediction (schema
/// opshap.fields/1). Values are channel after channel, the last axis fastest.
struct FieldsRow {
  static constexpr std::string_view schema = "opshap.fields/1";

  std::string pde;
  std::int64_t sample = 0;
  /// Of a grid the coordinates along axis 0, then those along axis 1. Of a mesh those of all points along axis 0, then
  /// along axis 1.
  std::vector<double> x;
  std::vector<double> input;                 ///< [input channels, points]
  std::vector<double> solution, prediction;  ///< [output channels, points]
  std::vector<int> shape = {};               ///< points per axis; rows of before: {number of x}
  std::vector<std::string> input_channels = {}, output_channels = {};  ///< names; without: "u", or "channel 0", …
  std::vector<double> query = {};  ///< the query point, a coordinate per axis; rows of before: the point with index n/2
  int query_channel = 0;           ///< the output channel whose value is explained
  std::optional<std::string> target = {};  ///< Readout::describe() of one that is no query; then there is no query
  std::vector<int> player_of = {};         ///< [points]; []: each point is its own player
  std::vector<std::int64_t> cells = {};    ///< [triangles, 3] of a mesh; [] of a grid

  int players() const;
  bool on_mesh() const { return !cells.empty(); }
  std::int64_t points() const;
  /// 1 for a line, 2 for the plane.
  int axes() const { return on_mesh() ? 2 : static_cast<int>(shape.size()); }
  /// What it is on. Throws InvalidArgument for cells that are no mesh, and for a grid.
  Mesh mesh() const;
};

/// FieldsRow::x of a grid or mesh.
std::vector<double> coordinates_of(const Domain& domain);

/// The row of a scenario: its field on its grid or triangles, who plays, and what is explained. The caller names pde,
/// sample and channels.
FieldsRow fields_row(const Scenario& scenario, const FieldBatch& solution, const FieldBatch& prediction);

struct Results {
  std::vector<AttributionRow> attributions;
  std::vector<ValuesRow> values;
  std::vector<OperatorRow> operators;
  std::vector<TrainingRow> training;
  std::vector<FieldsRow> fields;
  std::vector<DriftRow> drifts = {};
  std::vector<GamesRow> games = {};
};

/// The number of points of a grid with this shape; 0 for meshes of their own.
std::int64_t points_of(const std::vector<int>& shape);
/// Whether a shape is that of meshes of their own, Resolution::own().
bool is_own(const std::vector<int>& shape);
/// "32", "8 × 8" or "its own mesh".
std::string shape_in_words(const std::vector<int>& shape);

/// One line of JSON without the newline, of any type of row. Throws NumericalError for a number that is not finite
/// (JSON has none), and DataError for a row that read_results() would refuse.
template <typename Row>
std::string to_json_line(Row row);

/// What kind of row a line is: "opshap.values/1". Empty for a line that is no row.
std::string schema_of(const std::string& line);

/// Reads results.jsonl, training.jsonl, attributions.jsonl, references.jsonl and fields.jsonl of a run folder, packed
/// or not (files that are not there are empty; any row may be in any of them). Rows that repeat a key keep the last
/// one, in the place of the first. Throws DataError naming file and line for a line it cannot read, and as
/// file_of_rows() and read_rows_file().
Results read_results(const std::filesystem::path& run);

/// One attribution of a game by one method at one budget, compared with the truth (schema opshap.method/1). Scores are
/// those of every metric that needs no coalitions.
struct MethodRow : Answer {
  static constexpr std::string_view schema = "opshap.method/1";

  std::string game;  ///< "unanimity_sum", "game.json"
  int players = 0;
  std::string truth;       ///< "closed form", "exact", "certified", "permutation_antithetic"
  double truth_error = 0;  ///< ‖standard errors‖₂/‖values‖₂ of the truth; 0 for the first two
  std::int64_t repeat = 0;
  /// Why the method cannot but be right here, which makes the row a check and not a score: "guarantee" (for games of
  /// this interaction order), "all coalitions" (the budget allows every one), "rounding" (the error is no more than
  /// that). Empty otherwise.
  std::string exact;
  /// How a program ended that has no attribution to give ("timeout", "crash"); its run did not finish.
  std::optional<std::string> failure = std::nullopt;
};

/// The rows of a file, of which a last line cut short is left out; none when there is no such file.
/// Throws DataError naming file and line for a line it cannot read.
std::vector<MethodRow> read_method_rows(const std::filesystem::path& file);

/// `method` of the rows of the references themselves with 0 for the query's own player
/// (evaluation::HeldOut::own_player_missed). They have no times.
inline constexpr std::string_view own_player_missed = "own_player_missed";

/// Errors of one method on held-out inputs at one resolution (schema opshap.held_out/1).
struct HeldOutRow {
  static constexpr std::string_view schema = "opshap.held_out/1";

  std::string pde;
  std::string method;                     ///< registry name, "operator_shap" or own_player_missed
  std::string setting;                    ///< what it was told: "4 nodes", "1024 evaluations"; or the recipe's name
  std::uint64_t seed = 0;                 ///< of an explainer's training
  std::int64_t epoch = 0;                 ///< of an explainer's training; 0 for the weights that it kept
  std::int64_t training_evaluations = 0;  ///< of the operator, until then
  double training_seconds = 0;
  std::vector<int> shape;  ///< points per axis
  int players = 0;
  std::vector<double> nrmse;                   ///< of each input
  std::vector<double> seconds;                 ///< of each explanation
  std::vector<double> reference_errors;        ///< ‖standard errors‖₂/‖values‖₂ of each input's reference
  std::optional<double> drift = std::nullopt;  ///< of an explainer, against the finest resolution
};

/// As read_method_rows().
std::vector<HeldOutRow> read_held_out_rows(const std::filesystem::path& file);

}  // namespace opshap::runs
