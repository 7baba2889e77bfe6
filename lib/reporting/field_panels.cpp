#include "reporting/field_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "reporting/axes.hpp"
#include "reporting/figures.hpp"

namespace opshap::reporting::figures {

namespace {

/// Half a cell beyond the first and the last point; an axis of one point gets a cell of size 1.
std::pair<double, double> cell_range(const std::vector<double>& points) {
  const double half =
      points.size() < 2 ? 0.5 : (points.back() - points.front()) / static_cast<double>(points.size() - 1) / 2;
  return {points.front() - half, points.back() + half};
}

std::string range_command(std::string_view axis, const std::vector<double>& points) {
  const auto [low, high] = cell_range(points);
  return linear_axis(axis, low, high);
}

}  // namespace

std::vector<double> coordinates(const runs::FieldsRow& grid, int axis) {
  auto begin = grid.x.begin();
  for (int before = 0; before < axis; ++before) begin += grid.shape[static_cast<std::size_t>(before)];
  return {begin, begin + grid.shape[static_cast<std::size_t>(axis)]};
}

std::vector<double> density(const runs::FieldsRow& grid, const std::vector<double>& values) {
  require<DataError>(static_cast<int>(values.size()) == grid.players(), "figures: values=", values.size(),
                     " (the stored field has ", grid.players(), " players). Run the evaluation again.");
  const auto points = static_cast<std::size_t>(runs::points_of(grid.shape));
  std::vector<double> share(values.size(), grid.player_of.empty() ? 1 : 0);
  for (const int player : grid.player_of) ++share[static_cast<std::size_t>(player)];
  std::vector<double> density;
  for (std::size_t point = 0; point < points; ++point) {
    const std::size_t player = grid.player_of.empty() ? point : static_cast<std::size_t>(grid.player_of[point]);
    density.push_back(values[player] * static_cast<double>(points) / share[player]);
  }
  return density;
}

std::vector<double> channel(const runs::FieldsRow& grid, const std::vector<double>& values, int index) {
  const auto points = static_cast<std::ptrdiff_t>(runs::points_of(grid.shape));
  return {values.begin() + index * points, values.begin() + (index + 1) * points};
}

Panel curves_panel(const runs::FieldsRow& grid, std::string id, std::string title, std::string description,
                   const std::string& label, const std::vector<Curve>& curves) {
  const std::vector<double> x = coordinates(grid, 0);
  std::string data, plots;
  std::vector<double> heights;
  for (const Curve& curve : curves) heights.insert(heights.end(), curve.values.begin(), curve.values.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    data += digits(x[i]);
    for (const Curve& curve : curves) data += " " + digits(curve.values[i]);
    data += "\n";
  }
  for (std::size_t i = 0; i < curves.size(); ++i)
    plots += fmt::format("{}$data using 1:{} {}", i == 0 ? "" : ", ", i + 2, curves[i].style);
  std::string query;
  if (!grid.query.empty()) {
    query = fmt::format("set arrow from {0}, graph 0 to {0}, graph 1 nohead dt 3 lw 1 lc rgb '#808080'\n",
                        digits(grid.query.front()));
  }
  return {.id = std::move(id),
          .title = std::move(title),
          .description = std::move(description),
          .script = query + "set xlabel 'x'\n" + range_command("x", x) + linear_axis("y", heights) + "set ylabel " +
                    quote_for_gnuplot(label) + "\nset xzeroaxis lw 0.8 lc rgb 'black'\n$data << EOD\n" + data +
                    "EOD\nplot " + plots + "\n"};
}

std::string signed_colours(double full) {
  return fmt::format(
      "set xlabel 'x'\nset ylabel 'y'\nset size ratio -1\nset palette defined (-1 '#2166AC', -0.5 '#92C5DE', 0 "
      "'#F7F7F7', 0.5 '#F4A582', 1 '#B2182B')\nset style fill solid 1\n{}unset grid\n",
      linear_axis("cb", -full, full));
}

Panel heat_map_panel(const runs::FieldsRow& grid, std::string id, std::string title, std::string description,
                     const std::vector<double>& values, std::optional<double> scale) {
  const std::vector<double> x = coordinates(grid, 0), y = coordinates(grid, 1);
  double full = scale.value_or(0);
  std::string data;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double value = values[i * y.size() + j];
      if (!scale) full = std::max(full, std::abs(value));
      data += fmt::format("{} {} {}\n", digits(x[i]), digits(y[j]), digits(value));
    }
  }
  if (full <= 0) full = 1;  // a field of zeros is white
  std::string script = signed_colours(full);
  script += range_command("x", x) + range_command("y", y) + "$data << EOD\n" + data + "EOD\n";
  std::string plot = "plot $data using 1:2:3 with image";
  if (!grid.query.empty()) {
    script += fmt::format("$query << EOD\n{} {}\nEOD\n", digits(grid.query[0]), digits(grid.query[1]));
    plot += ", $query using 1:2 with points pt 6 ps 1.6 lw 2 lc rgb '#1B1F24'";
  }
  return {.id = std::move(id),
          .title = std::move(title),
          .description = std::move(description),
          .script = script + plot + "\n"};
}

}  // namespace opshap::reporting::figures
