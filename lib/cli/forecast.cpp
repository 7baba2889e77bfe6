#include "cli/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/field.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "methods/method.hpp"
#include "networks/networks.hpp"
#include "pde/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// The largest budget that a dry run spends on a method.
constexpr std::int64_t most_spent = 1 << 14;
constexpr double bytes_of_a_number = 21;  // of JSON with all digits, and its comma

/// From the least to the most that something will cost.
template <typename Number>
struct Range {
  Number least = 0, most = 0;

  void operator+=(const Range& more) {
    least += more.least;
    most += more.most;
  }
};

/// What a stage of a run will cost on this machine.
struct StageForecast {
  std::string stage;  ///< as the manifest of the run will call it
  /// Of the backbone, forward equivalents. A training that may stop early, and references that end when they are good
  /// enough, have a range.
  Range<std::int64_t> evaluations = {};
  Range<double> seconds = {};  ///< wall time on all threads
  double bytes = 0;            ///< of what it leaves on disk
};

/// The wall time of a call, the least of at least two after one that does not count.
double seconds_of(const std::function<void()>& work) {
  work();
  double least = HUGE_VAL, sum = 0;
  for (int runs = 0; runs < 2 || (sum < 0.1 && runs < 50); ++runs) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, seconds);
    sum += seconds;
  }
  return least;
}

/// One input of the problem, or of the file, in a data set by itself.
data::Dataset one_sample(const Profile& profile, std::uint64_t seed) {
  data::Dataset data;
  if (profile.data.file) {
    data = data::read_dataset(profile.data.file->path);
    data.inputs = data.inputs.one(0);
    data.targets = data.targets.one(0);
  } else {
    data.pde = profile.data.pde;
    data.parameters = data::to_json(profile.data.equation()->parameters()).dump();
    if (profile.data.on_meshes()) {
      const auto flows = pde::find_trajectories(profile.data.pde).with(profile.data.parameters);
      const pde::Trajectory first = data::first_frame(*flows, seed);
      const std::vector<float> field = flows->observed(first.frame(0));
      const std::size_t channels = flows->channels().size();
      data.inputs = FieldBatch{first.domain, 1, static_cast<int>(channels), {field.begin(), field.end()}};
      data.targets = data.inputs;
      data.node_types = {first.node_types};
      data.input_mean.assign(channels, 0);
      data.split = {data::Split::train};
      data.resolution_slot = {0};
      return data;
    }
    const std::unique_ptr<pde::Problem> problem = profile.data.problem();
    data.inputs = data::generated_input(*problem, seed, 0);
    data.targets = FieldBatch::zeros(data.inputs.domain(), 1, problem->output().channel_count());
    // What stands in for the mean of the training inputs costs the same.
    const std::vector<float> values(data.inputs.batch().values.begin(), data.inputs.batch().values.end());
    data.input_mean = data::channel_means(problem->input(), values, 1);
  }
  data.split = {data::Split::train};
  data.resolution_slot = {0};
  return at_points_of(profile, std::move(data));
}

double bytes_of_weights(const networks::NetworkConfig& config) {
  return 4.0 * static_cast<double>(networks::library().parameter_count(config));
}

/// The game of the input at a resolution under the backbone's untrained weights.
struct Rates {
  Scenario scenario;
  std::unique_ptr<Game> game;
  double evaluation = 0;  ///< seconds a coalition

  Rates(const Operator& backbone, const ScenarioRule& rule, const data::Dataset& data, const Resolution& resolution)
      : scenario(make_scenario(data::rule_for(rule, data), served(data.inputs.one(0), resolution))),
        game(games::cell_mask_game(backbone, scenario)) {
    constexpr std::size_t count = 64;
    Coalitions some(game->players(), count);
    Rng rng(1, "forecast");
    for (std::size_t k = 0; k < count; ++k) {
      for (int player = 0; player < game->players(); ++player) {
        if (rng.below(2) != 0) some.insert(k, player);
      }
    }
    evaluation = seconds_of([&] { game->values(some); }) / static_cast<double>(count);
  }

