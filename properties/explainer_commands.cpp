// Explainers from the command line: of a user's own operator in one command, and a study of what their errors cost.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/error.hpp"
#include "core/smoothing.hpp"
#include "data/dataset.hpp"
#include "data/npy.hpp"
#include "support/one_run.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

constexpr const char* profile = "small_burgers.toml";

class ExplainerCommands : public OneRun<&profile> {
 protected:
  static std::string backbone() { return weights("backbone"); }
  static std::string another_operator() {
    return OPSHAP_SOURCE_DIR "/reports/desk/burgers1d/backbone/model.safetensors";
  }

  /// So many waves on so many points, with an axis for the channel or without.
  std::string waves(std::int64_t count, std::int64_t points, bool channel = false) const {
    std::vector<double> values;
    for (std::int64_t wave = 0; wave < count; ++wave)
      for (std::int64_t point = 0; point < points; ++point)
        values.push_back(std::sin(2 * std::numbers::pi * static_cast<double>(point) / static_cast<double>(points) +
                                  static_cast<double>(wave)));
    std::vector<std::int64_t> shape = {count, points};
    if (channel) shape.insert(shape.begin() + 1, 1);
    data::write_npy(path("waves.npy"), {shape, data::Dtype::float64, values});
    return path("waves.npy");
  }
};

constexpr const char* quick =
    "[explainer]\nepochs = 2\nlabel_evaluations = 12\ntarget = 'mean_field'\n"
    "coordinates = 'query_angle'\npadding = 0.0\natom = true\npatience = 0\n"
    "queries = 'any'\n[operator]\nmodes = 4\nwidth = 8\nlayers = 2\n";

TEST_F(ExplainerCommands, AnOperatorOfOnesOwnGetsItsExplainerAndItsErrors) {
  const std::string own = path("own.safetensors");
  const Json found = answer("train explainer --operator " + backbone() + " --inputs " + waves(20, 32) +
                            " --samples 64 --config " + file("quick.toml", quick) + " --out " + own + " -q");
  EXPECT_EQ("mean_field", found.at("target"));
  // 64 games and 2 for validation: two passes of 6, and v(N) and v(∅) with the labels and for the normalisation.
  EXPECT_EQ(66 * 16, found.at("operator_evaluations"));
  ASSERT_EQ(2u, found.at("held_out").size());
  for (const Json& row : found.at("held_out")) {
    EXPECT_EQ(2, row.at("inputs"));
    EXPECT_GT(row.at("nrmse"), 0);
    EXPECT_LE(row.at("interval")[0], row.at("nrmse"));
    EXPECT_GE(row.at("interval")[1], row.at("nrmse"));
    EXPECT_LE(row.at("reference_error"), 0.01);
    // An explainer of two epochs is no match for its own target.
    EXPECT_LT(row.at("mean_field_nrmse").get<double>(), row.at("nrmse").get<double>());
  }
  done("attribute --operator " + backbone() + " --input " + waves(2, 32, true) + " --explainer " + own +
       " --query all --out " + path("map.npy"));
  EXPECT_EQ((std::vector<std::int64_t>{2, 32, 32}), data::read_npy(path("map.npy")).shape);
  const Outcome unseen = done("attribute --operator " + backbone() + " --input " + waves(1, 24, true) +
                              " --explainer " + own + " --query 3 --json");
  EXPECT_TRUE(has(unseen.err, "trained on grids of 16, 32 points an axis, and not of 24"));
  // A mean over a region is the mean of the densities there.
  const std::string one =
      "attribute --operator " + backbone() + " --input " + waves(1, 32, true) + " --explainer " + own + " ";
  const auto values = [&](const std::string& what) {
    return answer(one + what).at("values").get<std::vector<std::vector<double>>>().at(0);
  };
  const std::vector<double> mean = values("--target mean:4..6"), a = values("--query 4"), b = values("--query 5");
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR((a[i] + b[i]) / 2, mean[i], 1e-5) << "float32 sums";
  // The folder beside it is of another seed.
  done("train explainer --operator " + backbone() + " --inputs " + waves(20, 32) + " --samples 64 --config " +
           path("quick.toml") + " --out " + own + " --seed 2 --json -q",
       2);
}

