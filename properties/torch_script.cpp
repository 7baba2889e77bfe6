// Models of TorchScript archives as operators. The archives are written here, from models in TorchScript's language.

#include "operators/torch_script.hpp"

#include <ATen/core/op_registration/op_registration.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>

#include "core/error.hpp"
#include "core/file.hpp"
#include "estimators/registry.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using networks::Precision;

/// As rounding(), of float32 numbers.
Tolerance single_rounding(double operations, double scale) { return rounding(operations * 0x1p29, scale); }

class TorchScript : public RunFolder {
 protected:
  /// An archive of a model with weights `weight` [channels, channels] and this forward method.
  fs::path archive(const std::string& forward, int channels = 1, const std::string& said = "") const {
    torch::jit::Module module("model");
    torch::Tensor weight = torch::eye(channels);
    for (int row = 0; row < channels; ++row) weight[row][0] = 0.5 + row;
    module.register_parameter("weight", weight, false);
    module.define(forward);
    const fs::path path = folder_ / "model.pt";
    module.save(path.string(),
                said.empty() ? torch::jit::ExtraFilesMap{} : torch::jit::ExtraFilesMap{{"opshap.json", said}});
    return path;
  }

  /// A forward method that is one expression.
  static std::string returns(const std::string& value) {
    return "def forward(self, x: Tensor) -> Tensor:\n    return " + value + "\n";
  }

  /// The message of the error that loading ends with.
  template <typename Failure = DataError>
  static std::string refused(const fs::path& path, Precision precision = Precision::float32,
                             const std::vector<std::int64_t>& input = {}) {
    return refusal<Failure>([&] { operators::load_operator(path, "cpu", precision, true, input); });
  }
};

// Each point's channels mixed, a tanh, and the mean over all points added to the first one: nothing but the grid's size
// changes with the grid.
const char* const line_model = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.tanh(torch.matmul(self.weight, x))
    return y + y.mean(dim=2, keepdim=True)
)";

TEST_F(TorchScript, SaysWhetherAnActivationHasKinks) {
  const auto has_kinks = [this](const std::string& forward) {
    return operators::load_operator(archive(forward, 1, R"({"dimension": 1, "in_channels": 1})"))->has_kinks();
  };
  EXPECT_FALSE(has_kinks(returns("torch.tanh(x)")));
  EXPECT_TRUE(has_kinks(returns("torch.relu(x)")));
  const std::string in_a_branch_of_what_it_calls = R"(
def half(self, x: Tensor) -> Tensor:
    if x.dim() == 3:
        return torch.leaky_relu(x, 0.1)
    return x
def forward(self, x: Tensor) -> Tensor:
    return self.half(x)
)";
  EXPECT_TRUE(has_kinks(in_a_branch_of_what_it_calls));
}

TEST_F(TorchScript, IsTheModelThatWasWritten) {
  const auto op = operators::load_operator(archive(line_model, 2));
  EXPECT_EQ(1, op->dimension());
  EXPECT_EQ(2, op->input_channels());
  EXPECT_EQ(2, op->output_channels());
  EXPECT_EQ("TorchScript model.pt 1D, 2 to 2 channels", op->describe());
  const FieldBatch field = random_fields(Domain::unit({12}), 1, 2), output = op->apply(field);
  const auto activated = [&](int row, std::size_t point) {
    const double first = field.values[point], second = field.values[12 + point];
    return row == 0 ? std::tanh(0.5 * first) : std::tanh(1.5 * first + second);
  };
  for (int row = 0; row < 2; ++row) {
    double mean = 0;
    for (std::size_t point = 0; point < 12; ++point) mean += activated(row, point) / 12;
    for (std::size_t point = 0; point < 12; ++point)
      EXPECT_EQ("", mismatch(activated(row, point) + mean, output.values[static_cast<std::size_t>(row) * 12 + point],
                             single_rounding(20, 2)));
  }
}

