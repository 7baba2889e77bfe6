#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "core/file.hpp"
#include "reporting/report.hpp"
#include "support/run_folder.hpp"

namespace opshap {

/// Work that fills a folder from files alone, done once for all tests of a process that ask for it on the same files:
/// most of a report's time is gnuplot's. `from` is what it reads, `into` what it leaves, which may be the same folder.
class DoneOnce {
 public:
  template <typename Work>
  void operator()(const std::filesystem::path& from, const std::filesystem::path& into, const Work& work) {
    const auto [found, is_new] = left_.try_emplace(files_of(from));
    if (is_new) {
      work();
      found->second = files_of(into);
      return;
    }
    std::filesystem::remove_all(into);
    for (const auto& [name, bytes] : found->second) write_file(into / name, bytes);
  }

 private:
  std::map<std::map<std::string, std::string>, std::map<std::string, std::string>> left_;
};

/// The report of a folder, by itself or from an earlier test of this process with the same files: tests of their own
/// show that the same rows give the same bytes. Returns the page.
inline std::string drawn_report(const std::filesystem::path& folder) {
  static DoneOnce done;
  done(folder, folder, [&] { EXPECT_EQ(folder / "report.html", reporting::write_report(folder).page); });
  return read_file(folder / "report.html");
}

}  // namespace opshap