  /// Strided where the native grid allows it, as grids of trainings are; else interpolated.
  static FieldBatch served(const FieldBatch& inputs, const Resolution& resolution) {
    return has_resolution(inputs.domain, resolution)
               ? at_resolution(inputs, resolution)
               : interpolated(inputs, resolution.shape(inputs.domain.dimension()));
  }
};

class Forecaster {
 public:
  Forecaster(const Profile& profile, const Globals& globals)
      : profile_(profile),
        globals_(globals),
        data_(one_sample(profile, globals.seed)),
        backbone_config_(networks::library().backbone_config(profile.backbone, data_)),
        backbone_(networks::library().untrained_operator(backbone_config_, globals.seed)) {
    for (const Resolution& resolution : profile.resolutions) add_rates(resolution);
    for (const Resolution& resolution : profile.evaluation.unseen) add_rates(resolution);
  }

  std::vector<StageForecast> stages() {
    std::vector<StageForecast> all;
    if (!profile_.data.file) all.push_back(of_data());
    all.push_back(of_backbone());
    all.push_back(of_explainer("explainer", profile_.explainer));
    for (const auto& [name, recipe] : profile_.explainers) all.push_back(of_explainer("explainer " + name, recipe));
    all.push_back(of_evaluation());
    return all;
  }

 private:
  StageForecast of_data() const {
    const data::Cost cost = data::measured_cost(data_request(profile_, globals_.seed));
    return {.stage = "data", .seconds = {cost.seconds, cost.seconds}, .bytes = cost.bytes};
  }

  /// Samples of the data set for training at each of some resolutions.
  std::vector<double> labelled(const std::vector<Resolution>& resolutions) const {
    const auto count = static_cast<double>(resolutions.size());
    return std::vector<double>(resolutions.size(), static_cast<double>(profile_.data.train) / count);
  }

  /// Samples of the validation at each of them.
  double validation(const std::vector<Resolution>& resolutions) const {
    return static_cast<double>(profile_.data.validation) / static_cast<double>(resolutions.size());
  }

  /// Of the steps of a training: `samples` of each resolution, and those of the validation, which have no way back.
  double epoch_seconds(const networks::NetworkConfig& config, int batch, const std::vector<Resolution>& resolutions,
                       const std::vector<double>& samples) const {
    double seconds = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
      seconds += seconds_of(networks::library().training_step(config, data_.inputs.domain(), resolutions[i], batch)) *
                 (std::ceil(samples[i] / batch) + std::ceil(validation(resolutions) / batch) / 3);
    return seconds;
  }

  /// The fewest epochs after which a training can stop, over all of them.
  static double least_share(int patience, int epochs) {
    return patience == 0 ? 1 : std::min(1.0, (patience + 1.0) / epochs);
  }

  StageForecast of_backbone() const {
    const networks::BackboneRecipe& recipe = profile_.backbone;
    const double most =
        recipe.epochs * epoch_seconds(backbone_config_, recipe.batch, recipe.resolutions, labelled(recipe.resolutions));
    return {.stage = "backbone",
            .seconds = {most * least_share(recipe.patience, recipe.epochs), most},
            .bytes = bytes_of_weights(backbone_config_)};
  }