// The mean field needs no training, so nobody should have to look for what it is worth beside a trained explainer.
TEST_F(ExplainerCommands, ATrainingEndsWithTheErrorOfTheMeanFieldBesideItsOwn) {
  const std::string profile = std::string(OPSHAP_SOURCE_DIR) + "/properties/support/small_burgers.toml";
  const std::string train = "train explainer --data " + (run_ / "data" / "burgers1d.h5").string() + " --operator " +
                            backbone() + " --profile " + profile + " --out " + path("trained");
  const Json rows = answer(train + " -q").at("held_out");
  ASSERT_EQ(1u, rows.size()) << "at the coarsest resolution";
  EXPECT_EQ(Json::parse("[16]"), rows[0].at("shape"));
  EXPECT_LT(rows[0].at("mean_field_nrmse").get<double>(), rows[0].at("nrmse").get<double>())
      << "two epochs teach nothing";
  EXPECT_TRUE(has(output(train + " -q"), "The mean field is nearer."));

  const std::string reproduce = "reproduce --profile " + profile + " --config " +
                                file("mean.toml", "[evaluation]\nmethods = ['mean_field']\ncurves = []\n") + " --out " +
                                path("run");
  const Json errors = answer(reproduce + " -q").at("errors");
  ASSERT_EQ(2u, errors.size());
  for (const Json& row : errors) EXPECT_LT(row.at("mean_field_nrmse").get<double>(), row.at("nrmse").get<double>());
  EXPECT_TRUE(has(opshap(reproduce + " -q").out, "mean field's"));
}

TEST_F(ExplainerCommands, AnExplainerIsRefusedForWhatItWasNotTrainedFor) {
  const std::string explainer = weights("explainer");
  for (const auto& [name, value] : {std::pair("u", 0.5), std::pair("zeros", 0.0), std::pair("tenths", 0.1)})
    data::write_npy(path(message(name, ".npy")), {{32}, data::Dtype::float64, std::vector<double>(32, value)});
  const auto ask = [&](const std::string& op, const std::string& more) {
    return "attribute --operator " + op + " --input " + path("u.npy") + " --explainer " + explainer +
           " --query 16 --json " + more;
  };
  EXPECT_EQ("", done(ask(backbone(), "--baseline " + path("zeros.npy"))).err)
      << "a field of zeros is the baseline zero";
  expect_refusal(ask(backbone(), "--baseline " + path("tenths.npy")), 2, "baseline 0.1 instead of zero");
  expect_refusal(ask(backbone(), "--baseline blur"), 2, "baseline blur:0.15 instead of zero");
  EXPECT_EQ("", done(ask(backbone(), "--baseline rest:burgers1d")).err) << "there the state at rest is 0";
  expect_refusal(ask(backbone(), "--players 8"), 2, "players blocks instead of points");
  expect_refusal(ask(another_operator(), ""), 2, "operator ");
  expect_refusal(ask(explainer, ""), 3, "holds an explainer");
  expect_refusal("attribute --operator " + backbone() + " --input " + path("u.npy") + " --query 16 --explainer " +
                     backbone(),
                 3, "holds an operator");
  const std::string plain = ask(backbone(), "");
  expect_refusal(plain.substr(0, plain.find(" --query")) + " --target mean:3..5", 2, "centre of the domain");
  EXPECT_TRUE(has(done(ask(backbone(), "--force --baseline " + path("tenths.npy"))).err,
                  "was trained for something else: baseline 0.1 instead of zero"));
}

