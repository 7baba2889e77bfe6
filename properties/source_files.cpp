// Rules of the house that a compiler does not know.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "support/expressions.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const char* folder : {"lib", "properties", "convergence", "benchmarks"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(OPSHAP_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") files.push_back(entry.path());
  }
  return files;
}

/// Characters of a line of UTF-8: every byte that does not continue one.
std::ptrdiff_t characters(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

// What the formatter cannot break is a text between quotes.
TEST(SourceFiles, LinesEndWhereTheFormatterEndsThem) {
  constexpr std::ptrdiff_t limit = 120;
  ASSERT_GT(sources().size(), 400u);
  for (const fs::path& file : sources()) {
    std::istringstream lines(read_file(file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find('"') == std::string::npos) {
        EXPECT_LE(characters(line), limit) << file.string() << ":" << number;
      }
    }
  }
}

/// A header of lib without comments and texts, what it includes, and what it declares at the left margin.
struct Header {
  std::string code;
  std::set<std::string> own, foreign;  ///< "core/field.hpp"; "vector"
  std::set<std::string> types, announced;
};

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::vector<std::string> found = found_by(pattern, text);
  return {found.begin(), found.end()};
}

std::map<std::string, Header> headers() {
  const std::string comment = "//[^\n]*", quoted = "\"(?:\\\\.|[^\"\\n])*\"", own = "#include \"([^\"]+)\"",
                    foreign = "#include <([^>]+)>",
                    type = "\\n(?:class|struct|enum class|enum|using) (\\w+)[^;\\n]*[{=]",
                    announced = "\\n(?:class|struct|enum class) (\\w+);";
  const fs::path lib = fs::path(OPSHAP_SOURCE_DIR) / "lib";
  std::map<std::string, Header> found;
  for (const fs::path& file : sources()) {
    const std::string name = file.lexically_relative(lib).string();
    if (file.extension() != ".hpp" || name.starts_with("..")) continue;
    const std::string text = read_file(file);
    Header& header = found[name];
    header.own = all_matches(text, own);
    header.foreign = all_matches(text, foreign);
    header.code = substituted(substituted(text, comment, ""), quoted, "");
    header.types = all_matches(header.code, type);
    header.announced = all_matches(header.code, announced);
  }
  return found;
}

/// The header and what it includes of ours, and what all these include of others.
std::pair<std::set<std::string>, std::set<std::string>> reach(const std::map<std::string, Header>& all,
                                                              const std::string& name) {
  std::set<std::string> ours, foreign;
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    const auto header = all.find(next);
    if (header == all.end() || !ours.insert(next).second) continue;
    open.insert(open.end(), header->second.own.begin(), header->second.own.end());
    foreign.insert(header->second.foreign.begin(), header->second.foreign.end());
  }
  return {ours, foreign};
}

// Files are compiled in batches and behind precompiled headers, where the compiler does not miss what a header forgot.
// Target `headers` compiles them one by one.
TEST(SourceFiles, HeadersIncludeWhatTheyName) {
  const std::multimap<std::string, std::string> standard = {{"array", "array"},
                                                            {"atomic", "atomic"},
                                                            {"byte", "cstddef"},
                                                            {"chrono", "chrono"},
                                                            {"complex", "complex"},
                                                            {"deque", "deque"},
                                                            {"filesystem", "filesystem"},
                                                            {"function", "functional"},
                                                            {"int64_t", "cstdint"},
                                                            {"list", "list"},
                                                            {"make_unique", "memory"},
                                                            {"map", "map"},
                                                            {"move", "utility"},
                                                            {"mutex", "mutex"},
                                                            {"numeric_limits", "limits"},
                                                            {"optional", "optional"},
                                                            {"ostringstream", "sstream"},
                                                            {"pair", "utility"},
                                                            {"runtime_error", "stdexcept"},
                                                            {"set", "set"},
                                                            {"shared_ptr", "memory"},
                                                            {"span", "span"},
                                                            {"sqrt", "cmath"},
                                                            {"string", "string"},
                                                            {"string_view", "string_view"},
                                                            {"thread", "thread"},
                                                            {"tuple", "tuple"},
                                                            {"uint32_t", "cstdint"},
                                                            {"uint64_t", "cstdint"},
                                                            {"unique_ptr", "memory"},
                                                            {"variant", "variant"},
                                                            {"vector", "vector"},
                                                            {"pair", "map"},
                                                            {"string_view", "string"}};
  const std::map<std::string, Header> all = headers();
  ASSERT_GT(all.size(), 150u);
  std::map<std::string, std::set<std::string>> declared;
  for (const auto& [name, header] : all)
    for (const std::string& type : header.types) declared[type].insert(name);

  const std::string of_std = "std::(\\w+)", ours = "(?:^|[^:\\w])([A-Z]\\w+)",
                    parameter = "\\b(?:enum )?(?:class|struct|enum|using|typename) (\\w+)";
  for (const auto& [name, header] : all) {
    const auto [reached, foreign] = reach(all, name);
    for (const std::string& word : all_matches(header.code, of_std)) {
      const auto [from, to] = standard.equal_range(word);
      const bool there = from == to || std::any_of(from, to, [&, &others = foreign](const auto& of) {
                           return others.contains(of.second);
                         });
      EXPECT_TRUE(there) << name << ": std::" << word << " without <" << (from == to ? "" : from->second) << ">";
    }
    const std::set<std::string> parameters = all_matches(header.code, parameter);  // and what is declared inside others
    for (const std::string& word : all_matches(header.code, ours)) {
      const auto places = declared.find(word);
      if (places == declared.end() || header.announced.contains(word) || parameters.contains(word)) continue;
      const bool there = std::ranges::any_of(
          places->second, [&, &known = reached](const std::string& place) { return known.contains(place); });
      EXPECT_TRUE(there) << name << ": " << word << " without \"" << *places->second.begin() << "\"";
    }
  }
}

