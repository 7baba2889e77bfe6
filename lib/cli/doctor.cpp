#include "cli/doctor.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "kernels/kernels.hpp"
#include "networks/build.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

std::filesystem::path program_folder() {
  char self[4096];
  const ::ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  require<EnvironmentError>(length > 0, "opshap: /proc/self/exe (cannot be read). Mount /proc.");
  return std::filesystem::path(std::string(self, static_cast<std::size_t>(length))).parent_path();
}

nlohmann::ordered_json environment() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
          {"threads", threads()},
          {"compiler", message("g++ ", __VERSION__)},
          {"system", message(system.sysname, " ", system.release, " ", system.machine)}};
}

nlohmann::ordered_json network_environment(const Globals& globals) {
  const networks::Blas blas = networks::library().blas();
  nlohmann::ordered_json found = environment();
  found["device"] = globals.device;
  found["blas"] = fmt::format("{}, {:.0f} GFLOP/s a thread", blas.name, blas.gflops);
  const networks::Torch torch = networks::library().torch();
  found["libtorch"] = torch.compiled;
  const bool on_cpu = globals.device == "cpu";
  found["engine"] = !globals.engine ? "off" : on_cpu ? kernels::chosen_kernels().name : "LibTorch on " + globals.device;
  if (!on_cpu) found["gpu"] = torch.gpu;
  return found;
}

runs::Beginning beginning(const std::string& who, std::string_view schema, const Globals& globals,
                          nlohmann::ordered_json environment, nlohmann::ordered_json subject) {
  return {.who = who,
          .schema = std::string(schema),
          .command = globals.arguments,
          .seed = globals.seed,
          .commit = networks::commit,
          .dirty = networks::dirty,
          .environment = std::move(environment),
          .subject = std::move(subject)};
}

namespace fs = std::filesystem;

namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr double needed_disk = 1.0;    // GiB: profile desk writes about 0.2, a build folder 0.5
constexpr double needed_memory = 2.0;  // GiB: profile desk with the paper's architecture peaks below that

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Finding disk(fs::path out) {
  out = fs::absolute(out.empty() ? "." : out);
  while (!is_there(out) && out.has_parent_path() && out != out.parent_path()) out = out.parent_path();
  std::error_code failure;
  const double free = static_cast<double>(fs::space(out, failure).available) / gibibyte;
  if (failure) return {"disk", message(out.string(), ": ", failure.message()), false, "choose another --out"};
  return {"disk", fmt::format("{:.1f} GiB free in {}", free, out.string()), free >= needed_disk,
          "free some space, or choose another --out"};
}

Finding memory() {
  std::ifstream in("/proc/meminfo");
  std::string line;
  while (std::getline(in, line) && !line.starts_with("MemAvailable:")) continue;
  if (!in) return {"memory", "unknown: no /proc/meminfo"};
  const double available = std::strtod(line.c_str() + 13, nullptr) * 1024 / gibibyte;
  return {"memory", fmt::format("{:.1f} GiB available", available), available >= needed_memory, "close other programs"};
}

Finding engine() {
  try {
    return {"engine",
            fmt::format("{} of {}", kernels::chosen_kernels().name, fmt::join(kernels::instruction_sets(), ", "))};
  } catch (const EnvironmentError& error) {
    return {"engine", error.what(), false, "unset OPSHAP_ENGINE"};
  }
}

}  // namespace

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line) && !line.starts_with("model name")) continue;
  const std::string model = in ? line.substr(line.find(':') + 2) : "unknown processor";
#ifdef __x86_64__
  __builtin_cpu_init();
  const char* vectors = __builtin_cpu_supports("avx512f") ? "AVX-512"
                        : __builtin_cpu_supports("avx2")  ? "AVX2"
                                                          : "no AVX2";
  return model + ", " + vectors;
#else
  return model;
#endif
}

std::vector<Finding> examine_machine(const fs::path& out) {
  const bool gnuplot = on_path("gnuplot");
  return {{"processor", processor()},
          {"threads", fmt::format("{} used of {} processors online", threads(), ::sysconf(_SC_NPROCESSORS_ONLN))},
          engine(),
          memory(),
          disk(out),
          {"gnuplot", gnuplot ? "found" : "not found (figures need it)", gnuplot, "apt-get install -y gnuplot-nox"}};
}

Finding openmp_runtimes() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::string file = fs::path(line).filename().string();
    if (file.starts_with("libgomp") || file.starts_with("libomp") || file.starts_with("libiomp")) files.insert(file);
  }
  const bool of_the_system =
      std::ranges::any_of(files, [](const std::string& file) { return file.starts_with("libgomp.so"); });
  return {"openmp",
          fmt::format("{}{}", fmt::join(files, ", "),
                      of_the_system ? "" : "; tree proxies bring the system's libgomp, with threads of its own")};
}

void report_findings(const std::vector<Finding>& findings, const Globals& globals) {
  nlohmann::ordered_json json;
  std::string fixes;
  for (const Finding& finding : findings) {
    json[finding.what] = {{"value", finding.value}, {"fit", finding.fit}};
    if (!finding.fit) {
      json[finding.what]["fix"] = finding.fix;
      fixes += message(fixes.empty() ? "" : "; ", finding.fix);
    }
    if (!globals.json)
      std::cout << fmt::format("{} {:<10} {}{}\n", finding.fit ? "ok   " : "UNFIT", finding.what, finding.value,
                               finding.fit ? "" : "\n                 fix: " + finding.fix);
  }
  json["fit"] = fixes.empty();
  if (globals.json) print_json(json);
  std::cout.flush();
  require<EnvironmentError>(fixes.empty(), "doctor: fit=no (see above). Run: ", fixes);
}

}  // namespace opshap::cli