// An operator may be asked of any field, but whoever took the wrong file should hear of it.
TEST_F(ExplainerCommands, DataOfAnotherProblemThanTheOperatorsGetARemark) {
  done("data generate --pde advection1d --samples 10 --resolutions 16,32 -q --out " + path("advection.h5"));
  const auto evaluated = [&](const std::string& data, const std::string& out) {
    return done("evaluate --data " + data + " --operator " + backbone() + " --explainer " + weights("explainer") +
                " --profile " OPSHAP_SOURCE_DIR "/properties/support/small_burgers.toml -q --out " + path(out))
        .err;
  };
  const std::string told = evaluated(path("advection.h5"), "other");
  EXPECT_TRUE(has(told, "the operator learned burgers1d {") && has(told, ", and the data are of advection1d {")) << told;
  EXPECT_FALSE(has(evaluated((run_ / "data" / "burgers1d.h5").string(), "own"), "learned"));
}

// The same question by a word and by the field that the word stands for.
TEST_F(ExplainerCommands, WordsOfABaselineAreTheFieldsThatTheyName) {
  FieldBatch input{.domain = Domain::unit({32}), .batch = 1, .channels = 1, .values = {}};
  for (int j = 0; j < 32; ++j) input.values.push_back(std::sin(0.7 * j) + 0.01 * j);
  const auto written = [&](const std::string& name, const std::vector<double>& values) {
    data::write_npy(path(name), {{32}, data::Dtype::float64, values});
    return path(name);
  };
  const std::string ask = "attribute --operator " + backbone() + " --input " + written("input.npy", input.values) +
                          " --query 16 --players 4 --method exact --json --baseline ";
  const auto values = [&](const std::string& baseline) { return answer(ask + baseline).at("values"); };
  EXPECT_EQ(values(written("below.npy", std::vector<double>(32, -0.25))), values("-0.25"));
  EXPECT_EQ(values(written("smooth.npy", smoothed(input, 0.1).values)), values("blur:0.1"));
  expect_refusal(ask + "1,0", 2, "baseline=constant (1,0) (has numbers: 2, channels of the input: 1)");
  expect_refusal(ask + "blur:0.01", 2, "blur=0.01 (32 points");
  // These are refused before the operator is loaded.
  for (const auto& [bad, says] : Refusals<>{{"nan", "\"nan\" is not a finite number"},
                                            {"1,inf", "\"inf\" is not"},
                                            {"1,x", "\"x\" is not"},
                                            {"1,", "\"\" is not"},
                                            {"mean", "no training data"},
                                            {"rest", "Give rest:NAME"},
                                            {"rest:", "Give rest:NAME"},
                                            {"rest:burgers", "Did you mean burgers1d?"},
                                            {"rest:darcy2d", "a permeability"},
                                            {"blur:0", "--baseline=blur:0 (the width"}})
    expect_refusal(ask + bad, 2, says);
  expect_refusal(ask + path("nothing.npy"), 3, "nothing.npy");
}

// Its cost stands beside its errors: 2 nodes of 6 forward equivalents, v(∅) and v(N).
TEST_F(ExplainerCommands, AnExplainerWithABaseSaysWhatItCosts) {
  const std::string own = path("based.safetensors"),
                    settings = std::string(quick).replace(std::string(quick).find("target = 'mean_field'"), 21,
                                                          "target = 'second_order'\nbase = 'mean_field'\n"
                                                          "base_nodes = 2\norder = 'coarse'");
  const std::string labels = "label_evaluations = 12", dearer = "label_evaluations = 110";
  std::string text = settings;
  text.replace(text.find(labels), labels.size(), dearer);
  const Json found = answer("train explainer --operator " + backbone() + " --inputs " + waves(20, 32) +
                            " --samples 32 --config " + file("based.toml", text) + " --out " + own + " -q");
  for (const Json& row : found.at("held_out")) EXPECT_EQ(14, row.at("forward_equivalents"));
  const Json one = answer("attribute --operator " + backbone() + " --input " + waves(1, 32, true) + " --explainer " +
                          own + " --query 3");
  EXPECT_EQ(14, one.at("forward_equivalents")[0]);
  EXPECT_EQ(2, one.at("gradients")[0]);
  expect_refusal("attribute --operator " + another_operator() + " --input " + waves(1, 32, true) + " --explainer " +
                     own + " --query 3",
                 2, "was trained for something else: operator");
}

