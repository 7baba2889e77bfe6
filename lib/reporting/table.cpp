#include "reporting/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <stdexcept>

#include "core/error.hpp"

namespace opshap::reporting {

namespace {

constexpr std::string_view thin_space = "\u202F";  // between thousands, for readers only

std::string csv_cell(std::string text) {
  for (std::size_t at; (at = text.find(thin_space)) != std::string::npos;) text.erase(at, thin_space.size());
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return message(std::quoted(text, '"', '"'));
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|' || letter == '\\') cell += '\\';
    cell += letter == '\n' ? ' ' : letter;
  }
  return cell;
}

/// What LaTeX reserves, and the characters outside ASCII that our tables use.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> latex_commands = {{
    {"\\", "\\textbackslash{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "''"},
    {"\n", " "},
    {thin_space, "\\,"},
    {"–", "--"},
    {"×", "\\ensuremath{\\times}"},
    {"−", "\\ensuremath{-}"},
    {"∅", "\\ensuremath{\\emptyset}"},
    {"Σ", "\\ensuremath{\\Sigma}"},
    {"φ", "\\ensuremath{\\varphi}"},
    {"µ", "\\ensuremath{\\mu}"},
    {"²", "\\textsuperscript{2}"},
}};

std::string latex_text(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const auto found =
        std::ranges::find_if(latex_commands, [text](const auto& command) { return text.starts_with(command.first); });
    const bool plain = found == latex_commands.end();
    escaped += plain ? text.substr(0, 1) : found->second;
    text.remove_prefix(plain ? 1 : found->first.size());
  }
  return escaped;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  if (row.size() != columns.size())
    throw std::logic_error(message("table ", name, ": ", row.size(), " cells for ", columns.size(), " columns"));
  if (std::any_of(row.begin(), row.end(), [](const std::string& cell) { return cell.empty(); }))
    throw std::logic_error("table " + name + ": an empty cell");
  rows.push_back(std::move(row));
}

std::string Table::markdown() const {
  std::string text = caption + "\n\n|", rule = "|";
  for (const Column& column : columns) {
    text += fmt::format(" {} |", markdown_cell(column.heading));
    rule += column.number ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : rows) text += fmt::format("| {} |\n", listing(row, markdown_cell, " | "));
  for (const std::string& note : notes) text += "\n" + note + "\n";
  return text;
}

std::string Table::latex() const {
  constexpr std::size_t most_rows_of_a_page = 40, longest_line = 40;
  std::string kinds, heading, body;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    // Sentences in a cell need a column that breaks lines.
    const bool sentences = std::ranges::any_of(rows, [i](const auto& row) { return row[i].size() > longest_line; });
    kinds += sentences ? "p{0.3\\linewidth}" : columns[i].number ? "r" : "l";
    heading += (i > 0 ? " & " : "") + latex_text(columns[i].heading);
  }
  for (const auto& row : rows) body += listing(row, latex_text, " & ") + " \\\\\n";
  std::string below;
  for (const std::string& note : notes) below += "\\par\\smallskip{\\footnotesize " + latex_text(note) + "\\par}\n";
  const std::string titles = fmt::format("\\caption{{{}}}\\label{{tab:{}}}", latex_text(caption), name),
                    head = "\\toprule\n" + heading + " \\\\\n\\midrule\n";
  if (rows.size() > most_rows_of_a_page) {
    return fmt::format(
        "% needs \\usepackage{{booktabs,longtable}}\n\\begin{{longtable}}{{{}}}\n{} "
        "\\\\\n{}\\endhead\n{}\\bottomrule\n\\end{{longtable}}\n{}",
        kinds, titles, head, body, below);
  }
  return fmt::format(
      "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n{}\n\\begin{{tabular}}{{{}}}\n{}{}"
      "\\bottomrule\n\\end{{tabular}}\n{}\\end{{table}}\n",
      titles, kinds, head, body, below);
}

std::string Table::csv() const {
  // No cell is empty (add()), so listing() leaves none out.
  const auto heading = [](const Column& column) { return csv_cell(column.heading); };
  std::string text = listing(columns, heading, ",") + "\n";
  for (const auto& row : rows) text += listing(row, csv_cell, ",") + "\n";
  return text;
}

Html Table::html() const {
  const bool stacks = columns.size() > 4;
  Html body;
  for (std::size_t line = 0; line < rows.size(); ++line) {
    Html cells;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& text = rows[line][i];
      // Words in a column of numbers (why there is none) may be broken over lines, numbers may not.
      const bool words =
          std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text.find("undefined") != std::string::npos;
      const char* opening = !columns[i].number ? "td" : words ? "td.number.words" : "td.number";
      cells += stacks ? element(opening, Attribute{"data-label", columns[i].heading}, text) : element(opening, text);
    }
    const bool same_group = line > 0 && rows[line][0] == rows[line - 1][0];
    body += element(same_group ? "tr.same" : "tr", cells);
  }
  return table_box(stacks ? ".stacks" : "", caption, table_head(columns) + element("tbody", body)) +
         each(notes, [](const std::string& note) { return element("p.note", note); });
}

Html Table::html_with_caption() const {
  if (rows.empty()) return element("p.quiet", caption, " Not in this run.");
  return element("p.quiet", caption) + html();
}

std::string show(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 0.000095 || !(size < 9999.5)) return fmt::format("{:.1e}", value);
  const int decimals = size < 0.00095 ? 5 : size < 0.0095 ? 4 : size < 9.9995 ? 3 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string show(const statistics::Quartiles& quartiles) {
  return fmt::format("{} [{}, {}]", show(quartiles.median), show(quartiles.q25), show(quartiles.q75));
}

std::string show(const std::optional<statistics::Quartiles>& quartiles, std::string_view otherwise) {
  return quartiles ? show(*quartiles) : std::string(otherwise);
}

std::string show_count(double count) {
  const std::string digits = fmt::format("{:.0f}", count);
  std::string spaced;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') spaced += thin_space;
    spaced += digits[i];
  }
  return spaced;
}

std::string show_seconds(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1000 * seconds);
  if (seconds < 99.5) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace opshap::reporting
