#pragma once

#include <vector>

#include "core/domain.hpp"
#include "core/rng.hpp"
#include "pde/polygon.hpp"

namespace opshap::pde {

/// How good triangles are for computing. The quality of one is 4√3·area/(sum of its squared edges): 1 for an
/// equilateral triangle, 0 for a line.
struct MeshQuality {
  double least = 1, mean = 1;
  double smallest_angle = 60;  ///< in degrees
};
/// Throws InvalidArgument for a mesh without triangles.
MeshQuality mesh_quality(const Mesh& mesh);

/// Triangles that fill what the first polygon encloses, without what the others enclose: its holes.
///
/// The first nodes of the mesh are the points of the polygons, in their order; each side of a polygon is an edge of one
/// triangle. Other nodes are placed at random by an advancing front, no nearer to each other than .82 of the edge
/// length, and then pushed apart by forces along the edges of their Delaunay triangulation (Persson & Strang 2004, "A
/// simple mesh generator in MATLAB", with fixed boundary points). Triangulations are those of Boost.Polygon, exact on
/// coordinates rounded to 2^-30 of the domain's extent. The mesh is a function of the arguments and the stream's name
/// alone.
///
/// The sides of the polygons should be as long as `length` says, and `length` should change by at most .2 of a
/// distance.
/// Cost: .08 s for 1800 nodes, .4 s for 5400; about 40 calls of `length` a node.
/// Throws InvalidArgument for polygons of fewer than three points, with points at one place, not finite or beyond
/// 1e100, that touch or cross themselves or each other, holes that are not in the first polygon or are in each other,
/// an edge length that is not positive and finite or below 1e-6 of the domain's extent, and more than 500 000 nodes;
/// NumericalError when a triangle has a quality below .4, when a side of a polygon is no edge, and when the mesh has
/// not the Euler characteristic of the domain: 1 - holes.
Mesh triangulated(const std::vector<Polygon>& polygons, const EdgeLength& length, Rng stream);

}  // namespace opshap::pde
