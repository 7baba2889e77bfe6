#include "reporting/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "core/error.hpp"

namespace opshap::reporting {

namespace {

constexpr std::string_view thin_space = "\u202F";  // between thousands, for readers only

std::string csv_cell(std::string text) {
  for (std::size_t at; (at = text.find(thin_space)) != std::string::npos;) text.erase(at, thin_space.size());
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|' || letter == '\\') cell += '\\';
    cell += letter == '\n' ? ' ' : letter;
  }
  return cell;
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
  for (const auto& row : rows) {
    text += "|";
    for (const std::string& cell : row) text += fmt::format(" {} |", markdown_cell(cell));
    text += "\n";
  }
  for (const std::string& note : notes) text += "\n" + note + "\n";
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += fmt::format("{}{}", i > 0 ? "," : "", csv_cell(columns[i].heading));
  text += "\n";
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("{}{}", i > 0 ? "," : "", csv_cell(row[i]));
    text += "\n";
  }
  return text;
}

std::string Table::html() const {
  const bool stacks = columns.size() > 4;
  std::string text =
      fmt::format("<div class=\"wide{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
                  stacks ? " stacks" : "", escape_markup(caption));
  for (const Column& column : columns)
    text += std::string("<th scope=\"col\"") + (column.number ? " class=\"number\">" : ">") +
            escape_markup(column.heading) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t line = 0; line < rows.size(); ++line) {
    const bool same_group = line > 0 && rows[line][0] == rows[line - 1][0];
    text += same_group ? "<tr class=\"same\">" : "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      // Words in a column of numbers (why there is none) may be broken over lines, numbers may not.
      const bool words = std::isalpha(static_cast<unsigned char>(rows[line][i][0])) != 0 ||
                         rows[line][i].find("undefined") != std::string::npos;
      const std::string label =
          stacks ? fmt::format(" data-label=\"{}\"", escape_markup(columns[i].heading)) : std::string();
      text += fmt::format("<td{}{}>{}</td>",
                          !columns[i].number ? ""
                          : words            ? " class=\"number words\""
                                             : " class=\"number\"",
                          label, escape_markup(rows[line][i]));
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  for (const std::string& note : notes) text += "<p class=\"note\">" + escape_markup(note) + "</p>\n";
  return text;
}

std::string Table::html_with_caption() const {
  const std::string shown = "<p class=\"quiet\">" + escape_markup(caption);
  return rows.empty() ? shown + " Not in this run.</p>\n" : shown + "</p>\n" + html();
}

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(letter) < 32 && letter != '\n' && letter != '\t') {
          escaped += "\xEF\xBF\xBD";
        } else {
          escaped += letter;
        }
    }
  }
  return escaped;
}

std::string show(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 0.000095) return fmt::format("{:.1e}", value);
  if (size < 0.00095) return fmt::format("{:.5f}", value);
  if (size < 0.0095) return fmt::format("{:.4f}", value);
  return size < 99.95    ? fmt::format("{:.3f}", value)
         : size < 9999.5 ? fmt::format("{:.0f}", value)
                         : fmt::format("{:.1e}", value);
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
