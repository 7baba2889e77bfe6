#pragma once

// Plain numbers and pointers: the same memory for the host and for a kernel of a GPU.

namespace opshap::devices {

/// Where an array of a block lies: in the memory that its threads share, or in its part of the workspace. In floats.
struct Placed {
  int shared;  ///< 0 or 1
  long long offset;
};

/// What a point makes of an input and of its baseline, [points, inputs, width] and [points, baselines, width].
struct FnoTable {
  const float *shown, *hidden;
};

/// A block of the network before the last one. Matrices have inputs first.
struct FnoLayerArguments {
  const float *mixing, *spectral_bias;  ///< [frequencies, width, 2·width], real parts first, and [width]
  const float *skip, *gate;             ///< [width, width], [width]
  const float *mlp0, *mlp0_bias;        ///< [width, hidden], [hidden]
  const float *mlp1, *mlp1_bias;        ///< [hidden, width], [width]
};

/// The last block and the projection at one query, multiplied out.
struct FnoHeadArguments {
  int line, place;                                  ///< the query's place in the padded grid
  const float *first, *first_here, *first_bias;     ///< [2·frequencies·width, hidden], [width, hidden], [hidden]
  const float *second, *second_here, *second_bias;  ///< [hidden, wide], [width, wide], [wide]
  const float *third, *bias;                        ///< [wide], [1]
};

/// All that the kernel of an FNO needs. Widths are multiples of 8; what that adds is zero.
struct FnoArguments {
  static constexpr int most_layers = 8, most_heads = 4;

  int width, hidden, wide;
  int layers;                          ///< the last one is in the heads
  int group;                           ///< so many coalitions go through a block together
  int lines, line_points;              ///< of the padded grid; one line in one dimension
  int first_line, first_point;         ///< where the field begins in it
  int field_lines, field_line_points;  ///< the field
  int columns, rows, constant;         ///< frequencies on the last axis and on the first; the one of a constant field
  long long count, each, before;       ///< coalitions, how many of them an input has, and how many come before these
  int words;                           ///< of a coalition
  int inputs, baselines;               ///< one baseline, or as many as inputs
  int heads;

  const long long* coalitions;  ///< [count, words]
  const int* owner;             ///< [points of the field], the player of each
  FnoTable states, skips, gates;
  const float *analysis, *synthesis;              ///< [2·columns, line_points] and back
  const float *first_analysis, *first_synthesis;  ///< [2·rows, 2·lines] and back, of two dimensions
  FnoLayerArguments layer[most_layers];
  FnoHeadArguments head[most_heads];
  float* values;  ///< [count]

  float* workspace;
  long long workspace_of_block;  ///< floats
  Placed state;                  ///< [group, lines, line_points, width]
  Placed spectrum, mixed;        ///< [group, 2·frequencies, width]
  Placed of_lines;               ///< [group, lines, 2·columns, width], of two dimensions
  Placed members;                ///< [group, points of the field]: 1 where shown
  Placed scratch;                ///< [warps + 1, group, hidden], then [group, wide]

  long long shared_floats;  ///< that a block needs
};

}  // namespace opshap::devices