  StageForecast of_explainer(const std::string& stage, networks::ExplainerRecipe recipe) const {
    recipe.scenario = data::rule_for(recipe.scenario, data_);
    const networks::NetworkConfig config = networks::library().explainer_config(recipe, data_);
    std::vector<double> samples = labelled(recipe.resolutions);
    const double validated = validation(recipe.resolutions);
    const double shares = std::accumulate(recipe.unlabelled_shares.begin(), recipe.unlabelled_shares.end(), 0.0);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] += static_cast<double>(recipe.unlabelled) *
                    (shares > 0 ? recipe.unlabelled_shares[i] / shares : 1.0 / static_cast<double>(samples.size()));
    // An epoch has one window of each flow; what is asked once is asked of all.
    const bool on_meshes = profile_.data.on_meshes();
    const double windows = on_meshes ? profile_.data.windows : 1;
    double once = 0, once_seconds = 0, epoch = 0, of_epoch = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Rates& rates = rates_.at(recipe.resolutions[i]);
      const networks::LabelCost cost = networks::library().label_cost(recipe, rates.game->players());
      const double asked = samples[i] * static_cast<double>(cost.training);
      const double all = (samples[i] + validated) * windows;
      // v(N) of every sample; v(∅) once for the training and once for the validation, or once for each flow.
      const double fixed = all * (1 + static_cast<double>(recipe.base.evaluations())) +
                           (on_meshes ? samples[i] + validated : 2) +
                           validated * windows * static_cast<double>(cost.validation);
      const double first = fixed + (cost.once ? asked * windows : 0);
      once += first;
      once_seconds += first * rates.evaluation;
      epoch += cost.once ? 0 : asked;
      of_epoch += (cost.once ? 0 : asked) * rates.evaluation;
    }
    of_epoch += epoch_seconds(config, recipe.batch, recipe.resolutions, samples);
    const double least = recipe.epochs * least_share(recipe.patience, recipe.epochs);
    return {.stage = stage,
            .evaluations = {std::llround(once + epoch * least), std::llround(once + epoch * recipe.epochs)},
            .seconds = {once_seconds + of_epoch * least, once_seconds + of_epoch * recipe.epochs},
            .bytes = bytes_of_weights(config)};
  }

  StageForecast of_evaluation() const {
    const evaluation::EvaluationSettings& settings = profile_.evaluation;
    StageForecast all{.stage = "evaluation"};
    const auto add = [&](const Range<double>& of_input, double seconds) {
      const double least = settings.inputs * of_input.least, most = settings.inputs * of_input.most;
      all.evaluations += {std::llround(least), std::llround(most)};
      all.seconds += {least * seconds, most * seconds};
    };
    const double explainers = 2 + static_cast<double>(profile_.explainers.size());  // and the uniform attribution
    for (const auto& [resolution, rates] : rates_) {
      const int players = rates.game->players();
      add(reference_evaluations(*rates.game), rates.evaluation);
      const auto faithfulness = static_cast<double>(settings.faithfulness_coalitions);
      add({faithfulness, faithfulness}, rates.evaluation);
      double attributions = explainers + 1;  // and the reference
      if (!is_unseen(resolution)) {
        for (const std::string& name : settings.methods) attributions += add_method(name, rates, all);
      }
      all.bytes += settings.inputs * attributions * players * bytes_of_a_number;
    }
    return all;
  }

  /// Adds what a method costs at a resolution, from one run of it. Returns how many attributions of an input it makes.
  double add_method(const std::string& name, const Rates& rates, StageForecast& all) const {
    const evaluation::EvaluationSettings& settings = profile_.evaluation;
    const std::unique_ptr<methods::Method> method = methods::resolve(name);
    const int players = rates.game->players();
    const std::int64_t budget = std::max<std::int64_t>(2 * players, settings.minimum_budget);
    // A larger budget is not spent to know what it costs: from here on costs grow with it.
    const std::int64_t spent = std::min(budget, std::max<std::int64_t>(2 * players, most_spent));
    Attribution found;
    double seconds = 0, evaluations_of_one = 0;
    try {
      const auto start = std::chrono::steady_clock::now();
      found = method->attribute({*rates.game, &rates.scenario, {spent}, 1});
      const double scale = method->uses_budget() ? static_cast<double>(budget) / static_cast<double>(spent) : 1;
      seconds = scale * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      evaluations_of_one = scale * static_cast<double>(found.evaluations);
    } catch (const InvalidArgument&) {
      return 1;  // it keeps its row, with the reason, and costs nothing
    }
    double tables = settings.inputs, rows = 1;  // as often as at the budget of the table
    for (const evaluation::BudgetCurve& curve : settings.curves) {
      if (curve.players != players || !method->uses_budget()) continue;
      for (const std::int64_t of_curve : curve.budgets) {
        if (of_curve != budget) tables += curve.inputs * static_cast<double>(of_curve) / static_cast<double>(budget);
      }
      rows += static_cast<double>(curve.inputs * static_cast<int>(curve.budgets.size())) / settings.inputs;
    }
    const auto evaluations = std::llround(tables * evaluations_of_one);
    all.evaluations += {evaluations, evaluations};
    all.seconds += {tables * seconds, tables * seconds};
    return rows;
  }

  /// The fewest and the most that the reference of an input takes.
  Range<double> reference_evaluations(const Game& game) const {
    const evaluation::EvaluationSettings& settings = profile_.evaluation;
    if (game.players() <= settings.exact_players) {
      const double all = std::ldexp(1.0, game.players());
      return {all, all};
    }
    const auto least = static_cast<double>(evaluation::minimum_reference_evaluations(game));
    return {least, std::max(least, static_cast<double>(settings.reference_budget))};
  }

  bool is_unseen(const Resolution& resolution) const {
    return std::ranges::count(profile_.resolutions, resolution) == 0;
  }

  void add_rates(const Resolution& resolution) {
    rates_.emplace(std::piecewise_construct, std::forward_as_tuple(resolution),
                   std::forward_as_tuple(*backbone_, profile_.evaluation.scenario, data_, resolution));
  }

  const Profile& profile_;
  const Globals& globals_;
  data::Dataset data_;
  networks::NetworkConfig backbone_config_;
  std::unique_ptr<Operator> backbone_;
  std::map<Resolution, Rates> rates_;
};

