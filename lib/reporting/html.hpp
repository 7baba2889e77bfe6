#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opshap::reporting {

/// & < > " ' as entities, and characters that neither HTML nor XML allows as U+FFFD.
std::string escape_markup(std::string_view text);

/// A piece of a page. Text that becomes a piece is escaped, so markup comes from element() alone. What gnuplot has
/// drawn and a style sheet come in by raw().
class Html {
 public:
  Html() = default;
  // NOLINTBEGIN(google-explicit-constructor): text stands among the parts of an element as it is
  template <std::convertible_to<std::string_view> Text>
  Html(const Text& text) : markup_(escape_markup(text)) {}
  // NOLINTEND(google-explicit-constructor)
  static Html raw(std::string markup);

  Html& operator+=(const Html& more);
  bool empty() const { return markup_.empty(); }
  /// As it stands in the file.
  const std::string& markup() const { return markup_; }

 private:
  std::string markup_;
};

Html operator+(Html first, const Html& second);

/// An attribute of an element, before the element's content; without a value the name alone.
struct Attribute {
  std::string name, value;
};

/// An element with its attributes and its content, in this order. `opening` is a name, an id and classes as a style
/// sheet writes them: "section#claims", "td.number.words". What stands as a block ends with a line break.
template <typename... Parts>
Html element(std::string_view opening, const Parts&... parts);

/// The pieces that `make` gives for the things, one after the other.
template <typename Things, typename Make>
Html each(const Things& things, const Make& make) {
  Html all;
  for (const auto& thing : things) all += std::invoke(make, thing);
  return all;
}

/// A table in a box that scrolls by itself. `box` has further classes: ".stacks". Without a label the box has none.
Html table_box(std::string_view box, std::string_view label, const Html& table);

/// A column of a table: its heading, and whether its cells are numbers (then they are set to the right).
struct Column {
  std::string heading;
  bool number = false;
};
/// The row of the headings.
Html table_head(const std::vector<Column>& columns);

/// A whole page with the style in it. An empty footer is left out; `behind` comes after it.
Html document(std::string_view title, const Html& header, const Html& main, const Html& footer = {},
              const Html& behind = {});

/// "#claims" and what the link is called.
using Links = std::vector<std::pair<std::string, std::string>>;
Html navigation(const Links& links);

/// Implementation of element().
class ElementBuilder {
 public:
  explicit ElementBuilder(std::string_view opening);
  void add(const Attribute& attribute);
  void add(const Html& content);
  Html close();

 private:
  std::string name_, markup_;
  bool open_ = true;  ///< attributes may follow
};

template <typename... Parts>
Html element(std::string_view opening, const Parts&... parts) {
  ElementBuilder builder(opening);
  (builder.add(parts), ...);
  return builder.close();
}

}  // namespace opshap::reporting
