#pragma once

#include <vector>

#include "core/mesh.hpp"

namespace opshap {

/// The mesh of a point cloud that says nothing of volumes: the cloud fills its bounding box, and each point owns what
/// is nearer to it than to any other point, its Voronoi cell in the box.
///
/// On the nodes of a regular grid these are the weights of the trapezoidal rule. The rule does not know of holes:
/// points around one share it out. Where the domain has holes, give volumes or cells. `points` [N, dimension],
/// row-major.
/// Cost: about 20 neighbours a point, found in O(log N) each, wherever the points lie in their box.
/// Throws InvalidArgument as Mesh::of_points(), and for points without extent along an axis.
Mesh point_cloud(int dimension, std::vector<double> points);

}  // namespace opshap
