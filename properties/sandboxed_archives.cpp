// TorchScript archives under --sandbox: code that runs in a process of its own, from which the machine is hidden.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "data/npy.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

using Json = nlohmann::json;

class SandboxedArchives : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    torch::jit::Module module("model");
    module.define("def forward(self, x: Tensor) -> Tensor:\n    torch.save(x, '" + path("left_behind") +
                  "')\n    y = torch.tanh(x * x + 0.5 * x)\n    return y + y.mean(dim=2, keepdim=True)\n");
    module.save(path("model.pt"));
    std::vector<double> wave;
    for (int i = 0; i < 12; ++i) wave.push_back(std::sin(0.7 * i));
    data::write_npy(path("u.npy"), {{12}, data::Dtype::float64, wave});
  }

  Outcome attribute(const std::string& method, const std::string& more) const {
    return opshap("attribute --operator " + path("model.pt") + " --input " + path("u.npy") + " --query 4 --method " +
                  method + " --json --trust " + more);
  }
  bool left_behind() const { return std::filesystem::remove(path("left_behind")); }
};

TEST_F(SandboxedArchives, GiveTheSameAnswersAndLeaveNothingBehind) {
  for (const char* method : {"exact", "integrated_gradients"}) {
    const Outcome plain = attribute(method, "");
    ASSERT_EQ(0, plain.code) << plain.err;
    EXPECT_TRUE(left_behind()) << "the archive can write where this process can";
    const Outcome apart = attribute(method, "--sandbox");
    if (apart.code == 4) GTEST_SKIP() << apart.err;
    ASSERT_EQ(0, apart.code) << apart.err;
    EXPECT_FALSE(left_behind());
    const auto here = Json::parse(plain.out).at("values").get<std::vector<double>>(),
               there = Json::parse(apart.out).at("values").get<std::vector<double>>();
    ASSERT_EQ(here.size(), there.size());
    // The same code on the same machine; batches of other sizes may round float32 differently. Values are of size 1.
    for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(here[i], there[i], 64 * std::pow(2.0, -24)) << method;
  }
}

TEST_F(SandboxedArchives, AreRefusedWhereNoProcessOfTheirOwnIsMade) {
  const Outcome outcome = opshap("operator run " + path("model.pt") + " --input " + path("u.npy") + " --out " +
                                 path("y.npy") + " --sandbox");
  EXPECT_EQ(2, outcome.code) << outcome.err;
  EXPECT_FALSE(left_behind());
  ASSERT_EQ(0, opshap("data generate --pde heat1d --samples 6 --out " + path("heat.h5")).code);
  const Outcome evaluated = opshap("evaluate --operator " + path("model.pt") + " --data " + path("heat.h5") +
                                   " --explainer e.safetensors --out " + path("run") + " --trust --sandbox");
  if (evaluated.code == 4) GTEST_SKIP() << evaluated.err;
  EXPECT_EQ(2, evaluated.code) << evaluated.err;
  EXPECT_NE(std::string::npos, evaluated.err.find("this command has no process of its own for it")) << evaluated.err;
  EXPECT_FALSE(left_behind());
}

}  // namespace
}  // namespace opshap
