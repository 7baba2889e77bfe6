#include "reporting/scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "metrics/registry.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/methods.hpp"
#include "reporting/paired_scores.hpp"
#include "reporting/paper.hpp"
#include "reporting/table.hpp"
#include "runs/results.hpp"

namespace opshap::reporting {

bool Discretisation::every_point_plays() const { return runs::points_of(shape) == players; }

std::string Discretisation::label() const {
  if (is_line() || shape.empty()) return std::to_string(players);
  if (on_own_mesh()) return fmt::format("{} (blocks)", players);
  const std::string grid = runs::shape_in_words(shape);
  return every_point_plays() ? fmt::format("{} ({})", players, grid) : fmt::format("{} (of {} points)", players, grid);
}

std::string Discretisation::id() const {
  if (on_own_mesh()) return fmt::format("{}-on-meshes", players);
  return is_line() ? std::to_string(players) : fmt::format("{}-of-{}", players, fmt::join(shape, "x"));
}

namespace {

/// Of the inputs that the method did not refuse: one that refuses has not asked the game for anything.
template <typename Cost>
std::vector<double> costs(const Cell& cell, const Cost& cost) {
  std::vector<double> values;
  for (const runs::AttributionRow* row : cell.rows) {
    if (row->evaluations > 0 || row->gradients > 0) values.push_back(static_cast<double>(std::invoke(cost, *row)));
  }
  return values;
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return statistics::quantile(std::move(values), 0.5);
}

/// Of the constant predictor. The values of coalitions are not kept.
metrics::Scores constant_scores(const std::vector<double>& reference, const Attribution& attribution) {
  metrics::Scores scores = metrics::no_scores("the values of coalitions are not kept", true);
  for (const metrics::Metric& metric : metrics::all())
    if (!metric.needs_coalitions) scores[metric.name] = metric.score({attribution, reference});
  return scores;
}

/// Of the finer values the part that belongs to the cells around every second point: the neighbours' cells are cut in
/// half.
std::vector<double> coarsened(const std::vector<double>& fine) {
  std::vector<double> coarse;
  for (std::size_t i = 0; i + 1 < fine.size(); i += 2)
    coarse.push_back(fine[i] + (fine[(i + fine.size() - 1) % fine.size()] + fine[i + 1]) / 2);
  return coarse;
}

constexpr double most_backbone_error = 0.1, most_of_a_change = 0.5, most_missed_targets = 5;

/// What the run's profile asked of its references.
std::optional<double> reference_target(const runs::Run& run) {
  const std::string key = "reference_error = ";
  for (const auto& [name, value] : run.settings) {
    if (name == "reference_error") return std::strtod(value.c_str(), nullptr);
    const std::size_t at = name == "toml" ? value.find(key) : std::string::npos;
    if (at != std::string::npos) return std::strtod(value.c_str() + at + key.size(), nullptr);
  }
  return std::nullopt;
}

}  // namespace

std::optional<statistics::Quartiles> Cell::quartiles(std::string_view metric) const {
  return quartiles_of(rows, metric);
}

std::string Cell::undefined(std::string_view metric) const {
  const std::size_t missing = rows.size() - defined_scores(rows, metric).size();
  if (missing == 0) return "";
  const auto first = std::ranges::find_if(rows, [metric](const auto* row) { return !row->scores[metric].value; });
  return message(missing, " of ", rows.size(), " undefined: ", (*first)->scores[metric].why);
}

std::optional<statistics::Quartiles> Cell::seconds() const {
  std::vector<double> values =
      costs(*this, [](const runs::AttributionRow& row) { return row.game_seconds + row.estimator_seconds; });
  if (values.empty()) return std::nullopt;
  return opshap::statistics::quartiles(std::move(values));
}

std::optional<double> Cell::evaluations() const { return median_of(costs(*this, &runs::AttributionRow::evaluations)); }
std::optional<double> Cell::distinct() const { return median_of(costs(*this, &runs::AttributionRow::distinct)); }
std::optional<double> Cell::forward_equivalents() const {
  return median_of(costs(*this, [](const runs::AttributionRow& row) {
    const std::int64_t pass = row.method == "integrated_gradients" ? 3 : 6;
    return row.forward_equivalents > 0 ? row.forward_equivalents : row.distinct + pass * row.gradients;
  }));
}
std::optional<double> Cell::gradients() const { return median_of(costs(*this, &runs::AttributionRow::gradients)); }

std::optional<NetError> Cell::net_nrmse() const {
  const PairedScores scores = PairedScores::net({this});
  if (scores.inputs() == 0) return std::nullopt;
  std::vector<double> errors;
  for (const runs::AttributionRow* row : rows) {
    if (row->scores["nrmse"].value) errors.push_back(row->reference_error.value.value_or(0));
  }
  const double floor = statistics::quantile(std::move(errors), 0.5);
  return NetError{.value = scores.medians().front(),
                  .interval = scores.resamples([](std::span<const double> medians) { return medians[0]; }).interval(),
                  .floor = floor,
                  .told = floor == 0 || quartiles("nrmse")->median > 2 * floor};
}

std::set<std::int64_t> Cell::samples() const {
  std::set<std::int64_t> samples;
  for (const runs::AttributionRow* row : rows) samples.insert(row->sample);
  return samples;
}

Cell Cell::restricted_to(const std::set<std::int64_t>& samples) const {
  Cell part = *this;
  std::erase_if(part.rows, [&samples](const runs::AttributionRow* row) { return !samples.contains(row->sample); });
  return part;
}

Scoreboard::Scoreboard(const runs::Run& run) : run_(run) {
  for (const runs::AttributionRow& row : run.results.attributions) {
    if (row.pde != run.pde || row.access != "amortised") continue;
    std::vector<std::string>& names = explainers_[row.method];
    const std::string name = row.explainer.value_or("");
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  add_cells(run.results.attributions);
  std::set<Discretisation> discretisations;
  std::set<std::string> methods;
  for (const Cell& cell : cells_) {
    discretisations.insert(cell.on);
    methods.insert(cell.method);
  }
  discretisations_.assign(discretisations.begin(), discretisations.end());
  methods_.assign(methods.begin(), methods.end());
  budget_curves_ = std::make_shared<BudgetCurves>();
  add_constants();
  sort_for_display(methods_);
}

void Scoreboard::add_cells(const std::vector<runs::AttributionRow>& rows) {
  std::map<std::tuple<Discretisation, std::string, std::optional<std::int64_t>>, Cell> cells;
  for (const runs::AttributionRow& row : rows) {
    if (row.pde != run_.pde) continue;
    const Discretisation on{.players = row.players, .shape = row.shape};
    const std::string column = column_of(row);
    Cell& cell = cells[{on, column, row.budget}];
    if (cell.rows.empty()) cell = {.on = on, .method = column, .access = row.access, .budget = row.budget};
    cell.rows.push_back(&row);
  }
  for (auto& [key, cell] : cells) cells_.push_back(std::move(cell));
}

void Scoreboard::add_constants() {
  auto found = std::make_shared<std::vector<runs::AttributionRow>>();
  for (const Discretisation& on : discretisations_) {
    std::vector<std::pair<const runs::AttributionRow*, const runs::ValuesRow*>> inputs;
    for (const runs::AttributionRow* row : references(on)) {
      if (const runs::ValuesRow* kept = values(on, row->sample, "reference")) inputs.emplace_back(row, kept);
    }
    if (inputs.size() < 2) continue;
    std::vector<double> sum(inputs.front().second->values.size(), 0);
    for (const auto& [row, kept] : inputs) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += kept->values[i];
    }
    for (const auto& [row, kept] : inputs) {
      Attribution others{.values = sum, .empty = kept->empty, .grand = kept->grand};
      for (std::size_t i = 0; i < sum.size(); ++i)
        others.values[i] = (sum[i] - kept->values[i]) / static_cast<double>(inputs.size() - 1);
      runs::AttributionRow constant = *row;  // the same input and reference
      static_cast<runs::Answer&>(constant) = {.method = std::string(constant_method),
                                              .access = "none",
                                              .seed = row->seed,
                                              .scores = constant_scores(kept->values, others)};
      found->push_back(std::move(constant));
    }
  }
  if (found->empty()) return;
  add_cells(*found);
  std::sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) {
    return std::tie(a.on, a.method, a.budget) < std::tie(b.on, b.method, b.budget);
  });
  methods_.emplace_back(constant_method);
  constants_ = std::move(found);
}

