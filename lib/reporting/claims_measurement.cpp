#include "reporting/claims_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting::claims {

namespace {

bool certain(const Measurement& measurement) {
  const statistics::Interval interval = measurement.interval();
  return interval.low == interval.high;
}

/// A count without decimals.
std::string show_value(double value) {
  if (std::isinf(value)) return "∞";
  return value == std::round(value) && std::abs(value) < 1e9 ? show_count(value) : show(value);
}

std::string show_interval(const Measurement& measurement) {
  const statistics::Interval interval = measurement.interval();
  return certain(measurement) ? "exact" : fmt::format("[{}, {}]", show_value(interval.low), show_value(interval.high));
}

std::string show_bound(const Measurement& measurement) {
  return fmt::format("{} {}", measurement.side == Side::at_most ? "at most" : "at least",
                     show_value(measurement.threshold));
}

/// How far the value is on the supporting side.
double margin(const Measurement& measurement) {
  const double above = measurement.value - measurement.threshold;
  return measurement.side == Side::at_most ? -above : above;
}

std::string verdict_word(Verdict verdict) {
  return verdict == Verdict::reproduced ? "holds" : verdict == Verdict::undecided ? "undecided" : "does not hold";
}

Table evidence_table(const Measurements& measurements, const std::vector<Verdict>& verdicts, const Wording& wording) {
  Table table{.name = "evidence", .caption = wording.quantity + ".", .columns = {{wording.at}}};
  for (const std::string& heading : wording.figures) table.columns.push_back({heading, true});
  for (const char* heading : {"measured", "95 % interval", "needed"}) table.columns.push_back({heading, true});
  table.columns.push_back({"verdict"});
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& measurement = measurements[i];
    std::vector<std::string> row = {
        measurement.at.empty() ? (measurement.quantity.empty() ? "run" : measurement.quantity) : measurement.at};
    for (std::size_t figure = 0; figure < wording.figures.size(); ++figure)
      row.push_back(figure < measurement.figures.size() ? measurement.figures[figure] : "–");
    row.insert(row.end(), {show_value(measurement.value), show_interval(measurement), show_bound(measurement),
                           verdict_word(verdicts[i])});
    table.add(std::move(row));
  }
  return table;
}

/// None where the interval reaches over the value at which the two are equal.
std::optional<Direction> direction_of(const Measurement& measurement, const Wording& wording) {
  if (!wording.equal || !measurement.quantity.empty()) return std::nullopt;
  const statistics::Interval interval = measurement.interval();
  const bool lower = interval.high<*wording.equal, higher = interval.low> * wording.equal;
  if (!lower && !higher) return std::nullopt;
  return lower == (measurement.side == Side::at_most) ? Direction::better : Direction::worse;
}

}  // namespace

statistics::Interval Measurement::interval(double tail) const {
  return interval_at ? interval_at(tail) : statistics::Interval{.low = value, .high = value};
}

bool Measurement::supports() const {
  return side == Side::at_most ? interval().high <= threshold : interval().low >= threshold;
}

bool Measurement::contradicts(double tail) const {
  return side == Side::at_most ? interval(tail).low > threshold : interval(tail).high < threshold;
}

std::vector<Verdict> verdicts(const Measurements& measurements) {
  std::vector<Verdict> found;
  std::size_t open = 0;
  for (const Measurement& measurement : measurements) {
    const bool random = static_cast<bool>(measurement.interval_at);
    found.push_back(measurement.supports()                                       ? Verdict::reproduced
                    : !random && measurement.contradicts(Measurement::one_sided) ? Verdict::not_reproduced
                                                                                 : Verdict::undecided);
    open += random;
  }
  // Each that contradicts leaves a smaller family to the others.
  for (bool fell = true; fell && open > 0;) {
    const double tail = Measurement::one_sided / static_cast<double>(open);
    fell = false;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      if (found[i] != Verdict::undecided || !measurements[i].contradicts(tail)) continue;
      found[i] = Verdict::not_reproduced;
      --open;
      fell = true;
    }
  }
  return found;
}

Measurement exactly(std::string at, double value, double threshold, Side side, std::vector<std::string> figures) {
  return {.at = std::move(at), .value = value, .threshold = threshold, .side = side, .figures = std::move(figures)};
}

Measurement::IntervalAt at_tails(statistics::Resamples resamples) {
  return [resamples = std::make_shared<const statistics::Resamples>(std::move(resamples))](double tail) {
    return resamples->interval(tail);
  };
}

std::optional<Measurement> measure(std::string at, const PairedScores& scores, const PairedScores::Function& function,
                                   double threshold, Side side) {
  if (scores.inputs() < least_inputs) return std::nullopt;
  const std::vector<double> medians = scores.medians();
  Measurement measurement = exactly(std::move(at), function(medians), threshold, side);
  measurement.interval_at = at_tails(scores.resamples(function));
  for (const double median : medians) measurement.figures.push_back(show(median));
  return measurement;
}

