#include "reporting/mesh_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "reporting/axes.hpp"
#include "reporting/field_panels.hpp"
#include "reporting/figures.hpp"

namespace opshap::reporting::figures {

namespace {

std::string place(const Mesh& mesh, std::int64_t point) {
  return digits(mesh.coordinate(point, 0)) + " " + digits(mesh.coordinate(point, 1));
}

std::vector<double> coordinates(const Mesh& mesh, int axis) {
  std::vector<double> all;
  for (std::int64_t point = 0; point < mesh.size(); ++point) all.push_back(mesh.coordinate(point, axis));
  return all;
}

/// Lines "x y value", and between polygons an empty one.
std::string triangles(const Mesh& mesh, const std::vector<double>& values) {
  std::string data;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    double mean = 0;
    for (std::size_t corner = first; corner < first + 3; ++corner)
      mean += values[static_cast<std::size_t>(mesh.cells[corner])] / 3;
    for (std::size_t corner = first; corner < first + 3; ++corner)
      data += fmt::format("{} {}\n", place(mesh, mesh.cells[corner]), digits(mean));
    data += "\n";
  }
  return data;
}

std::string dots(const Mesh& mesh, const std::vector<double>& values) {
  std::string data;
  for (std::int64_t point = 0; point < mesh.size(); ++point)
    data += fmt::format("{} {}\n", place(mesh, point), digits(values[static_cast<std::size_t>(point)]));
  return data;
}

}  // namespace

Panel mesh_panel(const Mesh& mesh, std::string id, std::string title, std::string description,
                 const std::vector<double>& values, std::optional<std::int64_t> query) {
  double full = 0;
  for (const double value : values) full = std::max(full, std::abs(value));
  const bool cloud = mesh.cells.empty();
  return {.id = std::move(id),
          .title = std::move(title),
          .description = std::move(description),
          .script = fmt::format("{}{}{}{}$data << EOD\n{}EOD\nplot $data using 1:2:3 with {}{}\n",
                                signed_colours(full > 0 ? full : 1), linear_axis("x", coordinates(mesh, 0)),
                                linear_axis("y", coordinates(mesh, 1)),
                                query ? fmt::format("$query << EOD\n{}\nEOD\n", place(mesh, *query)) : "",
                                cloud ? dots(mesh, values) : triangles(mesh, values),
                                cloud ? "points pt 7 ps 0.6 lc palette" : "filledcurves closed fc palette",
                                query ? ", $query using 1:2 with points pt 6 ps 1.6 lw 2 lc rgb '#1B1F24'" : "")};
}

Panel mesh_curve_panel(const Mesh& mesh, std::string id, std::string title, std::string description,
                       const std::vector<double>& values, const char* style, std::optional<std::int64_t> query) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::sort(order, {}, [&](std::int64_t point) { return mesh.coordinate(point, 0); });
  runs::FieldsRow line{.shape = {static_cast<int>(order.size())}};
  if (query) line.query = {mesh.coordinate(*query, 0)};
  Curve curve{.values = {}, .style = style};
  for (const std::int64_t point : order) {
    line.x.push_back(mesh.coordinate(point, 0));
    curve.values.push_back(values[static_cast<std::size_t>(point)]);
  }
  const std::string label = title;
  return curves_panel(line, std::move(id), std::move(title), std::move(description), label, {std::move(curve)});
}

}  // namespace opshap::reporting::figures
