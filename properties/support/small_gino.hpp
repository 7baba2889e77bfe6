#pragma once

#include <vector>

#include "core/domain.hpp"
#include "core/rng.hpp"
#include "operators/gino.hpp"

namespace opshap {

/// The settings of reference_data/generate/neuraloperator_gino.py.
inline operators::GinoConfig fixture_gino(int in_channels, int out_channels, const char* in, const char* out) {
  return {.n_modes = {6, 4},
          .hidden_channels = 12,
          .n_layers = 2,
          .in_channels = in_channels,
          .out_channels = out_channels,
          .in_transform = in,
          .out_transform = out,
          .in_radius = 0.16,
          .out_radius = 0.16,
          .latent_shape = {12, 12}};
}

/// A GINO with every branch, in a box of its own.
inline operators::GinoConfig small_gino(const char* transform = "nonlinear") {
  operators::GinoConfig config = fixture_gino(2, 2, transform, transform);
  config.fno_in_channels = 2;
  config.latent_shape = {9, 7};
  config.mesh_box = {-1, 1, 0, 2};
  return config;
}

/// Points in the box of the small GINO. One of them, number 0, is far from the others.
inline Domain small_mesh() {
  std::vector<double> places = {-1, 0};
  Rng rng(7, "small mesh");
  while (places.size() < 24) places.insert(places.end(), {1.4 * rng.uniform() - 0.4, 2 * rng.uniform()});
  return Domain::mesh(Mesh::of_points(2, places, std::vector<double>(12, 0.5)));
}

}  // namespace opshap
