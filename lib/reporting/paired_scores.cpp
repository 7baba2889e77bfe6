#include "reporting/paired_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace opshap::reporting {

namespace {

/// Every report of the same rows is the same report.
constexpr std::uint64_t interval_seed = 13;

/// The median of a sample that may be reordered: what statistics::quantile() gives, but for rounding.
double median_in_place(std::vector<double>& sample) {
  const auto upper = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), upper, sample.end());
  if (sample.size() % 2 == 1) return *upper;
  return (*std::max_element(sample.begin(), upper) + *upper) / 2;
}

/// A series a cell, of what `add` makes of a row and its score.
template <typename Add>
std::vector<PairedScores::Series> series_of(PairedScores::Cells cells, const PairedScores::Score& score,
                                            const Add& add) {
  std::map<std::int64_t, std::vector<const runs::AttributionRow*>> inputs;
  for (const Cell* cell : cells) {
    for (const runs::AttributionRow* row : cell->rows) {
      if (score(*row)) inputs[row->sample].push_back(row);
    }
  }
  std::vector<PairedScores::Series> series(cells.size());
  for (const auto& [sample, rows] : inputs) {
    if (rows.size() != cells.size()) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [value, moved] = add(*rows[i], *score(*rows[i]));
      series[i].scores.push_back(value);
      series[i].reference_errors.push_back(moved);
    }
  }
  return series;
}

PairedScores::Score by_metric(std::string_view metric) {
  return [metric](const runs::AttributionRow& row) { return row.scores[metric].value; };
}

/// Medians of resamples of one series, by counting: the scores are sorted once. A report makes millions of them.
class ResampledMedian {
 public:
  ResampledMedian(const PairedScores::Series& series, bool may_be_negative)
      : series_(series), may_be_negative_(may_be_negative), certain_(true), place_(series.scores.size()) {
    for (const double error : series.reference_errors) certain_ = certain_ && error == 0;
    std::vector<std::uint32_t> order(series.scores.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return series.scores[a] < series.scores[b]; });
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      place_[order[place]] = place;
      sorted_.push_back(series.scores[order[place]]);
    }
    moved_ = sorted_;
  }

  double operator()(statistics::Draw& draw) {
    times_.assign(sorted_.size(), 0);
    for (const std::uint32_t input : draw.inputs) ++times_[place_[input]];
    if (certain_) return median(sorted_, draw.inputs.size());
    move(draw.noise);
    return sort_drawn() ? median(moved_, draw.inputs.size()) : std::nan("");
  }

 private:
  /// Of scores in their order, each as often as it is drawn.
  double median(const std::vector<double>& scores, std::size_t drawn) const {
    const std::size_t upper = drawn / 2, lower = drawn % 2 == 1 ? upper : upper - 1;
    std::size_t passed = 0, at = 0;
    while ((passed += times_[at]) <= lower) ++at;
    const double low = scores[at];
    if (lower == upper) return low;
    while (passed <= upper) passed += times_[++at];
    return (low + scores[at]) / 2;
  }

  /// By the errors of the references. Each score stays at its place.
  void move(statistics::Noise& noise) {
    for (std::size_t i = 0; i < place_.size(); ++i) {
      double score = series_.scores[i];
      if (series_.reference_errors[i] != 0) {
        score += series_.reference_errors[i] * noise.normal();
        if (!may_be_negative_) score = std::max(score, 0.0);
      }
      moved_[place_[i]] = score;
    }
  }

  /// The drawn scores in order, at the beginning, and how often each is drawn. Errors of references leave them nearly
  /// in order, so they are inserted one after the other. False where an error beyond all numbers moved one to nowhere.
  bool sort_drawn() {
    std::size_t count = 0;
    for (std::size_t from = 0; from < moved_.size(); ++from) {
      const std::uint32_t times = times_[from];
      if (times == 0) continue;
      const double score = moved_[from];
      if (std::isnan(score)) return false;
      std::size_t at = count++;
      for (; at > 0 && moved_[at - 1] > score; --at) {
        moved_[at] = moved_[at - 1];
        times_[at] = times_[at - 1];
      }
      moved_[at] = score;
      times_[at] = times;
    }
    return true;
  }

  const PairedScores::Series& series_;
  bool may_be_negative_, certain_;
  std::vector<std::uint32_t> place_, times_;  ///< of an input among the sorted scores; how often each of these is drawn
  std::vector<double> sorted_, moved_;
};

}  // namespace

PairedScores::PairedScores(std::vector<Series> series) : series_(std::move(series)) {}

PairedScores PairedScores::of(Cells cells, std::string_view metric) {
  return PairedScores(series_of(cells, by_metric(metric), [metric](const runs::AttributionRow& row, double value) {
    return std::pair(value, metric == "nrmse" ? row.reference_error.value.value_or(0) : 0.0);
  }));
}

PairedScores PairedScores::of(Cells cells, const Score& score) {
  return PairedScores(
      series_of(cells, score, [](const runs::AttributionRow&, double value) { return std::pair(value, 0.0); }));
}

PairedScores PairedScores::net(Cells cells) {
  PairedScores scores(series_of(cells, by_metric("nrmse"), [](const runs::AttributionRow& row, double value) {
    const double error = row.reference_error.value.value_or(0);
    return std::pair(value * value - error * error, 2 * value * error);
  }));
  scores.net_ = true;
  return scores;
}

PairedScores PairedScores::ratios(const Cell& first, const Cell& second) {
  const PairedScores errors = of({&first, &second}, "nrmse");
  Series series;
  for (std::size_t i = 0; i < errors.inputs(); ++i) {
    const double a = errors.series_[0].scores[i], b = errors.series_[1].scores[i];
    const double moved = errors.series_[0].reference_errors[i];
    series.scores.push_back(ratio(a, b));
    // An infinite ratio stays where it is, whatever the reference's error is.
    series.reference_errors.push_back(moved == 0 || b == 0 ? 0 : moved * std::hypot(1.0, a / b) / b);
  }
  return PairedScores({std::move(series)});
}

double PairedScores::to_score(double median) const { return net_ ? std::sqrt(std::max(median, 0.0)) : median; }

std::vector<double> PairedScores::medians() const {
  std::vector<double> medians;
  for (const Series& series : series_) {
    std::vector<double> scores = series.scores;
    medians.push_back(to_score(median_in_place(scores)));
  }
  return medians;
}

statistics::Resamples PairedScores::resamples(const Function& function) const {
  std::vector<ResampledMedian> series;
  for (const Series& one : series_) series.emplace_back(one, net_);
  std::vector<double> medians;
  const auto drawn = [&](statistics::Draw& draw) {
    medians.clear();
    for (ResampledMedian& median : series) medians.push_back(to_score(median(draw)));
    return function(medians);
  };
  return statistics::bootstrap(inputs(), drawn, interval_seed);
}

double ratio(double a, double b) {
  if (b == 0) return a == 0 ? 1 : std::numeric_limits<double>::infinity();
  return a / b;
}

double log_slope(std::span<const double> efforts, std::span<const double> errors) {
  const auto count = static_cast<double>(efforts.size());
  const auto log_error = [&](std::size_t i) {
    return std::log(std::max(errors[i], std::numeric_limits<double>::min()));
  };
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < efforts.size(); ++i) {
    x += std::log(efforts[i]) / count;
    y += log_error(i) / count;
  }
  for (std::size_t i = 0; i < efforts.size(); ++i) {
    const double dx = std::log(efforts[i]) - x;
    xx += dx * dx;
    xy += dx * (log_error(i) - y);
  }
  return xy / xx;
}

}  // namespace opshap::reporting