TEST_F(TorchScript, IsExplainedLikeAnyOperator) {
  const auto op = operators::load_operator(archive(line_model), "cpu", Precision::float64);
  const Domain domain = Domain::unit({8});
  const FieldBatch field = random_fields(domain, 1, 1);
  const auto game = games::cell_mask_game(
      *op, {field, FieldBatch::zeros(domain, 1, 1), Partition::one_player_per_point(domain), Query{.point = 3}});
  EXPECT_FALSE(game->mean_field());
  // The game is a sum over cells: a player's value is what its own cell adds.
  const Attribution exact = attribute(estimators::find("exact"), *game, {256}, 1);
  for (std::size_t player = 0; player < 8; ++player) {
    const double own = std::tanh(0.5 * field.values[player]);
    EXPECT_EQ("", mismatch((player == 3 ? own : 0) + own / 8, exact.values[player], rounding(300, 2)));
  }
  const auto gradient = op->gradient_at(field, Query{.point = 3}).gradient;
  for (std::size_t point = 0; point < 8; ++point) {
    const double slope = 0.5 / std::pow(std::cosh(0.5 * field.values[point]), 2);
    EXPECT_EQ("", mismatch((point == 3 ? slope : 0) + slope / 8, gradient.values[point], rounding(50, 1)));
  }
}

// Module::to() would make this weight real.
TEST_F(TorchScript, KeepsComplexWeightsInDouble) {
  torch::jit::Module module("model");
  module.register_parameter("weight", torch::complex(torch::tensor(0.3f), torch::tensor(2.0f)).reshape({1}), false);
  module.define(returns("torch.imag(self.weight * x)"));
  const fs::path path = folder_ / "complex.pt";
  module.save(path.string(), {{"opshap.json", R"({"dimension": 1, "in_channels": 1})"}});
  const FieldBatch field = random_fields(Domain::unit({5}), 1, 1);
  const auto output = operators::load_operator(path, "cpu", Precision::float64)->apply(field).values;
  for (std::size_t point = 0; point < 5; ++point)
    EXPECT_EQ("", mismatch(2 * field.values[point], output[point], rounding(5, 4)));
}

TEST_F(TorchScript, TakesTwoAxes) {
  const auto op =
      operators::load_operator(archive(returns("torch.conv2d(x, self.weight.unsqueeze(2).unsqueeze(3)).roll(1, 3)")));
  EXPECT_EQ(2, op->dimension());
  const FieldBatch field = random_fields(Domain::unit({3, 4}), 1, 1);
  EXPECT_EQ("", mismatch(0.5 * field.values[4 + 3], op->apply(field).values[4], single_rounding(2, 4)));
}

TEST_F(TorchScript, IsTestedOnGrids) {
  const auto network = operators::load_torch_script(archive(R"(
def forward(self, x: Tensor) -> Tensor:
    assert x.size(2) != 128, "not with 128"
    return torch.cos(self.weight * x) + (0.0 if x.size(2) >= 64 else 1.0)
)",
                                                            1, R"({"dimension": 1, "in_channels": 1})"),
                                                    torch::kFloat32);
  const auto tests = network->test_grids();
  ASSERT_EQ(5u, tests.size());
  EXPECT_EQ((std::vector<int>{16}), tests[0].shape);
  EXPECT_EQ("", mismatch(0, tests[0].change, single_rounding(10, 1))) << "the same branch at 16 and 32";
  EXPECT_GT(tests[1].change, 0.5) << "another branch from 64 on";
  EXPECT_LT(tests[2].change, 0) << "128 is not taken";
  EXPECT_TRUE(has(tests[3].failure, "not with 128"));
  EXPECT_EQ("", tests[4].failure);
}