TEST_F(ExplainerCommands, OwnInputsThatCannotWorkAreRefused) {
  const std::string start = "train explainer --operator " + backbone();
  expect_refusal(start + " --out " + path("e.safetensors"), 2, "--data");
  expect_refusal(start + " --inputs " + waves(20, 32) + " --out " + path("folder"), 2, ".safetensors");
  expect_refusal(start + " --inputs " + waves(5, 32) + " --out " + path("e.safetensors"), 2, "fields=5");
  expect_refusal(start + " --inputs " + waves(20, 32) + " --resolutions 12,32 --out " + path("e.safetensors"), 2, "12");
}

TEST_F(ExplainerCommands, AStudyComparesRecipesAndGoesOnWhereItWas) {
  const std::string settings = file("recipes.toml",
                                    "[explainers.paper]\n[explainers.values]\ntarget = 'mean_field'\npatience = 0\n"
                                    "coordinates = 'query_angle'\natom = true\nunlabelled = 8\n");
  const std::string study = "study amortisation --run " + run_.string() + " --config " + settings +
                            " --seeds 2 --inputs 2 --reference-error 0.1 --out " + path("study");
  done(study + " -q");
  const std::string rows = read_file(folder_ / "study" / "rows.jsonl"),
                    report = read_file(folder_ / "study" / "amortisation.md");
  EXPECT_TRUE(has(report, {"| paper |", "| values |"}));
  EXPECT_TRUE(fs::exists(folder_ / "study" / "explanation_time.md"));
  EXPECT_FALSE(fs::exists(folder_ / "study" / "trainings" / "paper-42"));
  done(study + " -q");
  EXPECT_EQ(rows, read_file(folder_ / "study" / "rows.jsonl")) << "times included: nothing is done twice";
  expect_refusal(
      "study amortisation --run " + run_.string() + " --config " + settings + " --recipes valus --out " + path("other"),
      2, "values");
  expect_refusal("study amortisation --run " + run_.string() + " --config " + settings + " --inputs 9", 2, "--out");
  const std::string other = "study methods --out " + path("other") + " --run ";
  file("all/one/config.resolved.toml", "");
  expect_refusal(other + path("all"), 3, "holds runs and is none). Give one of " + path("all/one"));
  expect_refusal(other + path("all/one/none"), 3, "has no config.resolved.toml");
}

// The run has 16 and 32 points. The study's shares are those of its own resolutions.
TEST_F(ExplainerCommands, AStudyMayHaveFewerResolutionsThanTheRun) {
  const auto settings = file("recipes.toml",
                             "resolutions = [16]\n[explainers.values]\ntarget = 'mean_field'\npatience = 0\n"
                             "coordinates = 'query_angle'\natom = true\nunlabelled = 8\nunlabelled_shares = [1.0]\n");
  done("study amortisation --run " + run_.string() + " --config " + settings +
       " --seeds 1 --inputs 2 --reference-error 0.1 --out " + path("study") + " -q");
  const std::string rows = read_file(folder_ / "study" / "rows.jsonl");
  EXPECT_TRUE(has(rows, "\"players\":16"));
  EXPECT_FALSE(has(rows, "\"players\":32"));
}

