// Pictures of an attribution: on every kind of domain each part is drawn once, and the numbers beside them are those of
// the attribution.

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/scenario.hpp"
#include "reporting/field_figures.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// Three rows of four points, cut into triangles.
Mesh triangulation() {
  std::vector<double> points;
  std::vector<std::int64_t> cells;
  for (std::int64_t j = 0; j < 3; ++j) {
    for (std::int64_t i = 0; i < 4; ++i) {
      points.insert(points.end(), {static_cast<double>(i), 0.5 * static_cast<double>(j)});
      if (i == 3 || j == 2) continue;
      const std::int64_t corner = 4 * j + i;
      cells.insert(cells.end(), {corner, corner + 1, corner + 5, corner, corner + 5, corner + 4});
    }
  }
  return Mesh::of_cells(2, std::move(points), std::move(cells));
}

/// A scenario with values that differ at all points; the players are `labels`.
Scenario scenario(const Domain& domain, const std::vector<std::int64_t>& labels, int channels) {
  FieldBatch field = FieldBatch::zeros(domain, 1, channels);
  for (std::size_t i = 0; i < field.values.size(); ++i) field.values[i] = std::sin(1.0 + static_cast<double>(i));
  return make_scenario({.players = ScenarioRule::Players::labels, .labels = labels}, field);
}

/// How often the pattern occurs in the text.
std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), std::sregex_iterator()));
}

/// As gnuplot writes an area of three corners. The boxes of the colour bar have four.
const char* const triangle = R"(<polygon fill = 'rgb[^']*' points = '[^ ']* [^ ']* [^ ']* '/>)";

TEST(AttributionFigures, ATriangleIsDrawnOnceInEachPanel) {
  const Domain domain = Domain::mesh(triangulation());
  const Scenario asked = scenario(domain, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}, 2);
  const std::string svg =
      reporting::attribution_figure(asked, asked.input, "exact", {1, -2}, std::nullopt, reporting::Picture::svg);
  for (const char* title : {"input, channel 0", "input, channel 1", "output, channel 0", "attribution density"})
    EXPECT_NE(std::string::npos, svg.find(title)) << title;
  EXPECT_EQ(4u * 12u, count(svg, triangle));
}

TEST(AttributionFigures, ACloudIsDrawnAsDots) {
  const Domain domain = Domain::mesh(Mesh::of_points(2, {0, 0, 1, 0, 2, 1, 0, 1, 0.5, 0.7}, {1, 1, 1, 1, 1}));
  const Scenario asked = scenario(domain, {0, 1, 2, 3, 4}, 1);
  const std::string svg = reporting::attribution_figure(asked, asked.input, "exact", {1, 2, 3, 4, -5}, std::nullopt,
                                                        reporting::Picture::svg);
  // Three panels of five dots each, and in each panel the ring of the query and no triangle.
  EXPECT_EQ(3u * 5u, count(svg, "<use href='#[a-z0-9-]*gpPt6'"));
  EXPECT_EQ(0u, count(svg, triangle));
}

TEST(AttributionFigures, ALineOfAnyOrderIsDrawnFromLeftToRight) {
  const Domain domain = Domain::mesh(Mesh::of_cells(1, {3, 0, 1, 2}, {1, 2, 2, 3, 3, 0}));
  const Scenario asked = scenario(domain, {0, 1, 2, 3}, 1);
  const std::string svg =
      reporting::attribution_figure(asked, asked.input, "exact", {1, 2, 3, 4}, std::nullopt, reporting::Picture::svg);
  EXPECT_EQ(3u, count(svg, "role=\"img\" aria-labelledby"));
}

TEST(AttributionFigures, TheNumbersAreThoseOfTheAttribution) {
  const Domain domain = Domain::mesh(triangulation());
  const std::vector<std::int64_t> labels = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  const Scenario asked = scenario(domain, labels, 2);
  const std::vector<double> values = {1.5, -2};
  std::istringstream lines(reporting::attribution_numbers(asked, asked.input, values, std::nullopt).csv());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ("x,y,volume,player,input 0,input 1,output,density", line);
  std::vector<double> integrals(2, 0.0);
  for (std::size_t point = 0; point < labels.size(); ++point) {
    std::getline(lines, line);
    std::istringstream cells(line);
    std::vector<double> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    ASSERT_EQ(8u, row.size()) << line;
    const std::vector<double> at = domain.position(static_cast<std::int64_t>(point));
    // The numbers have seven digits.
    const Tolerance digits = rounding(1e-7 * 0x1p52, 4);
    EXPECT_EQ(
        "", mismatch({at[0], at[1], domain.volume(static_cast<std::int64_t>(point)), static_cast<double>(labels[point]),
                      asked.input.values[point], asked.input.values[point + 12], asked.input.values[point]},
                     {row.begin(), row.end() - 1}, digits));
    integrals[static_cast<std::size_t>(labels[point])] += row[2] * row[7];
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
  EXPECT_EQ("", mismatch(values, integrals, rounding(1e-7 * 0x1p52 * 12, 4)))
      << "a player's value is the integral of its density";
}

TEST(AttributionFigures, APictureIsWhatItsFormatSays) {
  const Domain line = Domain::unit({16});
  const Scenario asked = make_scenario({.players = ScenarioRule::Players::blocks, .blocks = 4},
                                       scenario(line, std::vector<std::int64_t>(16, 0), 1).input);
  const std::vector<double> values = {1, 2, 3, -4}, errors = {0.1, 0.2, 0.1, 0.3};
  const auto picture = [&](reporting::Picture format) {
    return reporting::attribution_figure(asked, asked.input, "exact", values, errors, format);
  };
  EXPECT_TRUE(picture(reporting::Picture::pdf).starts_with("%PDF"));
  EXPECT_TRUE(picture(reporting::Picture::png).starts_with("\x89PNG"));
  EXPECT_EQ(reporting::Picture::png, reporting::picture_format(".png"));
  EXPECT_FALSE(reporting::picture_format(".gif"));
}

TEST(AttributionFigures, PlayersWithStandardErrorsHaveBars) {
  const Domain line = Domain::unit({16});
  const Scenario asked = make_scenario({.players = ScenarioRule::Players::blocks, .blocks = 4},
                                       scenario(line, std::vector<std::int64_t>(16, 0), 1).input);
  const std::vector<double> values = {1, 2, 3, -4};
  const auto svg = [&](const std::optional<std::vector<double>>& errors) {
    return reporting::attribution_figure(asked, asked.input, "exact", values, errors, reporting::Picture::svg);
  };
  const std::string dot = "<use href='#[a-z0-9-]*gpPt6'";
  EXPECT_EQ(0u, count(svg(std::nullopt), dot));
  EXPECT_EQ(2 * 4u, count(svg(std::vector<double>{0.1, 0.2, 0.1, 0.3}), dot))
      << "a bar a player, whose dot gnuplot draws twice";
}

TEST(AttributionFigures, GridsAreDrawnAsBefore) {
  const Domain plane = Domain::unit({4, 4});
  const Scenario asked = make_scenario({.players = ScenarioRule::Players::blocks, .blocks = 4},
                                       scenario(plane, std::vector<std::int64_t>(16, 0), 1).input);
  const std::string svg =
      reporting::attribution_figure(asked, asked.input, "exact", {1, 2, 3, 4}, std::nullopt, reporting::Picture::svg);
  EXPECT_EQ(3u, count(svg, "role=\"img\" aria-labelledby"));
  EXPECT_EQ(0u, count(svg, triangle));
}

}  // namespace
}  // namespace opshap