std::optional<Measurement> measure_at(const Scoreboard& scores, const Discretisation& on,
                                      const std::vector<std::string_view>& methods, std::string_view metric,
                                      const PairedScores::Function& function, double threshold, Side side) {
  std::vector<const Cell*> cells;
  for (const std::string_view method : methods) {
    cells.push_back(scores.cell(on, method));
    if (cells.back() == nullptr) return std::nullopt;
  }
  return measure(place(on), PairedScores::of(cells, metric), function, threshold, side);
}

std::optional<Measurement> better_input_by_input(std::string at, const Cell& first, const Cell& second) {
  auto better = measure(std::move(at), PairedScores::ratios(first, second), first_of, 1, Side::at_most);
  if (!better) return std::nullopt;
  better->figures.clear();
  for (const double median : PairedScores::of({&first, &second}, "nrmse").medians())
    better->figures.push_back(show(median));
  return better;
}

double ratio_of_two(std::span<const double> medians) { return ratio(medians[0], medians[1]); }

double difference_of_two(std::span<const double> medians) { return medians[0] - medians[1]; }

double first_of(std::span<const double> medians) { return medians[0]; }

std::string place(const Discretisation& on) { return "n = " + on.label(); }

Judgement all_of(const Measurements& measurements, const Wording& wording, const std::string& more) {
  if (measurements.empty()) throw std::logic_error("claims: no measurement of " + wording.quantity);
  const std::vector<Verdict> found = verdicts(measurements);
  Judgement judgement;
  const auto holding = static_cast<std::size_t>(std::ranges::count(found, Verdict::reproduced));
  const auto contradicting = std::ranges::count(found, Verdict::not_reproduced);
  judgement.verdict = contradicting > 0               ? Verdict::not_reproduced
                      : holding < measurements.size() ? Verdict::undecided
                                                      : Verdict::reproduced;
  const Measurement* deciding = nullptr;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& measurement = measurements[i];
    if (found[i] != judgement.verdict) continue;
    if (deciding == nullptr || (certain(*deciding) && !certain(measurement)) ||
        (certain(*deciding) == certain(measurement) && margin(measurement) < margin(*deciding)))
      deciding = &measurement;
  }
  const statistics::Interval interval = deciding->interval();
  judgement.value = deciding->value;
  judgement.interval = {interval.low, interval.high};
  judgement.threshold = deciding->threshold;
  judgement.direction = direction_of(*deciding, wording);
  const std::string where = deciding->at.empty() ? "" : " at " + deciding->at;
  judgement.evidence =
      fmt::format("{} is {}{}{} and has to be {}.", deciding->quantity.empty() ? wording.quantity : deciding->quantity,
                  show_value(deciding->value), certain(*deciding) ? "" : " " + show_interval(*deciding), where,
                  show_bound(*deciding));
  if (measurements.size() > 1) {
    judgement.evidence += fmt::format(" {} of {} hold, {} {}.", holding, measurements.size(), contradicting,
                                      contradicting == 1 ? "does not" : "do not");
  }
  if (!more.empty()) judgement.evidence += " " + more;
  judgement.tables.push_back(evidence_table(measurements, found, wording));
  return judgement;
}

std::vector<const Cell*> refinement(const Scoreboard& scores, std::string_view method) {
  std::vector<const Cell*> cells;
  for (const Discretisation& on : scores.discretisations()) {
    const Cell* cell = scores.cell(on, method);
    if (cell != nullptr && on.every_point_plays() && cell->quartiles("nrmse")) cells.push_back(cell);
  }
  return cells;
}

Judge of_medians(OfMedians form) {
  return [form = std::move(form)](const Scoreboard& scores) {
    Measurements found;
    for (const Discretisation& on : form.only.empty() ? scores.discretisations() : form.only) {
      if (on.players < form.from) continue;
      for (const std::string_view metric : form.metrics) {
        auto here = measure_at(scores, on, form.methods, metric, form.number, form.bound, form.side);
        if (!here && !form.only.empty()) return not_testable(form.otherwise);
        if (!here) continue;
        if (form.metrics.size() > 1) here->at += fmt::format(", {}", metrics::find(metric).symbol);
        found.push_back(std::move(*here));
      }
    }
    return found.empty() ? not_testable(form.otherwise) : all_of(found, form.wording);
  };
}

