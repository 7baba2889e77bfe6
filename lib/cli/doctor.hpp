#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/globals.hpp"

namespace opshap::cli {

/// One fact about the machine, and whether work can be done with it.
struct Finding {
  std::string what;   ///< "blas", "disk", ...
  std::string value;  ///< what was found, in words
  bool fit = true;
  std::string fix;  ///< the command that repairs it; empty when fit
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
