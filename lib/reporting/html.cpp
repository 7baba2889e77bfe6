#include "reporting/html.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "reporting/embedded.hpp"

namespace opshap::reporting {

namespace {

/// Elements behind which a line break changes nothing that a reader sees.
constexpr std::array<std::string_view, 32> block_elements = {
    "html",  "head",  "meta", "title",      "style",  "body",    "header",  "main",   "footer", "section", "article",
    "nav",   "div",   "h1",   "h2",         "h3",     "p",       "ol",      "ul",     "li",     "dl",      "table",
    "thead", "tbody", "tr",   "figcaption", "figure", "details", "summary", "script", "dt",     "dd"};

/// What stands in a page for the characters of its markup.
constexpr std::array<std::pair<char, std::string_view>, 5> entities = {
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    const auto entity = std::ranges::find(entities, letter, &std::pair<char, std::string_view>::first);
    if (entity != entities.end()) {
      escaped += entity->second;
    } else if (static_cast<unsigned char>(letter) < 32 && letter != '\n' && letter != '\t') {
      escaped += "\xEF\xBF\xBD";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

Html Html::raw(std::string markup) {
  Html html;
  html.markup_ = std::move(markup);
  return html;
}

Html& Html::operator+=(const Html& more) {
  markup_ += more.markup_;
  return *this;
}

Html operator+(Html first, const Html& second) { return first += second; }

ElementBuilder::ElementBuilder(std::string_view opening)
    : name_(opening.substr(0, opening.find_first_of("#."))), markup_("<" + name_) {
  const std::string_view head = opening.substr(0, opening.find('.'));  // name and id
  std::string classes(opening.substr(head.size()));
  std::ranges::replace(classes, '.', ' ');
  if (head != name_) add(Attribute{"id", std::string(head.substr(name_.size() + 1))});
  if (!classes.empty()) add(Attribute{"class", classes.substr(1)});
}

void ElementBuilder::add(const Attribute& attribute) {
  if (!open_) throw std::logic_error("html: attribute " + attribute.name + " of " + name_ + " behind its content");
  markup_ += " " + attribute.name;
  if (!attribute.value.empty()) markup_ += "=\"" + escape_markup(attribute.value) + "\"";
}

void ElementBuilder::add(const Html& content) {
  if (open_) markup_ += '>';
  open_ = false;
  markup_ += content.markup();
}

Html ElementBuilder::close() {
  if (open_) markup_ += '>';
  if (name_ != "meta") markup_ += "</" + name_ + ">";
  if (std::ranges::find(block_elements, name_) != block_elements.end()) markup_ += '\n';
  return Html::raw(std::move(markup_));
}

Html table_box(std::string_view box, std::string_view label, const Html& table) {
  const std::string opening = "div.wide" + std::string(box);
  const Attribute reachable{"tabindex", "0"};
  if (label.empty()) return element(opening, reachable, element("table", table));
  return element(opening, reachable, Attribute{"role", "region"}, Attribute{"aria-label", std::string(label)},
                 element("table", table));
}

Html table_head(const std::vector<Column>& columns) {
  return element(
      "thead", element("tr", each(columns, [](const Column& column) {
                         return element(column.number ? "th.number" : "th", Attribute{"scope", "col"}, column.heading);
                       })));
}

Html document(std::string_view title, const Html& header, const Html& main, const Html& footer, const Html& behind) {
  const Html head = element(
      "head", element("meta", Attribute{"charset", "utf-8"}),
      element("meta", Attribute{"name", "viewport"}, Attribute{"content", "width=device-width, initial-scale=1"}),
      element("title", title), element("style", Html::raw(std::string(embedded::report_style))));
  Html body = element("header", header) + element("main", main);
  if (!footer.empty()) body += element("footer", element("p", footer));
  return Html::raw("<!DOCTYPE html>\n") +
         element("html", Attribute{"lang", "en"}, head, element("body", body + behind));
}

Html navigation(const Links& links) {
  return element("nav", Attribute{"aria-label", "Sections"}, each(links, [](const auto& link) {
                   return element("a", Attribute{"href", link.first}, link.second);
                 }));
}

}  // namespace opshap::reporting