Judge beside_explainers(BesideExplainers form) {
  return [form = std::move(form)](const Scoreboard& scores) {
    if (form.needs_references && !scores.keeps_references())
      return not_kept("The references of this run are not kept.");
    Measurements found;
    for (const Discretisation& on : scores.discretisations()) {
      const Cell* other = form.budget_a_player > 0 ? scores.cell(on, form.other, form.budget_a_player * on.players)
                                                   : scores.cell(on, form.other);
      if (other == nullptr || on.players < form.from) continue;
      for (const std::string& name : scores.methods_with_access("amortised")) {
        const Cell* trained = scores.cell(on, name);
        if (trained == nullptr || trained == other) continue;
        const bool other_first = form.better == Better::other;
        const auto better = better_input_by_input(fmt::format("{}, {}", place(on), style_of(name).label),
                                                  other_first ? *other : *trained, other_first ? *trained : *other);
        if (better) found.push_back(*better);
      }
    }
    if (found.empty()) return not_testable(form.otherwise);
    return all_of(found,
                  {.quantity = fmt::format("{}'s NRMSE over {}'s, in the median over the inputs,",
                                           form.first.in_sentence, form.second.in_sentence),
                   .figures = {form.first.heading, form.second.heading},
                   .equal = 1},
                  form.more);
  };
}

Judge power_of_net_error(std::string_view method, Side side, double bound) {
  return [=](const Scoreboard& scores) {
    std::vector<const Cell*> cells = refinement(scores, method);
    if (cells.size() < 3) {
      return not_testable(fmt::format("{} was run at {} resolutions, and three are needed.", method, cells.size()));
    }
    const std::size_t fitted = std::min<std::size_t>(cells.size(), 4);
    cells.erase(cells.begin(), cells.end() - static_cast<std::ptrdiff_t>(fitted));
    const NetError last = *cells.back()->net_nrmse();
    if (!last.told) {
      return not_testable(fmt::format("The reference at {} is not known well enough: its error is {}.",
                                      place(cells.back()->on), show(last.floor)));
    }
    std::vector<double> players;
    Wording wording{.quantity = "The power of n in the net NRMSE"};
    for (const Cell* cell : cells) {
      players.push_back(cell->on.players);
      wording.figures.push_back("net, " + place(cell->on));
    }
    const auto slope = measure(
        fmt::format("{} to {}", place(cells.front()->on), cells.back()->on.label()), PairedScores::net(cells),
        [&players](std::span<const double> medians) { return log_slope(players, medians); }, bound, side);
    return slope ? all_of({*slope}, wording) : not_testable(fmt::format("{} has too few inputs.", method));
  };
}

std::string was_not_run(std::string_view method) { return fmt::format("{} was not run.", method); }

Judgement not_run(std::string_view method) { return not_testable(was_not_run(method)); }

std::string unless_burgers(const runs::Run& run) {
  if (run.pde == "burgers1d") return "";
  return fmt::format("The sentence is about Burgers 1D, and the run is on {}.", pde_label(run.pde));
}

std::string unless_periodic_line(const runs::Run& run) {
  if (paper_domain(run.pde) == "periodic 1D") return "";
  return fmt::format("Cells of two grids are compared on a periodic line, and {} does not live on one.",
                     pde_label(run.pde));
}

std::string unless_on_lines(const runs::Run& run) {
  const auto& rows = run.results.attributions;
  const bool found = std::ranges::any_of(
      rows, [&run](const auto& row) { return row.pde == run.pde && row.shape == std::vector{row.players}; });
  return found ? "" : "The sentence is about lines whose points are the players, and the run has none.";
}

}  // namespace opshap::reporting::claims

namespace opshap::reporting {

namespace {

BudgetCurve make_curve(const Scoreboard& scores, const Discretisation& on, std::string_view method) {
  const Cell* explainer = scores.cell(on, claims::explainer);
  BudgetCurve points;
  if (explainer == nullptr) return points;
  for (const Cell& cell : scores.curve(on, method, 1)) {
    const auto ratio = claims::measure("", PairedScores::of({&cell, explainer}, "nrmse"), claims::ratio_of_two, 1,
                                       claims::Side::at_most);
    if (!ratio) return {};
    points.push_back({static_cast<double>(*cell.budget), *ratio});
  }
  return points;
}

}  // namespace

const BudgetCurve& budget_curve(const Scoreboard& scores, const Discretisation& on, std::string_view method) {
  auto& made = scores.budget_curves().made;
  const std::pair key(on, std::string(method));
  const auto found = made.find(key);
  return found != made.end() ? found->second : made.emplace(key, make_curve(scores, on, method)).first->second;
}

BudgetNeeded needed(const BudgetCurve& curve, double tail) {
  BudgetNeeded needed{.smallest_run = curve.front().budget, .largest_run = curve.back().budget};
  for (const auto& [budget, ratio] : curve) {
    if (ratio.contradicts(tail)) {  // certainly too small, and so is every smaller one
      needed.more_than = budget;
      needed.possible = BudgetNeeded::never;
      continue;
    }
    needed.possible = std::min(needed.possible, budget);
    if (ratio.value <= 1) needed.budget = std::min(needed.budget, budget);
    if (ratio.interval(tail).high <= 1) needed.certain = std::min(needed.certain, budget);
  }
  return needed;
}

}  // namespace opshap::reporting