TEST_F(ExplainerCommands, AStudyMayAskEachInputAtItsOwnPoint) {
  const std::string recipe = "target = 'mean_field'\npatience = 0\ncoordinates = 'query'\nepochs = 1\n",
                    settings = file("recipes.toml", "[explainers.any]\nqueries = 'any'\n" + recipe +
                                                        "[explainers.one]\nqueries = 'fixed'\n" + recipe),
                    study = "study amortisation --run " + run_.string() + " --config " + settings +
                            " --seeds 1 --inputs 2 --reference-error 0.1 --recipes any --out ";
  done(study + path("fixed") + " -q");
  done(study + path("any") + " --any-query -q");
  EXPECT_TRUE(has(read_file(folder_ / "any" / "amortisation.md"), "each input at a random point"));
  EXPECT_NE(names_in(folder_ / "any" / "units"), names_in(folder_ / "fixed" / "units")) << "references of other games";
  expect_refusal(study + path("other") + " --any-query --recipes one", 2, "recipe=one");
}

TEST_F(ExplainerCommands, AStudyOfQueriesScoresEveryPosition) {
  const std::string any = path("any.safetensors");
  done("train explainer --operator " + backbone() + " --inputs " + waves(20, 32) + " --samples 32 --config " +
       file("quick.toml", quick) + " --out " + any + " -q");
  const std::string fixed = weights("explainer");
  const std::string study =
      "study queries --run " + run_.string() + " --points 16 --positions 4 --inputs 2 --out " + path("queries");
  done(study + " --explainer " + any + " --fixed " + fixed + " -q");
  const std::string report = read_file(folder_ / "queries" / "queries.md"),
                    points = read_file(folder_ / "queries" / "queries.csv");
  EXPECT_TRUE(has(report, "times that error"));
  EXPECT_TRUE(has(points, {"\"explainer, any query\",0.875,", "\"explainer, one query\",0.5,"}));
  expect_refusal(study + " --explainer " + fixed, 2, "one query");
  expect_refusal("study queries --run " + run_.string() + " --points 16 --positions 17 --explainer " + any + " --out " +
                     path("other"),
                 2, "positions=17");
}

TEST_F(ExplainerCommands, AStudyOfReadingsSaysHowFarExplanationsMove) {
  const std::string study = "study readings --run " + run_.string() + " --inputs 2 --reference-error 0.1 ";
  const std::string report = output(study + "--out " + path("readings") +
                                    " --reading 'ones={baseline = [1.0]}' --reading 'the same={baseline = \"zero\"}' "
                                    "--reading 'blocks={players = \"blocks\", blocks = 4}' --other 'itself=" +
                                    run_.string() + "' -q");
  EXPECT_TRUE(has(report, {"| the same | 2 | 1.000 [1.000, 1.000] | 0 [0, 0] |",
                           "| itself | 2 | 1.000 [1.000, 1.000] | 0 [0, 0] |", "players: 4 blocks; baseline: zero"}));
  EXPECT_FALSE(has(report, "| ones | 2 | 1.000 [1.000, 1.000] | 0 [0, 0] |"));
  const std::string rest = " --out " + path("other");
  expect_refusal(study + rest, 2, "--reading (is missing");
  expect_refusal(study + "--reading ones" + rest, 2, "--reading=ones (is not NAME={KEY = VALUE");
  expect_refusal(study + "--reading 'a={basline = 1}'" + rest, 2, "Did you mean baseline?");
  expect_refusal(study + "--reading 'a={baseline' " + rest, 3, "--reading a");
  expect_refusal(study + "--other a=" + path("none") + rest, 3, "none");
}

TEST_F(ExplainerCommands, AStudyOfMethodsHasThemAllWithTheirCostsAndBars) {
  const std::string study = "study methods --run " + run_.string() + " --resolutions 8,16 --inputs 3 --any-query ";
  const std::string few = study + "--methods mean_field,permutation,exact,uniform --budgets 2n,64 --out " + path("few");
  done(few + " -q");
  const std::string report = read_file(folder_ / "few" / "methods.md");
  EXPECT_TRUE(has(report, {"| exact | its own | 3 | 0 [0, 0] |", "| permutation | 16 | 3 |", "| permutation | 64 | 3 |",
                           "| permutation, 64 coalitions | its values | 6 |", "| uniform | its own | 3 |"}));
  EXPECT_EQ(1u, count(read_file(folder_ / "few" / "methods_n8.csv"), "exact"));
  done(few + " -q");
  EXPECT_EQ(report, read_file(folder_ / "few" / "methods.md")) << "times included: nothing is done twice";
  done(study + "--out " + path("all") + " -q");
  const std::string all = read_file(folder_ / "all" / "methods.md");
  EXPECT_TRUE(has(all, {"| diagonal_second_order | what it corrects |", "| without a method | its own | 3 |",
                        "| diagonal_second_order of the mean field | its values |", "| odd_shap |"}));
  expect_refusal(study + "--methods permutatio --out " + path("other"), 2, "permutation");
  expect_refusal(study + "--budgets 3x --out " + path("other"), 2, "3x");
}

