// What `cmake --install` leaves serves a project that knows nothing of this tree.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/npy.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using Installation = Program;

TEST_F(Installation, ServesAProjectWithAnEstimatorOfItsOwn) {
  const std::string installed = path("installed"), build = path("build");
  ended("cmake --install " OPSHAP_BINARY_DIR " --prefix " + installed);
  ended("cmake -S " OPSHAP_SOURCE_DIR "/properties/consumer -B " + build +
        " -G Ninja -DCMAKE_PREFIX_PATH=" + installed + " && cmake --build " + build);

  const std::vector<std::string> rows = parts_of(ended(build + "/consumer").out);
  for (const std::string& line : rows) {
    const auto row = nlohmann::json::parse(line);
    // Pairs are what the consumer's estimator promises to be exact on; one that samples orderings is not.
    if (row["method"] == "first_and_last")
      EXPECT_EQ("guarantee", row["exact"]) << line;
    else
      EXPECT_GT(row["nrmse"].get<double>(), 1e-3) << line;
  }
  EXPECT_EQ(6u, rows.size());

  EXPECT_TRUE(has(ended(installed + "/bin/opshap list estimators").out, "kernel_shap_paired"));
  for (const char* page : {"opshap.1", "opshap-attribute.1", "opshap-data-import-npy.1"})
    EXPECT_TRUE(is_file(installed + "/share/man/man1/" + page)) << page;
#ifdef OPSHAP_WITH_NETWORKS
  // The trained operator of the suites is installed with the program.
  const std::string suite = file("fno.toml",
                                 "summary = 'one game'\nrepeats = 1\nbudgets = '32'\n[[games]]\nname = 'fno'\n"
                                 "operator = 'burgers1d.safetensors'\nproblem = 'burgers1d'\nplayers = [16]\n");
  ended(installed + "/bin/opshap compare --suite " + suite + " --methods msr -q --out " + path("board"));
#endif
}

#ifdef OPSHAP_WITH_NETWORKS
TEST_F(Installation, MayBeMovedAndItsThreeFilesToo) {
  const std::string installed = path("installed"), moved = path("moved"), flat = path("flat");
  ended("cmake --install " OPSHAP_BINARY_DIR " --prefix " + installed + " && mv " + installed + " " + moved +
        " && mkdir " + flat + " && cp " + moved + "/bin/opshap $(find " + moved + "/lib -name 'libopshap*.so') " +
        flat);
  data::write_npy(path("u.npy"), {{1, 16}, data::Dtype::float64, std::vector<double>(16, 0.5)});
  const std::string asked = " attribute --operator " + moved +
                            "/share/opshap/operators/burgers1d.safetensors --query 8 --json --input " + path("u.npy");
  ended(moved + "/bin/opshap" + asked);
  ended(flat + "/opshap" + asked);

  // A library of another build, one that is none, and none at all.
  const std::string library = flat + "/libopshap-networks.so";
  file("other.cpp",
       "struct Entry { const char* build; const void* networks; };\n"
       "extern \"C\" Entry opshap_networks() { return {\"0123456789ab\", nullptr}; }\n");
  ended("g++ -w -shared -fPIC -o " + library + " " + path("other.cpp"));
  const auto refused = [&](const std::string& why) {
    EXPECT_TRUE(has(ended(flat + "/opshap" + asked, 4).err, {why, "opshap: library=" + library + " ("}));
  };
  refused("is of another build, 0123456789ab, not ");
  write_file(library, "no library");
  refused("file too short");
  std::filesystem::remove(library);
  refused("cannot open shared object file");
  ended(flat + "/opshap attribute --game unanimity_sum --players 4");  // what needs no network
}
#endif

TEST(Readme, ShowsTheLinesOfTheConsumer) {
  const std::string page = read_file(OPSHAP_SOURCE_DIR "/docs/build.md"),
                    project = read_file(OPSHAP_SOURCE_DIR "/properties/consumer/CMakeLists.txt");
  const std::size_t from = page.find("```cmake\n");
  ASSERT_NE(std::string::npos, from);
  const std::vector<std::string> lines = parts_of(page.substr(from + 9, page.find("```", from + 9) - from - 9));
  for (const std::string& line : lines) EXPECT_TRUE(has(project, line + "\n")) << line;
  EXPECT_EQ(3u, lines.size());
}

TEST_F(Installation, RefusesAFolderThatIsNotThere) {
  const std::string installed = path("installed");
  ended("cmake --install " OPSHAP_BINARY_DIR " --prefix " + installed);
  std::filesystem::create_directories(path("asker"));
  file("asker/CMakeLists.txt",
       "cmake_minimum_required(VERSION 3.25)\nproject(asker LANGUAGES C CXX)\n"
       "find_package(opshap REQUIRED COMPONENTS core estimator)\n");
  const Outcome outcome =
      shell("cmake -S " + path("asker") + " -B " + path("asker/build") + " -G Ninja -DCMAKE_PREFIX_PATH=" + installed);
  EXPECT_NE(0, outcome.code);
  EXPECT_TRUE(has(outcome.err, "COMPONENTS estimator (installed are:"));
}

}  // namespace
}  // namespace opshap
