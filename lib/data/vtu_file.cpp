#include "data/vtu_file.hpp"

#include <charconv>
#include <cstddef>

#include "core/error.hpp"

namespace opshap::data {

namespace {

constexpr std::size_t corners_of_triangle = 3;
constexpr int vtk_triangle = 5;  ///< the number of the kind of cell

template <typename Number>
void append_number(std::string& text, Number number) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  text += ' ';
}

std::string opened_array(const char* type, const std::string& name, int components) {
  std::string text = message("        <DataArray type=\"", type, "\" Name=\"");
  for (const char letter : name) {
    switch (letter) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += letter;
    }
  }
  return text + message("\" NumberOfComponents=\"", components, "\" format=\"ascii\">\n");
}

constexpr const char* closed_array = "\n        </DataArray>\n";

}  // namespace

std::string format_vtu(const Mesh& mesh, const std::vector<std::pair<std::string, std::vector<double>>>& at_nodes) {
  require(mesh.dimension == 2 && !mesh.cells.empty(), "vtu: mesh=", mesh.describe(),
          " (has no triangles, which are what is drawn). Give a mesh with triangles.");
  const auto nodes = static_cast<std::size_t>(mesh.size()), cells = mesh.cells.size() / corners_of_triangle;
  std::string text = message(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"",
      nodes, "\" NumberOfCells=\"", cells, "\">\n      <PointData>\n");
  for (const auto& [name, values] : at_nodes) {
    require(values.size() == nodes, "vtu: ", name, "=", values.size(), " values (the mesh has ", nodes,
            " nodes). Give one for each.");
    text += opened_array("Float64", name, 1);
    for (const double value : values) append_number(text, value);
    text += closed_array;
  }
  text += "      </PointData>\n      <Points>\n" + opened_array("Float64", "Points", 3);
  for (std::size_t node = 0; node < nodes; ++node) {
    append_number(text, mesh.points[2 * node]);
    append_number(text, mesh.points[2 * node + 1]);
    text += "0 ";
  }
  text += std::string(closed_array) + "      </Points>\n      <Cells>\n" + opened_array("Int64", "connectivity", 1);
  for (const std::int64_t corner : mesh.cells) append_number(text, corner);
  text += closed_array + opened_array("Int64", "offsets", 1);
  for (std::size_t cell = 1; cell <= cells; ++cell) append_number(text, cell * corners_of_triangle);
  text += closed_array + opened_array("UInt8", "types", 1);
  for (std::size_t cell = 0; cell < cells; ++cell) append_number(text, vtk_triangle);
  return text + closed_array + "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n";
}

}  // namespace opshap::data
