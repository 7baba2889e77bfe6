// What is made from the tables of the commands: completion in shells and manual pages.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "cli/command_table.hpp"
#include "core/rng.hpp"
#include "support/program.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

class CommandTables : public Program {
 protected:
  /// What bash offers at the end of a command line.
  std::string completed(const std::string& words) const {
    const std::string script = file("complete.sh", script_ + "COMP_WORDS=(" + words +
                                                       ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_opshap\n"
                                                       "echo \"${COMPREPLY[*]}\"\n");
    const Outcome outcome = shell("cd " + path(".") + " && bash " + script);
    EXPECT_EQ(0, outcome.code) << outcome.err;
    EXPECT_EQ("", outcome.err);
    return outcome.out;
  }
  std::string script_;  ///< for bash
  static bool has(const std::string& words, const std::string& word) {
    return (" " + words).find(" " + word) != std::string::npos;
  }
};

TEST_F(CommandTables, BashCompletesCommandsOptionsAndValues) {
  script_ = opshap("completion bash").out;
  EXPECT_EQ("data\n", completed("opshap da"));
  EXPECT_EQ("import info\n", completed("opshap data i"));
  EXPECT_EQ("--periodic\n", completed("opshap data import npy --per"));
  EXPECT_EQ("node cell\n", completed("opshap data import npy --centring ''"));
  EXPECT_EQ("bash\n", completed("opshap completion b"));
  EXPECT_TRUE(has(completed("opshap attribute --method perm"), "permutation_antithetic"));
  EXPECT_TRUE(has(completed("opshap attribute --o"), "--out")) << "an option of every command that applies";
  EXPECT_FALSE(has(completed("opshap list --o"), "--out")) << "one that does not";
  file("fields.npy", "");
  EXPECT_EQ("fields.npy\n", completed("opshap data import npy --input fie"));
  EXPECT_EQ("backbone\n", completed("opshap train b"));
  EXPECT_TRUE(has(completed("opshap reproduce --"), "--dry-run"));
}

TEST_F(CommandTables, EveryShellLearnsEveryCommandAndOption) {
  for (const char* shell_name : {"bash", "zsh", "fish"}) {
    const Outcome script = opshap(std::string("completion ") + shell_name);
    ASSERT_EQ(0, script.code) << script.err;
    for (const char* word : {"import", "skip-nonfinite", "permutation_antithetic", "golden"})
      EXPECT_NE(std::string::npos, script.out.find(word)) << shell_name << " " << word;
  }
  expect_refusal("completion tcsh", 2, "shell");
}

// Every command has a page, and every option an entry in it. groff reads the pages without a warning. --help is made by
// CLI11 from the same application, and takes a start of the program for each command: eight are drawn.
TEST_F(CommandTables, EveryCommandHasAManualPage) {
  ASSERT_EQ(0, opshap("man --out " + path("pages")).code);
  std::vector<std::string> commands;
  for (const auto& page : std::filesystem::directory_iterator(path("pages"))) {
    std::string command = page.path().stem().string().substr(std::string("opshap").size());
    std::replace(command.begin(), command.end(), '-', ' ');
    commands.push_back(command);
  }
  std::sort(commands.begin(), commands.end());
  EXPECT_GT(commands.size(), 20u);
  Rng rng(test_seed(), "commands with a page");
  std::vector<int> order(commands.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(std::span(order).subspan(1));  // the first is the program itself, which lists the others
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string& command = commands[static_cast<std::size_t>(order[i])];
    const std::string page =
        read_file(path("pages/" + cli::page_name(command.empty() ? "" : command.substr(1)) + ".1"));
    EXPECT_NE(std::string::npos, page.find(".SH SYNOPSIS")) << command;
    const Outcome help = opshap(command + " --help");
    ASSERT_EQ(0, help.code) << command;
    static const std::regex option("\n  (?:-[a-z],)?(--[a-z-]+)"), sub("\n  ([a-z]+)  ");
    for (std::sregex_iterator found(help.out.begin(), help.out.end(), option), end; found != end; ++found) {
      const std::string name = std::regex_replace((*found)[1].str(), std::regex("-"), "\\-");
      EXPECT_NE(std::string::npos, page.find(name)) << command << ": " << name;
    }
    const std::size_t listed = help.out.find("\nSubcommands:");
    if (listed == std::string::npos) continue;
    const std::string rest = help.out.substr(listed);
    for (std::sregex_iterator found(rest.begin(), rest.end(), sub), end; found != end; ++found)
      EXPECT_TRUE(std::ranges::binary_search(commands, command + " " + (*found)[1].str())) << command;
  }
  if (shell("command -v groff").code == 0) {
    EXPECT_EQ("", shell("cd " + path("pages") + " && groff -man -ww -K utf8 -T utf8 *.1 > /dev/null").err);
  }
  EXPECT_EQ(read_file(path("pages/opshap-data-import-npy.1")), opshap("man data import npy").out);
  expect_refusal("man data improt", 2, "man: command=data improt (not one of opshap). Did you mean data import?");
}

// A text that roff would read as a command, and letters that shells read.
TEST(CommandTable, TextsAreOnlyTexts) {
  const cli::CommandTable table{
      .name = "opshap",
      .summary = "all",
      .options = {},
      .commands = {{.name = "one",
                    .summary = ".so it's \\begin",
                    .options = {{.names = {"--mode"}, .takes_value = true, .choices = {"a", "b"}, .meaning = "'it's"}},
                    .commands = {}}}};
  const std::string page = cli::man_page(table, "one");
  EXPECT_NE(std::string::npos, page.find("opshap\\-one \\- \\&.so it's \\ebegin\n")) << page;
  EXPECT_NE(std::string::npos, page.find("\n\\&'it's\n")) << page;
  EXPECT_NE(std::string::npos, cli::fish_completion(table).find("-d '.so it\\'s \\\\begin'"));
}

}  // namespace
}  // namespace opshap