// A bug whose place has changed is planted nowhere, and nobody learns whether the tests would find it.
TEST(SourceFiles, EveryMutationStandsOnceInItsFile) {
  const fs::path folder = fs::path(OPSHAP_SOURCE_DIR) / "properties";
  std::string all;
  for (const char* list : {"mutations.txt", "mutations_of_operators.txt", "mutations_of_runs.txt"})
    all += read_file(folder / list) + "\n";
  std::istringstream lines(all);
  std::string name, file, old;
  int mutations = 0;
  const auto check = [&] {
    if (name.empty()) return;
    const std::string text = read_file(fs::path(OPSHAP_SOURCE_DIR) / file);
    const std::size_t first = text.find(old);
    EXPECT_NE(std::string::npos, first) << name << ": not in " << file;
    EXPECT_EQ(std::string::npos, text.find(old, first + 1)) << name << ": twice in " << file;
    ++mutations;
    name.clear();
    old.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) check();
    if (line.starts_with("mutation: ")) name = line;
    if (line.starts_with("file: ")) file = line.substr(6);
    if (line.starts_with('-')) old += (old.empty() ? "" : "\n") + line.substr(1);
  }
  check();
  EXPECT_GT(mutations, 100);
}

/// What git tracks; in a source tree without git, the files that are there, but for what builds and runs write.
std::vector<fs::path> tracked_files() {
  const fs::path root = OPSHAP_SOURCE_DIR;
  std::vector<fs::path> files;
  if (is_there(root / ".git")) {
    FILE* pipe = popen(("git -C '" + root.string() + "' -c safe.directory='*' ls-files -z").c_str(), "r");
    std::string name;
    for (int letter = 0; pipe != nullptr && (letter = std::fgetc(pipe)) != EOF;) {
      if (letter != 0) {
        name += static_cast<char>(letter);
        continue;
      }
      if (is_file(root / name)) files.push_back(root / name);
      name.clear();
    }
    if (pipe != nullptr && pclose(pipe) == 0) return files;
    files.clear();
  }
  static const std::set<std::string> written = {"build", "runs", ".git", ".ccache", "__pycache__"};
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry)
    if (entry->is_directory() && written.contains(entry->path().filename().string()))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file())
      files.push_back(entry->path());
  return files;
}

// A script that builds a target by its name fails for whoever runs it when the target has another name.
TEST(SourceFiles, ScriptsBuildTargetsThatExist) {
  const fs::path rules = fs::path(OPSHAP_BINARY_DIR) / "build.ninja";
  const std::string text = is_there(rules) ? read_file(rules) : "";
  for (const char* part : {"libopshap-networks.so", "bench_"})
    if (text.find(std::string("\nbuild ") + part) == std::string::npos)
      GTEST_SKIP() << "looks at builds of everything by Ninja, as preset release makes them";
  std::set<std::string> targets;
  for (const char* script : {"reproduce", "benchmarks/gpu/run", "tools/try_additions"}) {
    const std::string commands = read_file(fs::path(OPSHAP_SOURCE_DIR) / script);
    for (const char* pattern : {"tools/setup\"? ([a-z_]+)", "--target ([a-z_]+)"})
      targets.merge(all_matches(commands, pattern));
  }
  EXPECT_LE(3u, targets.size());
  for (const std::string& target : targets)
    EXPECT_NE(std::string::npos, text.find("\nbuild " + target + ": ")) << target;
}

// A clone is what everyone pays for: what a run writes and its command makes again stays out (reports/README.md).
TEST(SourceFiles, TrackedFilesStayBelowThirtySixMegabytes) {
  constexpr std::uintmax_t limit = 36'000'000;
  std::uintmax_t bytes = 0;
  for (const fs::path& file : tracked_files()) bytes += fs::file_size(file);
  EXPECT_GT(bytes, 1'000'000u) << "the files were not found";
  EXPECT_LT(bytes, limit);
}

// `opshap report FOLDER` draws the page of a run in a second.
TEST(SourceFiles, OnlyTheJointPagesAreTracked) {
  std::set<std::string> pages;
  for (const fs::path& file : tracked_files())
    if (file.extension() == ".html") pages.insert(file.lexically_relative(OPSHAP_SOURCE_DIR).string());
  EXPECT_EQ((std::set<std::string>{"reports/desk/report.html", "reports/leaderboard/report.html",
                                   "reports/paper/report.html"}),
            pages);
}

// A page that is not kept has no links to it.
TEST(SourceFiles, LinksOfReportsLeadToFiles) {
  const std::string link = "\\]\\(([^)#:]+)(?:#[^)]*)?\\)", reference = "href=\"([^\"#:]+)(?:#[^\"]*)?\"";
  int links = 0;
  for (const fs::path& file : tracked_files()) {
    if (file.extension() != ".md" && file.extension() != ".html") continue;
    const std::string text = read_file(file);
    for (const std::string& expression : {link, reference})
      for (const std::string& name : found_by(expression, text)) {
        ++links;
        EXPECT_TRUE(is_there(file.parent_path() / name)) << file.string() << " links " << name;
      }
  }
  EXPECT_GT(links, 100);
}

}  // namespace
}  // namespace opshap
