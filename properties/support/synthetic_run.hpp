#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "core/rng.hpp"
#include "metrics/registry.hpp"
#include "runs/results.hpp"
#include "runs/run.hpp"
#include "support/tolerance.hpp"

namespace opshap {

/// A run that never ran: rows of the magnitudes that Burgers 1D has, and a manifest, so that everything behind the rows
/// can be tested without a network.
struct SyntheticRun {
  std::vector<int> resolutions = {16, 32, 64};
  std::vector<int> curves = {16, 64};
  std::vector<std::int64_t> budgets = {128, 256, 512, 1024, 2048};
  int inputs = 8, curve_inputs = 4;
  bool as_the_paper = false;
  std::uint64_t seed = 5;

  /// The sizes of profile `paper`.
  static SyntheticRun full() {
    return {.resolutions = {16, 32, 64, 128, 256, 512, 1024},
            .curves = {16, 512, 1024},
            .budgets = {128, 256, 512, 1024, 2048, 4096, 8192, 16384},
            .inputs = 10,
            .curve_inputs = 6,
            .as_the_paper = true};
  }

  runs::Results results() const;
  nlohmann::ordered_json manifest() const;
  /// As read_run() would give it, without a folder.
  runs::Run run() const;
};

inline void set_pde(runs::Results& results, const std::string& pde) {
  const auto set = [&pde](auto&... lists) {
    const auto set_all = [&pde](auto& rows) {
      for (auto& row : rows) row.pde = pde;
    };
    (set_all(lists), ...);
  };
  set(results.attributions, results.values, results.operators, results.training, results.fields);
}

/// No score of a row is defined, for this reason.
inline void set_undefined(runs::AttributionRow& row, const std::string& why) {
  for (const char* metric : {"pearson", "nrmse", "r2", "efficiency_gap"}) row.scores[metric] = Measured::undefined(why);
}

/// The files of a run folder.
inline void write_run(const std::filesystem::path& folder, const runs::Results& results,
                      const nlohmann::ordered_json& manifest) {
  const auto lines = [](const auto& rows) {
    std::string text;
    for (const auto& row : rows) text += runs::to_json_line(row) + '\n';
    return text;
  };
  write_file(folder / "manifest.json", manifest.dump(2) + '\n');
  write_file(folder / "results.jsonl", lines(results.attributions) + lines(results.operators) + lines(results.games));
  write_file(folder / "training.jsonl", lines(results.training));
  write_file(folder / "attributions.jsonl", lines(results.values));
  write_file(folder / "fields.jsonl", lines(results.fields));
}

namespace synthetic {

/// Shapley values of a made-up game on n cells: a density plus an atom in the middle, and an O(1/n) term that goes away
/// under refinement.
inline std::vector<double> shapley_values(int players, std::int64_t sample) {
  const double phase = 0.7 * static_cast<double>(sample);
  std::vector<double> values;
  for (int i = 0; i < players; ++i) {
    const double x = i / static_cast<double>(players), angle = 2 * 3.14159265358979 * x;
    values.push_back(
        (std::sin(angle + phase) + 0.6 * std::cos(2 * angle - phase) + 0.8 + std::cos(3 * angle) / players * 4) /
        players);
  }
  values[static_cast<std::size_t>(players / 2)] += 0.25;
  return values;
}

/// The values with noise of relative size `nrmse`, shifted so that the sum stays.
inline std::vector<double> perturbed(const std::vector<double>& values, double nrmse, Rng& rng) {
  std::vector<double> noise;
  double mean = 0, noise_size = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    noise.push_back(rng.normal());
    mean += noise.back() / static_cast<double>(values.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    noise[i] -= mean;
    noise_size = std::hypot(noise_size, noise[i]);
    size = std::hypot(size, values[i]);
  }
  std::vector<double> perturbed = values;
  for (std::size_t i = 0; i < values.size(); ++i) perturbed[i] += nrmse * size / noise_size * noise[i];
  return perturbed;
}

/// Median NRMSE of a method at a budget, as the paper's table and Monte Carlo rates have it.
inline double typical_nrmse(const std::string& method, int players, double budget) {
  if (method == "operator_shap") return 0.12 * std::exp2(std::log2(players / 16.0) / 3);
  if (method == "integrated_gradients") return 0.81;
  const double pairs = budget / (2.0 * players);
  const double of_one_pair = method == "permutation"              ? 0.5
                             : method == "permutation_antithetic" ? 0.17
                             : method == "kernel_shap"            ? 0.9
                                                                  : 0.3;
  return of_one_pair / std::sqrt(pairs);
}

}  // namespace synthetic

inline runs::Results SyntheticRun::results() const {
  runs::Results results;
  Rng rng(seed, "synthetic run");
  const auto keep = [&](const std::string& method, int players, std::int64_t sample, const std::vector<double>& values,
                        double grand, const std::vector<double>& errors) {
    results.values.push_back({.pde = "burgers1d",
                              .players = players,
                              .sample = sample,
                              .method = method,
                              .grand = grand,
                              .values = values,
                              .standard_errors = errors,
                              .shape = {players}});
  };
  const auto add = [&](int players, std::int64_t sample, const std::string& method, const std::string& access,
                       std::optional<std::int64_t> budget, const std::vector<double>& reference,
                       const std::vector<double>& values, double r2, double seconds) {
    runs::AttributionRow row{{.method = method, .access = access, .budget = budget}};
    row.pde = "burgers1d";
    row.players = players;
    row.shape = {players};
    row.sample = sample;
    row.distinct = row.evaluations = budget.value_or(2);
    row.gradients = access == "gradient" ? 50 : 0;
    row.seed = seed;
    row.game_seconds = 0.9 * seconds;
    row.estimator_seconds = 0.1 * seconds;
    row.scores["pearson"] = metrics::pearson(reference, values);
    row.scores["nrmse"] = metrics::nrmse(reference, values);
    row.scores["r2"] = Measured::of(r2);
    Attribution attribution;
    attribution.values = values;
    attribution.grand = sum(reference);
    row.scores["efficiency_gap"] = metrics::efficiency_gap(attribution);
    row.reference = players <= 16 ? "exact" : "permutation_antithetic";
    row.reference_error = Measured::of(players <= 16 ? 0 : 0.01 * std::sqrt(players / 32.0));
    row.reference_evaluations = players <= 16 ? 65536 : 16384;
    results.attributions.push_back(row);
    if (!budget) keep(method, players, sample, values, attribution.grand, {});
  };
  for (const int players : resolutions) {
    runs::OperatorRow backbone{.pde = "burgers1d", .points = players, .shape = {players}};
    for (std::int64_t sample = 0; sample < inputs; ++sample) {
      const std::vector<double> reference = synthetic::shapley_values(players, sample);
      keep("reference", players, sample, reference, sum(reference),
           std::vector<double>(reference.size(), players <= 16 ? 0 : 0.02 / players));
      const double factor = std::exp(0.3 * rng.normal());
      const auto noisy = [&](const std::string& method, double budget) {
        return synthetic::perturbed(reference, factor * synthetic::typical_nrmse(method, players, budget), rng);
      };
      const double forward = 2e-5 * players;
      add(players, sample, "operator_shap", "amortised", std::nullopt, reference, noisy("operator_shap", 0),
          0.87 - 0.05 * factor, 4 * forward);
      add(players, sample, "integrated_gradients", "gradient", std::nullopt, reference,
          noisy("integrated_gradients", 0), -0.08 * factor, 150 * forward);
      add(players, sample, "uniform", "none", std::nullopt, reference,
          std::vector<double>(reference.size(), sum(reference) / players), 0.4, 2 * forward);
      for (const std::string method : {"kernel_shap", "kernel_shap_paired", "permutation", "permutation_antithetic"}) {
        const std::int64_t table = std::max<std::int64_t>(2 * players, 1024);
        add(players, sample, method, "values", table, reference, noisy(method, static_cast<double>(table)), 0.8,
            static_cast<double>(table) * forward);
        if (std::ranges::find(curves, players) == curves.end() || sample >= curve_inputs) continue;
        for (const std::int64_t budget : budgets) {
          if (budget == table || budget < players + 2) continue;
          add(players, sample, method, "values", budget, reference, noisy(method, static_cast<double>(budget)), 0.8,
              static_cast<double>(budget) * forward);
        }
      }
      backbone.relative_errors.push_back(Measured::of(0.02 * std::exp(0.4 * rng.normal())));
      runs::FieldsRow fields{.pde = "burgers1d",
                             .sample = sample,
                             .shape = {players},
                             .input_channels = {"u"},
                             .output_channels = {"u"},
                             .query = {0.5}};
      for (int i = 0; i < players; ++i) {
        const double x = i / static_cast<double>(players),
                     wave = std::sin(6.283185307179586 * x + 0.7 * static_cast<double>(sample));
        fields.x.push_back(x);
        fields.input.push_back(wave);
        fields.solution.push_back(0.6 * std::tanh(2 * wave));
        fields.prediction.push_back(0.6 * std::tanh(2 * wave) + 0.01 * std::cos(40 * x));
      }
      double size = 0;
      for (const double value : fields.solution) size = std::hypot(size, value);
      backbone.solution_norms.push_back(size);
      results.fields.push_back(std::move(fields));
    }
    results.operators.push_back(std::move(backbone));
  }
  results.training.push_back({.pde = "burgers1d",
                              .stage = "backbone",
                              .epochs = 60,
                              .best_epoch = 58,
                              .best_validation = 3.1e-4,
                              .seconds = 41.5});
  results.training.push_back({.pde = "burgers1d",
                              .stage = "explainer",
                              .epochs = 60,
                              .best_epoch = 51,
                              .best_validation = 2.4e-3,
                              .operator_evaluations = 215040,
                              .seconds = 75.25});
  return results;
}

inline nlohmann::ordered_json SyntheticRun::manifest() const {
  auto manifest = nlohmann::ordered_json::parse(R"({
    "schema": "opshap.manifest/1", "profile": "smoke", "pde": "burgers1d", "seed": 42,
    "command": ["opshap", "reproduce", "--profile", "smoke"], "commit": "0123456789abcdef0123456789abcdef01234567",
    "dirty": false, "started": "2026-01-02T03:04:05Z",
    "seconds": {"data": 4.2, "backbone": 41.5, "explainer": 75.25, "evaluation": 61.0},
    "environment": {"processor": "a processor <with> 2 & more cores", "threads": 2,
                    "blas": "OpenBLAS 0.3.21 openmp, 60 GFLOP/s a thread", "libtorch": "1.13.1",
                    "compiler": "g++ 12.2.0", "system": "Linux x86_64"},
    "settings": {"summary": "CI and first contact", "train_samples": 192, "resolutions": [],
                 "toml": "[data]\npde = \"burgers1d\"\n"},
    "departures": ["training samples: 192 instead of the paper's 4220", "test inputs: 8 instead of the paper's 30"],
    "comparable_with_paper": false})");
  if (as_the_paper) {
    manifest["profile"] = manifest["command"][3] = "paper";
    manifest["departures"] = nlohmann::ordered_json::array();
    manifest["comparable_with_paper"] = true;
  }
  manifest["settings"]["resolutions"] = resolutions;
  return manifest;
}

inline runs::Run SyntheticRun::run() const {
  const nlohmann::ordered_json facts = manifest();
  runs::Run run;
  run.pde = facts["pde"];
  run.profile = facts["profile"];
  run.departures = facts["departures"];
  run.comparable_with_paper = as_the_paper;
  run.results = results();
  return run;
}

}  // namespace opshap
