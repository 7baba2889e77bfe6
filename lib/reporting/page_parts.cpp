#include "reporting/page_parts.hpp"

#include <fmt/format.h>

#include "reporting/embedded.hpp"
#include "reporting/legend.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

/// A page has tables that somebody may read; longer ones are what the CSV beside it is for.
constexpr std::size_t most_rows = 300;

std::string numbers_html(const DrawnFigure& drawn) {
  const Table& numbers = drawn.figure.numbers;
  if (numbers.rows.size() <= most_rows) return numbers.html();
  return fmt::format("<p class=\"quiet\">{} rows, in {}.</p>\n", numbers.rows.size(), escape_markup(drawn.numbers_in));
}

/// On a wide page the legend of one or two panels stands beside them.
std::string panels_and_legend(const DrawnFigure& drawn) {
  return fmt::format("<div class=\"drawing{}\">\n{}{}</div>\n", columns_of(drawn.panels.size()) < 3 ? " beside" : "",
                     panels_html(drawn.panels), legend_html(drawn.figure.legend));
}

}  // namespace

std::string page_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      escape_markup(title), embedded::report_style);
}

std::string fact(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", value.size() > 60 ? " class=\"long\"" : "",
                     escape_markup(name), escape_markup(value));
}

std::string commits_in_words(const runs::Run& run) {
  std::vector<std::string> commits;
  for (const runs::Sitting& sitting : run.sittings) {
    if (sitting.commit.empty()) continue;
    const std::string commit = sitting.commit.substr(0, 12) + (sitting.dirty ? ", with uncommitted changes" : "");
    if (commits.empty() || commits.back() != commit) commits.push_back(commit);
  }
  if (commits.size() < 2) return commits.empty() ? "" : commits.front();
  return fmt::format("{} at the end, {} at the start ({} sittings)", commits.back(), commits.front(),
                     run.sittings.size());
}

std::string figure_html(const DrawnFigure& drawn) {
  const Figure& figure = drawn.figure;
  if (!figure.rows_kept) {
    return fmt::format(
        "<figure class=\"absent\" id=\"figure-{}\"><h3>{}</h3><figcaption>Not drawn: {}. {}</figcaption></figure>\n",
        drawn.name, escape_markup(figure.title), escape_markup(figure.missing),
        drawn.earlier_drawing.empty() ? "There is no earlier drawing either."
                                      : fmt::format("The drawing of an earlier report is in <code>{}</code>.",
                                                    escape_markup(drawn.earlier_drawing)));
  }
  if (!figure.missing.empty()) {
    return fmt::format(
        "<figure class=\"absent\" id=\"figure-{}\"><h3>{}</h3><figcaption>Not in this profile: "
        "{}.</figcaption></figure>\n",
        drawn.name, escape_markup(figure.title), escape_markup(figure.missing));
  }
  std::string text = fmt::format("<figure id=\"figure-{}\">\n<h3>{}</h3>\n<figcaption>{}</figcaption>\n{}", drawn.name,
                                 escape_markup(figure.title), escape_markup(figure.finding), panels_and_legend(drawn));
  text += "<details><summary>Numbers of this figure</summary>\n<p class=\"quiet\">" +
          escape_markup(figure.numbers.caption) + "</p>\n" + numbers_html(drawn) + "</details>\n";
  return text + "</figure>\n";
}

std::string panels_html(const std::vector<std::string>& panels) {
  std::string text = fmt::format("<div class=\"panels in-{}\">\n", columns_of(panels.size()));
  for (const std::string& panel : panels) text += "<div>" + panel + "</div>\n";
  return text + "</div>\n";
}

std::string key_value_table(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text = "<div class=\"wide\" tabindex=\"0\"><table><tbody>\n";
  for (const auto& [key, value] : pairs) {
    const bool lines = value.find('\n') != std::string::npos;
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}{}{}</td></tr>\n", escape_markup(key), lines ? "<pre>" : "",
                        escape_markup(value), lines ? "</pre>" : "");
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace opshap::reporting