template <typename Number>
std::string in_words(const Range<Number>& range, std::string (*show)(double)) {
  const std::string from = show(static_cast<double>(range.least)), to = show(static_cast<double>(range.most));
  return from == to ? to : message(from, " to ", to);
}

Range<double> shared_out(const Range<double>& seconds, int ranks) {
  return {seconds.least / ranks, seconds.most / ranks};
}

std::string count(double evaluations) { return evaluations == 0 ? "none" : fmt::format("{:.3g}", evaluations); }

reporting::Table stages_table(const std::string& pde, const std::vector<StageForecast>& stages, int ranks) {
  reporting::Table table{.name = "forecast",
                         .caption = message("What ", pde, " will cost here, on ", threads(),
                                            " threads. A range is from a training that stops as early as it may and "
                                            "references that are good enough at once, to the last epoch and the whole "
                                            "budget of every reference."),
                         .columns = {{"stage"}, {"evaluations"}, {"time"}, {"disk"}}};
  if (ranks > 1) table.columns.push_back({message("time on ", ranks, " such machines")});
  StageForecast all{.stage = "all"};
  Range<double> all_on_ranks;
  const auto add = [&](const StageForecast& stage, const Range<double>& on_ranks) {
    std::vector<std::string> cells = {stage.stage, in_words(stage.evaluations, count),
                                      in_words(stage.seconds, reporting::show_seconds),
                                      fmt::format("{:.3g} MB", stage.bytes / 1e6)};
    if (ranks > 1) cells.push_back(in_words(on_ranks, reporting::show_seconds));
    table.add(std::move(cells));
  };
  for (const StageForecast& stage : stages) {
    const Range<double> on_ranks = shared_out(stage.seconds, ranks);
    add(stage, on_ranks);
    all_on_ranks += on_ranks;
    all.evaluations += stage.evaluations;
    all.seconds += stage.seconds;
    all.bytes += stage.bytes;
  }
  add(all, all_on_ranks);
  return table;
}

