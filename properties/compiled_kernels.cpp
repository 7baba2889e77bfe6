// What NVRTC makes of the kernels for two GPU architectures, where NVRTC is. No GPU is needed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "devices/cuda.hpp"
#include "support/expressions.hpp"

namespace opshap {
namespace {

using devices::Arithmetic;

/// The number in front of these words in what the assembler says.
int number_before(const std::string& log, const std::string& words) {
  const std::vector<std::string> found = found_by("([0-9]+) " + words, log);
  EXPECT_FALSE(found.empty()) << log;
  return found.empty() ? -1 : std::stoi(found[0]);
}

/// The paper's network on a line or a square of so many points along an axis.
devices::FnoArguments network(int dimension, int points) {
  static const float some = 0;
  devices::FnoArguments of = {};
  of.width = 64;
  of.hidden = 32;
  of.wide = 128;
  of.line_points = 2 * points;
  of.field_line_points = points;
  of.lines = dimension == 2 ? 2 * points : 1;
  of.field_lines = dimension == 2 ? points : 1;
  of.columns = std::min(9, points + 1);
  of.rows = dimension == 2 ? std::min(16, 2 * points) : 1;
  if (dimension == 2) of.first_analysis = &some;
  return of;
}

// A spill would go through device memory in the innermost loops. The table is that of reports/gpu.md.
TEST(CompiledKernels, SpillNothing) {
  setenv("OPSHAP_NVRTC", OPSHAP_NVRTC, 0);
  std::printf(
      "| network | architecture | products | coalitions in a block | registers | spilled bytes | shared KiB | "
      "workspace KiB |\n");
  std::map<std::pair<std::string, std::vector<std::string>>, devices::Compiled> known;
  std::printf("|---|---|---|--:|--:|--:|--:|--:|\n");
  for (const auto& [dimension, points] : {std::pair(1, 16), {1, 256}, {1, 1024}, {2, 8}, {2, 32}})
    for (const auto& [architecture, shared] :
         {std::pair("sm_80", devices::shared_floats_80), {"sm_90a", devices::shared_floats_90}}) {
      devices::FnoArguments of = network(dimension, points);
      devices::place_arrays(of, shared);
      for (const Arithmetic arithmetic : {Arithmetic::tf32x3, Arithmetic::tf32, Arithmetic::bf16}) {
        const std::vector<std::string> options = devices::fno_options(of, arithmetic);
        devices::Compiled& made = known[{architecture, options}];
        if (made.cubin.empty()) made = devices::compile(devices::fno_source(), options, architecture);
        const int spilled =
            number_before(made.log, "bytes spill stores") + number_before(made.log, "bytes spill loads");
        EXPECT_EQ(spilled, 0) << architecture << ' ' << devices::name_of(arithmetic) << '\n' << made.log;
        EXPECT_LE(of.shared_floats, shared);
        const std::vector<std::string> registers = found_by("Used ([0-9]+) registers", made.log);
        ASSERT_FALSE(registers.empty()) << made.log;
        std::printf("| FNO%dD, n = %d | %s | %s | %d | %s | %d | %.1f | %.1f |\n", dimension, points, architecture,
                    devices::name_of(arithmetic), of.group, registers[0].c_str(), spilled,
                    static_cast<double>(of.shared_floats) / 256, static_cast<double>(of.workspace_of_block) / 256);
      }
    }
}

TEST(CompiledKernels, SayWhatDoesNotCompile) {
  setenv("OPSHAP_NVRTC", OPSHAP_NVRTC, 0);
  try {
    devices::compile({{"broken.cu", "__global__ void f() { nonsense }"}}, {}, "sm_80");
    FAIL() << "it compiled";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace opshap
