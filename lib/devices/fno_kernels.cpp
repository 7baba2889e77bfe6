#include "devices/fno_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "devices/fno_kernel.hpp"

namespace opshap::devices {

// CMake writes these from the files of their names.
namespace embedded {
extern const std::string_view fno_kernel;
extern const std::string_view fno_arguments;
extern const std::string_view warp;
}  // namespace embedded

namespace {

int up_to_eights(int size) { return (size + 7) / 8 * 8; }

/// An array of a block: where to say its place, and its size.
struct Wanted {
  Placed FnoArguments::*place;
  long long floats;
};

/// Those that are used most come first.
std::array<Wanted, 6> arrays(const FnoArguments& of) {
  const long long group = of.group, width = of.width;
  const long long spectrum = group * 2 * of.rows * of.columns * width;
  const long long lines = of.first_analysis == nullptr ? 0 : group * of.lines * 2 * of.columns * width;
  return {{{&FnoArguments::members, group * of.field_lines * of.field_line_points},
           {&FnoArguments::scratch, group * ((warps + 1) * of.hidden + of.wide)},
           {&FnoArguments::state, group * of.lines * of.line_points * width},
           {&FnoArguments::spectrum, spectrum},
           {&FnoArguments::mixed, spectrum},
           {&FnoArguments::of_lines, lines}}};
}

}  // namespace

bool has_kernel(int width, int hidden, int layers) {
  return up_to_eights(width) <= 8 * most_width_tiles && up_to_eights(hidden) <= 8 * most_hidden_tiles &&
         layers <= FnoArguments::most_layers + 1;
}

void place_arrays(FnoArguments& of, long long shared_floats) {
  const auto whole = [&] {
    long long floats = 0;
    for (const Wanted& array : arrays(of)) floats += array.floats;
    return floats;
  };
  of.group = most_group;
  while (of.group > 1 && whole() > shared_floats) of.group /= 2;
  of.shared_floats = of.workspace_of_block = 0;
  for (const Wanted& array : arrays(of)) {
    const bool fits = of.shared_floats + array.floats <= shared_floats;
    long long& used = fits ? of.shared_floats : of.workspace_of_block;
    of.*array.place = {.shared = fits ? 1 : 0, .offset = used};
    used += array.floats;
  }
}

void emulate_fno(FnoArguments of, Arithmetic arithmetic) {
  constexpr long long blocks_of_thread = 4;
  const long long groups = (of.count + of.group - 1) / of.group,
                  blocks = std::min(groups, blocks_of_thread * threads());
  std::vector<float> workspace(static_cast<std::size_t>(blocks * of.workspace_of_block));
  of.workspace = workspace.data();
  parallel_for(static_cast<std::size_t>(blocks), [&](std::size_t number) {
    std::vector<float> shared(static_cast<std::size_t>(of.shared_floats));
    const Block block{static_cast<long long>(number), blocks, shared.data()};
    switch (arithmetic) {
      case Arithmetic::tf32x3:
        return evaluate_fno<Arithmetic::tf32x3>(of, block);
      case Arithmetic::tf32:
        return evaluate_fno<Arithmetic::tf32>(of, block);
      case Arithmetic::bf16:
        return evaluate_fno<Arithmetic::bf16>(of, block);
    }
  });
}

std::vector<SourceFile> fno_source() {
  return {{"fno_kernel.cu", embedded::fno_kernel.data()},
          {"devices/fno_arguments.hpp", embedded::fno_arguments.data()},
          {"devices/warp.hpp", embedded::warp.data()}};
}

std::vector<std::string> fno_options(const FnoArguments& of, Arithmetic arithmetic) {
  return {"--std=c++20",
          "--ftz=true",  // numbers below 1e-38 do not come up
          "-default-device",
          message("-DOPSHAP_WIDTH=", of.width),
          message("-DOPSHAP_HIDDEN=", of.hidden),
          message("-DOPSHAP_GROUP=", of.group),
          message("-DOPSHAP_ARITHMETIC=", name_of(arithmetic))};
}

const char* name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tf32x3:
      return "tf32x3";
    case Arithmetic::tf32:
      return "tf32";
    case Arithmetic::bf16:
      return "bf16";
  }
  return "";
}

}  // namespace opshap::devices