Json json_of(const StageForecast& stage, int ranks) {
  const auto both = [](const auto& range) { return Json{{"least", range.least}, {"most", range.most}}; };
  Json json = {{"stage", stage.stage}, {"evaluations", both(stage.evaluations)}, {"seconds", both(stage.seconds)}};
  if (ranks > 1) json["seconds_on_ranks"] = both(shared_out(stage.seconds, ranks));
  json["bytes"] = stage.bytes;
  return json;
}

}  // namespace

void print_forecasts(const std::vector<Profile>& profiles, int ranks, const Globals& globals) {
  Json runs = Json::array();
  for (const Profile& profile : profiles) {
    const std::vector<StageForecast> stages = Forecaster(profile, globals).stages();
    if (!globals.json) {
      std::cout << stages_table(profile.data.pde, stages, ranks).markdown() << std::endl;
      continue;
    }
    Json run = {{"pde", profile.data.pde}, {"stages", Json::array()}};
    for (const StageForecast& stage : stages) run["stages"].push_back(json_of(stage, ranks));
    runs.push_back(std::move(run));
  }
  if (globals.json) print_json({{"ranks", ranks}, {"runs", runs}});
}

namespace {

std::optional<double> median_nrmse(const reporting::Scoreboard& scores, const reporting::Discretisation& on,
                                   const std::string& method) {
  const reporting::Cell* cell = scores.cell(on, method);
  const auto error = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
  return error ? std::optional(error->median) : std::nullopt;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Of the uniform attribution's error: an explainer with more has learned next to nothing.
constexpr double hardly_better = 0.9;

std::string shown(const std::optional<double>& value) { return value ? reporting::show(*value) : "-"; }

}  // namespace

void print_ending(const Globals& globals, const std::filesystem::path& page, const std::filesystem::path& run) {
  if (!is_there(run / "results.jsonl")) return print_path(globals, "report", page);
  const runs::Run finished = runs::read_run(run);
  const reporting::Scoreboard scores(finished);
  Json rows = Json::array();
  reporting::Table table{
      .name = "errors",
      .caption =
          "Median NRMSE over the test inputs. The mean field is a method that needs no "
          "training, and the uniform attribution knows nothing but v(N) - v(∅).",
      .columns = {{"n", true}, {"explainer"}, {"NRMSE", true}, {"mean field's", true}, {"uniform's", true}}};
  bool nearer = false, uniform_everywhere = true;
  for (const reporting::Discretisation& on : scores.discretisations()) {
    for (const std::string& method : scores.methods_with_access("amortised")) {
      const auto own = median_nrmse(scores, on, method), mean_field = median_nrmse(scores, on, "mean_field"),
                 uniform = median_nrmse(scores, on, "uniform");
      nearer = nearer || (own && mean_field && *mean_field < *own);
      uniform_everywhere = uniform_everywhere && own && uniform && *own >= hardly_better * *uniform;
      rows.push_back({{"shape", on.shape},
                      {"players", on.players},
                      {"method", method},
                      {"nrmse", number(own)},
                      {"mean_field_nrmse", number(mean_field)},
                      {"uniform_nrmse", number(uniform)}});
      table.add({on.label(), reporting::style_of(method).label, shown(own), shown(mean_field), shown(uniform)});
    }
  }
  if (globals.json) return print_json({{"report", page.string()}, {"errors", rows}});
  print_path(globals, "report", page);
  std::cout << '\n' << table.markdown();
  if (nearer) std::cout << "\nThe mean field is nearer. `opshap attribute --method mean_field` needs no explainer.\n";
  if (uniform_everywhere && !rows.empty())
    std::cout << "\nThe explainer has learned next to nothing: everywhere it has more than nine tenths of the uniform "
                 "attribution's error. Train on more samples, or on labels (`opshap train explainer --inputs`).\n";
}

}  // namespace opshap::cli
