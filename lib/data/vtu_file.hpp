#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/domain.hpp"

namespace opshap::data {

/// The bytes of a file of VTK's XML format for unstructured grids (.vtu), which ParaView reads: the triangles of a
/// mesh, with numbers at their nodes. All is text, each number with all its digits. Source: VTK File Formats, Kitware.
///
/// `at_nodes` are names and values [N]. Throws InvalidArgument for a mesh that has no triangles and for other numbers
/// of values, naming them.
std::string format_vtu(const Mesh& mesh, const std::vector<std::pair<std::string, std::vector<double>>>& at_nodes);

}  // namespace opshap::data