// As few as the files in reference_data are, they are trained on, explained and compared.
TEST_F(ExplainerCommands, ImportedFlowsGoThroughEveryStage) {
  const std::string flows = path("flows.h5");
  done("data import meshgraphnets " OPSHAP_SOURCE_DIR
       "/reference_data/meshgraphnets/cylinder_flow --lead 2 --windows 2 --out " +
       flows + " -q");
  const std::string settings =
      file("small.toml",
           "[meshes.operator]\nmodel = 'gino'\nmodes = 4\nwidth = 8\nlayers = 2\nin_radius = 0.3\nout_radius = 0.3\n"
           "in_transform = 'nonlinear'\nout_transform = 'linear'\nlatent_shape = [8, 8]\n"
           "[scenario]\nquery_at = [1.0, 0.2]\n[meshes.evaluation]\ninputs = 1\n");
  const std::string chain = " --profile smoke --config " + settings + " --data " + flows;
  const Json forecast = answer("reproduce" + chain + " --dry-run");
  done("reproduce" + chain + " --out " + path("run") + " -q");
  const std::string run = path("run/meshgraphnets_cylinder_flow");
  for (const Json& row : json_lines(read_file(run + "/training.jsonl"))) {
    for (const Json& stage : forecast["runs"][0]["stages"]) {
      if (stage["stage"] != row["stage"]) continue;
      EXPECT_EQ(row["operator_evaluations"], stage["evaluations"]["most"]) << stage;
    }
  }
  EXPECT_TRUE(has(read_file(run + "/report.html"), "The set is imported."));
  const FieldBatch field = data::read_dataset(flows).inputs.one(0);
  const std::int64_t points = field.domain.points();
  std::vector<double> places;
  for (std::int64_t point = 0; point < points; ++point)
    for (const double coordinate : field.domain.position(point)) places.push_back(coordinate);
  data::write_npy(path("points.npy"), {{points, 2}, data::Dtype::float64, places});
  data::write_npy(path("u.npy"), {{2, points}, data::Dtype::float64, field.values});
  const std::string ask = "attribute --force --operator " + run + "/backbone/model.safetensors --mesh " +
                          path("points.npy") + " --input " + path("u.npy") + " --players 64 --explainer " + run +
                          "/explainer/model.safetensors --query-at ";
  done(ask + "1.0,0.2");
  expect_refusal(ask + "0.1,0.2", 2, "was trained for the position 1 0.2");
  const Json trained = answer("train explainer" + chain + " --operator " + run + "/backbone/model.safetensors --out " +
                              path("explainer") + " -q");
  EXPECT_EQ(2, trained.at("held_out")[0].at("inputs")) << "each on its own mesh";
  expect_refusal(
      "study queries --run " + run + " --explainer " + run + "/explainer/model.safetensors --out " + path("queries"), 2,
      "positions are counted along an axis");
  const std::string report = output("study readings --run " + run +
                                    " --inputs 2 --reference-error 0.1 --reading "
                                    "'the other channel={query_channel = 1}' --out " +
                                    path("readings") + " -q");
  EXPECT_TRUE(has(report, "| the other channel | 2 |"));
}

}  // namespace
}  // namespace opshap