TEST_F(TorchScript, RefusesAGridThatTheModelDoesNotTake) {
  const auto op = operators::load_operator(archive(R"(
def forward(self, x: Tensor) -> Tensor:
    assert x.size(2) >= 32, "too few points"
    return torch.matmul(self.weight, x)
)"));
  EXPECT_TRUE(
      has(refusal<InvalidArgument>([&] { op->apply(random_fields(Domain::unit({16}), 1, 1)); }), "too few points"));
}

TEST_F(TorchScript, RefusesModelsWhoseFieldsAreNotKnown) {
  EXPECT_TRUE(has(refused(archive(returns("2 * x"))), {"1 channels on 1 axis, 2 channels on 1 axis", "_extra_files"}));
  EXPECT_TRUE(has(refused(archive(returns("x.sum()"))), {"takes no field of up to 8 channels", "is []"}));
  const auto said = [this](const char* words) { return refused(archive(line_model, 2, words)); };
  EXPECT_TRUE(has(said(R"({"dimension": 1, "in_channels": 3})"), "of the kind that it names"));
  EXPECT_TRUE(has(said(R"({"dimension": 3})"), "has no dimension from 1 to 2"));
}

/// A convolution in the plane as torch.jit.script writes it. TorchScript's conv2d takes [C, H, W] without a batch, so a
/// batch of one line looks like a channel to it.
const char* const plane_model = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.gelu(torch.conv2d(x, self.first, None, [1, 1], [1, 1])).permute(0, 2, 3, 1)
    return torch.gelu(torch.matmul(y, self.last)).permute(0, 3, 1, 2)
)";

torch::jit::Module plane_module(int channels, torch::Dtype dtype = torch::kFloat32) {
  constexpr int width = 5;
  torch::jit::Module module("model");
  const auto kernel = [&](int from, int to) {
    return 0.3 * torch::sin(torch::arange(9 * from * to, dtype)).view({to, from, 3, 3});
  };
  module.register_parameter("first", kernel(channels, width), false);
  module.register_parameter("last", kernel(width, channels).select(3, 1).select(2, 0).t().contiguous(), false);
  module.define(plane_model);
  return module;
}

TEST_F(TorchScript, LearnsItsAxesAndChannelsFromTheInput) {
  const fs::path path = folder_ / "plane.pt";
  const auto loaded = [&](int channels, const std::vector<std::int64_t>& input) {
    plane_module(channels).save(path.string());
    return operators::load_operator(path, "cpu", Precision::float32, true, input)->describe();
  };
  EXPECT_EQ("TorchScript plane.pt 2D, 1 to 1 channels", loaded(1, {16, 16}));
  EXPECT_EQ("TorchScript plane.pt 2D, 1 to 1 channels", loaded(1, {1, 16, 12}));
  EXPECT_EQ("TorchScript plane.pt 2D, 2 to 2 channels", loaded(2, {2, 16, 16}));
  EXPECT_EQ("TorchScript plane.pt 2D, 3 to 3 channels", loaded(3, {5, 3, 8, 8}));
  EXPECT_EQ("TorchScript plane.pt 2D, 1 to 1 channels", loaded(1, {})) << "batches of one, two and three tell it too";
  EXPECT_EQ("TorchScript plane.pt 2D, 1 to 1 channels", loaded(1, {7})) << "another input is refused later, by shape";
  const fs::path line = archive(returns("torch.conv1d(x, self.weight.unsqueeze(2))"), 20);
  const auto channels = [&](const std::vector<std::int64_t>& input) {
    return operators::load_operator(line, "cpu", Precision::float32, true, input)->input_channels();
  };
  EXPECT_EQ(20, channels({20, 24}));
  EXPECT_EQ(20, channels({})) << "its weights suggest them";
}

// It multiplies the last axis but one, of a line's channels or of a plane's points alike.
TEST_F(TorchScript, RefusesAnInputThatCouldBeOfTwoKinds) {
  const std::string text = refused(archive(line_model, 20), Precision::float32, {20, 24});
  EXPECT_TRUE(has(text, {"20 channels on 1 axis, 1 channels on 2 axes", R"({"dimension": 2, "in_channels": 1})"}));
}

