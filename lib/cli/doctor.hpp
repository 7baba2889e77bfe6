#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/globals.hpp"
#include "runs/manifest.hpp"

namespace opshap::cli {

/// Where this program lies. What is installed with it is in its `share` or that of its
/// parent. Throws EnvironmentError where the system does not tell.
std::filesystem::path program_folder();

/// What a reported time needs beside it: processor and how many there are, threads, compiler, system.
nlohmann::ordered_json environment();

/// The same with the device, BLAS, LibTorch and the engine's instruction set. Loads LibTorch.
nlohmann::ordered_json network_environment(const Globals& globals);

/// How a run of this program begins: the command's name, its manifest's schema, what it runs on and what it runs
/// (runs::Beginning). Arguments, seed and commit are known.
runs::Beginning beginning(const std::string& who, std::string_view schema, const Globals& globals,
                          nlohmann::ordered_json environment, nlohmann::ordered_json subject);

/// One fact about the machine, and whether work can be done with it.
struct Finding {
  std::string what;   ///< "blas", "disk", ...
  std::string value;  ///< what was found, in words
  bool fit = true;
  std::string fix = {};  ///< the command that repairs it, where it is not fit
};

/// What can be said without LibTorch: processor, threads, memory, disk, gnuplot.
/// Takes milliseconds.
std::vector<Finding> examine_machine(const std::filesystem::path& out);

/// Which OpenMP runtime LibTorch has brought into this process. XGBoost, which the tree proxies load, brings the
/// system's: of a wheel with one of its own there are then two, each with threads of its own.
Finding openmp_runtimes();

/// Prints the findings and throws EnvironmentError with the fixes when one is unfit.
void report_findings(const std::vector<Finding>& findings, const Globals& globals);

/// Model name of the processor from /proc/cpuinfo, and what of AVX2 and AVX-512 it has.
std::string processor();

}  // namespace opshap::cli