std::optional<double> Scoreboard::backbone_error(const Discretisation& on) const {
  for (const runs::OperatorRow& row : run_.results.operators) {
    if (row.pde == run_.pde && row.shape == on.shape) return median_of(row.defined_errors());
  }
  return std::nullopt;
}

std::string Scoreboard::unfit(const Discretisation& on) const {
  const std::optional<double> backbone = backbone_error(on);
  if (backbone && *backbone > most_backbone_error) return message("the backbone's median error is ", show(*backbone));
  for (const runs::OperatorRow& row : run_.results.operators) {
    if (row.pde != run_.pde || row.shape != on.shape || row.query_errors.empty()) continue;
    // Of a flow that is steady there nothing is nearer than no change, so medians may be of such flows alone.
    const double error = root_mean_square(row.query_errors), change = root_mean_square(row.query_changes);
    if (error > most_of_a_change * change)
      return message("at the query the backbone's error is ", show(error), ", and that of who says that nothing ",
                     "changes is ", show(change), ", as roots of mean squares");
  }
  const ReferenceQuality quality = reference(on);
  if (quality.target && quality.error.median > most_missed_targets * *quality.target) {
    return message("the reference's median error is ", show(quality.error.median), ", and ", show(*quality.target),
                   " was asked for");
  }
  return "";
}