TEST_F(TorchScript, MayTakeOneGridAndOneFieldAlone) {
  const char* const model = R"(
def forward(self, x: Tensor) -> Tensor:
    assert x.size(2) == 40, "not 40 points"
    return torch.matmul(self.weight, x.reshape([1, 1, 40]))
)";
  const auto op = operators::load_operator(archive(model), "cpu", Precision::float32, true, {40});
  FieldBatch fields = FieldBatch::zeros(Domain::unit({40}), 3, 1);
  for (std::size_t i = 0; i < fields.values.size(); ++i) fields.values[i] = static_cast<double>(i);
  const FieldBatch found = op->apply(fields);
  for (std::size_t i = 0; i < fields.values.size(); ++i) EXPECT_EQ(0.5 * fields.values[i], found.values[i]);

  EXPECT_TRUE(has(refused(archive(model)), "is tried on that of --input"));
  const auto said = operators::load_torch_script(
      archive(model, 1, R"({"dimension": 1, "in_channels": 1, "shape": [40]})"), torch::kFloat32);
  EXPECT_EQ((std::vector<int>{40}), said->test_grids().back().shape);
  EXPECT_EQ("", said->test_grids().back().failure);
  EXPECT_NE("", said->test_grids().front().failure);
  const std::string wrong = refused(archive(model, 1, R"({"dimension": 1, "in_channels": 1, "shape": [40, 40]})"));
  EXPECT_TRUE(has(wrong, "has a shape that is no list of 1 numbers"));
}

TEST_F(TorchScript, IsComputedInDoubleWhereItsWeightsAreDouble) {
  const fs::path path = folder_ / "plane.pt";
  plane_module(1, torch::kFloat64).save(path.string());
  const auto op = operators::load_operator(path);
  EXPECT_TRUE(has(op->coalition_path(), "float64"));
  const FieldBatch field = random_fields(Domain::unit({6, 6}), 1, 1);
  plane_module(1).save(path.string());
  const auto in_double = operators::load_operator(path, "cpu", Precision::float64);
  EXPECT_EQ("", mismatch(in_double->apply(field).values, op->apply(field).values, single_rounding(20, 1)));
}

// With oneDNN, LibTorch 1.13 gives gelu's gradient from uninitialised memory here.
TEST_F(TorchScript, HasTheGradientOfGeluInThePlane) {
  const fs::path path = folder_ / "plane.pt";
  plane_module(2).save(path.string());
  const auto single = operators::load_operator(path), exact = operators::load_operator(path, "cpu", Precision::float64);
  const FieldBatch field = random_fields(Domain::unit({8, 9}), 1, 2);
  const Query query{.point = 3 * 9 + 2, .channel = 1};
  FieldBatch nodes = FieldBatch::zeros(field.domain, 50, 2);  // as on the way from a baseline of zeros to the field
  for (std::int64_t node = 0; node < 50; ++node)
    for (std::size_t i = 0; i < field.values.size(); ++i)
      nodes.field(node)[i] = field.values[i] * (static_cast<double>(node) + 0.5) / 50;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::vector<double> found = single->gradient_at(nodes, query).gradient.values;
    EXPECT_EQ("", mismatch(exact->gradient_at(nodes, query).gradient.values, found, single_rounding(20, 1)));
  }
  constexpr double step = 1e-5;
  EXPECT_EQ("", mismatch(central_differences(*exact, field, query, step),
                         exact->gradient_at(field, query).gradient.values, discretisation(100, step, 2)));
}

