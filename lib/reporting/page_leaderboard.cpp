#include "reporting/page_leaderboard.hpp"

#include <fmt/format.h>

namespace opshap::reporting {

namespace {

std::string leaders(const AccessClass& of) {
  const Standing& first = of.standings.front();
  std::string text = fmt::format("<li>{}: <strong>{}</strong> leads with a mean rank of {} among {}", heading(of),
                                 escape_markup(first.method), show(first.overall), of.standings.size());
  std::vector<std::string> close;
  for (const Standing& other : of.standings) {
    if (&other != &first && other.overall.low <= first.overall.high) close.push_back(escape_markup(other.method));
  }
  if (!close.empty()) text += fmt::format("; the interval of {} meets its own", fmt::join(close, ", "));
  return text + ".</li>\n";
}

std::string header(const LeaderboardContents& contents) {
  std::string text = "<header>\n<p class=\"overline\">OperatorSHAP, leaderboard</p>\n";
  text += fmt::format("<h1>Suite {}</h1>\n<p class=\"lead\">{}</p>\n", escape_markup(contents.suite),
                      escape_markup(contents.summary));
  text += "<ol class=\"sentences\">\n";
  for (const AccessClass& of : contents.board.classes()) text += leaders(of);
  text += "</ol>\n";
  text += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : contents.facts) text += fact(name, value);
  text += "</dl>\n<nav aria-label=\"Sections\"><a href=\"#ranks\">Ranks</a>";
  if (contents.changes) text += "<a href=\"#changes\">Since the baseline</a>";
  return text +
         "<a href=\"#curves\">Error against budget</a><a href=\"#cost\">Cost</a><a href=\"#lost\">Runs without an "
         "answer</a><a href=\"#versions\">Versions</a></nav>\n</header>\n";
}

/// Where a method misses what its declaration says.
std::string declarations(const Leaderboard& board) {
  std::string missed;
  for (const LeaderboardGame& game : board.games()) {
    for (const std::string& method : game.comparison->less_exact_than_declared())
      missed += fmt::format("<li>{}: {}</li>\n", escape_markup(game.name), escape_markup(method));
  }
  if (missed.empty()) return "";
  return "<h3>Less exact than declared</h3>\n<p>The declaration of a program is in its plugin.toml, which need not be "
         "by "
         "the author of the method.</p>\n<ul class=\"plain\">\n" +
         missed + "</ul>\n";
}

std::string ranks_section(const Leaderboard& board) {
  std::string text =
      "<section id=\"ranks\">\n<h2>Ranks</h2>\n<ul class=\"plain\">\n"
      "<li>A budget is the number of distinct coalitions, the empty and the grand one among them. The game counts "
      "them, not the method.</li>\n"
      "<li>Methods are ranked among those that see the same. Every game at every budget counts alike.</li>\n"
      "<li>Methods that are exact share the first rank. A run that did not finish is behind all others. A refusal has "
      "no rank and stands in a table of its own.</li>\n"
      "<li>An interval says how sure a rank is on these games at these budgets. It says nothing about other "
      "games.</li>\n</ul>\n";
  if (board.classes().empty()) text += "<p>Nobody is ranked: every method is exact wherever it answers.</p>\n";
  for (const AccessClass& of : board.classes()) {
    text += "<h3>" + heading(of) + "</h3>\n" + board.ranking(of).html_with_caption();
    text +=
        "<details><summary>Game by game</summary>\n" + board.ranking_by_game(of).html_with_caption() + "</details>\n";
  }
  return text + "</section>\n";
}

std::string changes_section(const LeaderboardContents& contents) {
  if (!contents.changes) return "";
  std::string text =
      "<section id=\"changes\">\n<h2>Since the baseline</h2>\n<p>Runs of the same game, budget and repeat are pairs. "
      "The ratio is that of today's error to the baseline's, as a geometric mean over the pairs with a 95 % interval "
      "of the bootstrap.</p>\n<ul class=\"plain\">\n";
  for (const std::string& line : contents.changes->lines()) text += "<li>" + escape_markup(line) + "</li>\n";
  return text + "</ul>\n</section>\n";
}

std::string curves_section(const std::vector<DrawnFigure>& curves) {
  std::string text =
      "<section id=\"curves\">\n<h2>Error against budget</h2>\n<p>Each game has a folder of its own with these "
      "numbers, "
      "all rows and the drawing.</p>\n";
  for (const DrawnFigure& drawn : curves) text += figure_html(drawn);
  return text + "</section>\n";
}

}  // namespace

std::string leaderboard_page(const LeaderboardContents& contents) {
  const Leaderboard& board = contents.board;
  std::string versions = key_value_table(contents.origin);
  if (!contents.peers.rows.empty()) versions = contents.peers.html_with_caption() + versions;
  return page_head("OperatorSHAP leaderboard, suite " + contents.suite) + header(contents) + "<main>\n" +
         ranks_section(board) + changes_section(contents) + curves_section(contents.curves) +
         "<section id=\"cost\">\n<h2>Cost</h2>\n" + board.cost().html_with_caption() +
         "</section>\n<section id=\"lost\">\n<h2>Runs without an answer</h2>\n<h3>Did not finish</h3>\n" +
         board.unfinished().html_with_caption() + "<h3>Refused</h3>\n" + board.refused().html_with_caption() +
         declarations(board) + "</section>\n<section id=\"versions\">\n<h2>Versions and settings</h2>\n" + versions +
         "</section>\n</main>\n<footer><p>Written by <code>opshap compare --suite</code> from the rows of its games "
         "alone.</p></footer>\n</body>\n</html>\n";
}

}  // namespace opshap::reporting