Scoreboard Scoreboard::of_fit_grids() const {
  Scoreboard fit = *this;
  const auto is_unfit = [this](const Discretisation& on) { return !unfit(on).empty(); };
  std::erase_if(fit.discretisations_, is_unfit);
  std::erase_if(fit.cells_, [&fit](const Cell& cell) {
    return std::ranges::find(fit.discretisations_, cell.on) == fit.discretisations_.end();
  });
  return fit;
}

bool Scoreboard::keeps_references() const {
  return std::ranges::find(run_.results.values, "reference", &runs::ValuesRow::method) != run_.results.values.end();
}

template <typename Row>
std::string Scoreboard::column_of(const Row& row) const {
  const auto several = explainers_.find(row.method);
  if (!row.explainer || several == explainers_.end() || several->second.size() < 2) return row.method;
  return message(row.method, ":", *row.explainer);
}

std::string Scoreboard::column(std::string_view method) const {
  const auto several = explainers_.find(method);
  if (several == explainers_.end() || several->second.size() < 2) return std::string(method);
  const std::vector<std::string>& names = several->second;
  const bool unnamed = std::ranges::find(names, "") != names.end();
  return unnamed ? std::string(method) : message(method, ":", names.front());
}

std::vector<std::string> Scoreboard::methods_with_access(std::string_view access) const {
  std::vector<std::string> found = methods_;
  std::erase_if(found, [&](const std::string& method) {
    return std::ranges::none_of(cells_, [&](auto& cell) { return cell.method == method && cell.access == access; });
  });
  return found;
}

std::vector<std::string> Scoreboard::sampling_methods() const { return methods_with_access("values"); }

const Cell* Scoreboard::cell(const Discretisation& on, std::string_view method) const {
  const std::string column_name = column(method);
  const double papers = std::max(paper_constant("budget_a_player") * on.players, paper_constant("least_budget"));
  const auto distance = [papers](const Cell& cell) {
    return cell.budget ? std::abs(std::log(static_cast<double>(*cell.budget) / papers)) : 0;
  };
  const Cell* best = nullptr;
  for (const Cell& candidate : cells_) {
    if (candidate.on != on || candidate.method != column_name) continue;
    if (best == nullptr || candidate.rows.size() > best->rows.size() ||
        (candidate.rows.size() == best->rows.size() && distance(candidate) < distance(*best))) {
      best = &candidate;
    }
  }
  return best;
}

const Cell* Scoreboard::cell(const Discretisation& on, std::string_view method, std::int64_t budget) const {
  const std::string column_name = column(method);
  const auto found = std::ranges::find_if(
      cells_, [&](const Cell& cell) { return cell.on == on && cell.method == column_name && cell.budget == budget; });
  return found == cells_.end() ? nullptr : &*found;
}

std::vector<Cell> Scoreboard::curve(const Discretisation& on, std::string_view method, std::size_t least) const {
  std::vector<Cell> curve;
  for (const Cell& cell : cells_) {
    if (cell.on == on && cell.method == method && cell.access == "values" && cell.budget && cell.quartiles("nrmse"))
      curve.push_back(cell);
  }
  if (curve.size() < least) return {};
  std::set<std::int64_t> shared = curve.front().samples();
  for (const Cell& cell : curve) {
    const std::set<std::int64_t> here = cell.samples();
    std::erase_if(shared, [&here](std::int64_t sample) { return !here.contains(sample); });
  }
  if (shared.empty()) return {};
  for (Cell& cell : curve) cell = cell.restricted_to(shared);
  std::erase_if(curve, [](const Cell& cell) { return !cell.quartiles("nrmse"); });
  return curve;
}