TEST_F(TorchScript, RefusesAGradientThatIsNotThatOfItsValues) {
  const auto refused = [&](const std::string& forward) {
    const auto op = operators::load_operator(archive(forward, 1, R"({"dimension": 1, "in_channels": 1})"));
    const FieldBatch field = random_fields(Domain::unit({12}), 1, 1);
    EXPECT_NO_THROW(op->values_at(field, Query{.point = 3}));
    const auto gradient = [&] { op->gradient_at(field, Query{.point = 3}); };
    const std::string first = refusal<NumericalError>(gradient);
    EXPECT_EQ(first, refusal<NumericalError>(gradient)) << "the second time too";
    return first;
  };
  EXPECT_TRUE(has(refused(returns("torch.tanh(self.weight * x.detach()) + 0.01 * x")),
                  "central differences of its values give"));
  EXPECT_TRUE(has(refused(returns("torch.tanh(self.weight * x.detach())")), "cut off from its input"));
  // Kinks, steps without any slope, and constants that drown the rest in rounding are no faults.
  EXPECT_EQ("", refused(returns("torch.relu(self.weight * x)")));
  EXPECT_EQ("", refused(returns("torch.sign(x) + 0.0 * x")));
  EXPECT_EQ("", refused(returns("1e-5 * torch.tanh(x) + 1000.0")));
}

TEST_F(TorchScript, SaysWhyAForeignModelFails) {
  const std::string two = refused(archive("def forward(self, x: Tensor, u: Tensor) -> Tensor:\n    return u\n"));
  EXPECT_TRUE(has(two, "missing value for argument 'u'"));
  EXPECT_FALSE(has(two, "frame #")) << two;
}

// By the names of their parts, of today and of the first versions.
TEST_F(TorchScript, NamesArchivesOfTorchExport) {
  for (const char* part : {"model/archive_format", "serialized_exported_program.json"}) {
    write_file(folder_ / "model.pt2",
               message(std::string("PK\3\4", 4), std::string(22, '\0'), part, std::string(40, 'x')));
    EXPECT_TRUE(has(refused(folder_ / "model.pt2"), {"is an archive of torch.export, .pt2", "peer:FOLDER"}));
  }
}

// An operation of somebody's extension, which was there when the model was written.
TEST_F(TorchScript, NamesAnOperationThatIsNotKnown) {
  fs::path path;
  {
    const auto extension =
        c10::RegisterOperators("aten::of_an_extension", [](const torch::Tensor& x) { return 2 * x; });
    path = archive(returns("torch.of_an_extension(x)"));
  }
  EXPECT_TRUE(has(refused(path), "has the operation aten::of_an_extension, which LibTorch"));
}

TEST_F(TorchScript, RefusesPicklesAndDamagedArchives) {
  const auto saved = torch::jit::pickle_save(torch::ones({3}));
  write_file(folder_ / "pickle.pt", std::string(saved.begin(), saved.end()));
  EXPECT_TRUE(has(refused(folder_ / "pickle.pt"), "export_model.py"));
  write_file(folder_ / "legacy.pt", std::string("\x80\x02\x8a\x0alF"
                                                "c\x9c"
                                                "F\xf9 j\xa8P\x19.",
                                                15));
  EXPECT_TRUE(has(refused(folder_ / "legacy.pt"), "is a pickle"));

  const std::string whole = read_file(archive(line_model));
  for (std::size_t kept = 4; kept < whole.size(); kept += whole.size() / 20) {
    write_file(folder_ / "damaged.pt", whole.substr(0, kept));
    EXPECT_NE("", refused(folder_ / "damaged.pt")) << kept;
  }
}

TEST_F(TorchScript, RefusesDoubleOfAFrozenModel) {
  torch::jit::Module module("model");
  module.define(returns("2 * x[:, 0:1]"));
  const fs::path path = folder_ / "frozen.pt";
  module.save(path.string(), {{"opshap.json", R"({"dimension": 1, "in_channels": 1})"}});
  EXPECT_TRUE(has(refused<InvalidArgument>(path, Precision::float64), "is a frozen model"));
}

}  // namespace
}  // namespace opshap