std::vector<Discretisation> Scoreboard::discretisations_with_curves() const {
  const std::vector<std::string> sampling = sampling_methods();
  std::vector<Discretisation> found = discretisations_;
  std::erase_if(found, [&](const Discretisation& on) {
    return std::ranges::all_of(sampling, [&](const std::string& method) { return curve(on, method).empty(); });
  });
  return found;
}

ReferenceQuality Scoreboard::reference(const Discretisation& on) const {
  const std::vector<const runs::AttributionRow*> rows = references(on);
  require(!rows.empty(), "reference: grid=", on.label(), " (is not in the run). Ask for one of discretisations().");
  ReferenceQuality quality{.target = reference_target(run_)};
  std::vector<double> errors, evaluations, own_shares;
  for (const runs::AttributionRow* row : rows) {
    if (row->own_share) own_shares.push_back(*row->own_share);
    ++quality.kinds[row->reference];
    evaluations.push_back(static_cast<double>(row->reference_evaluations));
    if (row->reference_error.value) {
      errors.push_back(*row->reference_error.value);
      quality.missed += quality.target && errors.back() > *quality.target;
    } else {
      ++quality.undefined;
    }
  }
  if (!errors.empty()) {
    quality.largest_error = *std::max_element(errors.begin(), errors.end());
    quality.error = statistics::quartiles(std::move(errors));
  }
  quality.evaluations = statistics::quartiles(std::move(evaluations));
  if (own_shares.size() == rows.size()) quality.own_share = statistics::quartiles(std::move(own_shares));
  return quality;
}

std::vector<const runs::AttributionRow*> Scoreboard::references(const Discretisation& on) const {
  std::map<std::int64_t, const runs::AttributionRow*> rows;
  for (const Cell& cell : cells_) {
    if (cell.on != on) continue;
    for (const runs::AttributionRow* row : cell.rows) rows.emplace(row->sample, row);
  }
  std::vector<const runs::AttributionRow*> found;
  for (const auto& [sample, row] : rows) found.push_back(row);
  return found;
}

const runs::ValuesRow* Scoreboard::values(const Discretisation& on, std::int64_t sample,
                                          std::string_view method) const {
  const std::string column_name = column(method);
  for (const runs::ValuesRow& row : run_.results.values) {
    if (row.pde == run_.pde && row.players == on.players && row.shape == on.shape && row.sample == sample &&
        column_of(row) == column_name)
      return &row;
  }
  return nullptr;
}

std::optional<std::vector<std::int64_t>> samples_of(const Scoreboard& scores, const runs::OperatorRow& errors) {
  std::set<std::int64_t> samples;
  for (const Discretisation& on : scores.discretisations()) {
    if (on.shape != errors.shape) continue;
    for (const runs::AttributionRow* reference : scores.references(on)) samples.insert(reference->sample);
  }
  if (samples.size() != errors.relative_errors.size()) return std::nullopt;
  return std::vector<std::int64_t>(samples.begin(), samples.end());
}

std::map<std::int64_t, double> backbone_errors(const Scoreboard& scores, const std::vector<int>& shape) {
  std::map<std::int64_t, double> found;
  for (const runs::OperatorRow& row : scores.run().results.operators) {
    if (row.pde != scores.run().pde || row.shape != shape) continue;
    const auto samples = samples_of(scores, row);
    if (!samples) continue;
    for (std::size_t i = 0; i < samples->size(); ++i)
      if (row.relative_errors[i].value) found.emplace((*samples)[i], *row.relative_errors[i].value);
  }
  return found;
}

std::optional<double> distance_of_references(const Scoreboard& scores, std::int64_t sample, int players, int finer) {
  const runs::ValuesRow* coarse = scores.values(Discretisation::line(players), sample, "reference");
  const runs::ValuesRow* fine = scores.values(Discretisation::line(finer), sample, "reference");
  if (coarse == nullptr || fine == nullptr) return std::nullopt;
  std::vector<double> summed = fine->values;
  while (summed.size() > coarse->values.size()) summed = coarsened(summed);
  if (summed.size() != coarse->values.size()) return std::nullopt;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < summed.size(); ++i) {
    difference = std::hypot(difference, summed[i] - coarse->values[i]);
    size = std::hypot(size, coarse->values[i]);
  }
  if (size == 0) return std::nullopt;
  return difference / size;
}

}  // namespace opshap::reporting
