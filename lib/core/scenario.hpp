#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/partition.hpp"
#include "core/region.hpp"

namespace opshap {

/// How one field becomes one game: who plays, what hides a player, which output is explained. Comes from a profile or
/// the command line; the only such rule in the house.
struct ScenarioRule {
  enum class Players {
    points,  ///< each point of the domain
    blocks,  ///< contiguous groups of equal size, on a mesh the blocks of its bounding box (Partition::blocks)
    labels,  ///< the groups of a labelling
  };
  enum class Hidden {
    zero,   ///< every channel 0
    mean,   ///< each channel its own constant, the mean over a training set
    field,  ///< a field of the input's own shape
  };
  enum class Where {
    centre,    ///< Domain::centre()
    index,     ///< indices of the grid
    position,  ///< the point nearest to coordinates
    region,    ///< no point: the mean over a region
    weights,   ///< no point: a weighted sum of the output's numbers
  };

  Players players = Players::points;
  int blocks = 0;                    ///< how many, with Players::blocks
  std::vector<std::int64_t> labels;  ///< one per point, with Players::labels
  Hidden baseline = Hidden::zero;
  std::vector<double> means;  ///< one per channel, with Hidden::mean
  FieldBatch hidden;          ///< a batch of one, with Hidden::field
  Where query = Where::centre;
  std::vector<int> index;        ///< with Where::index
  std::vector<double> position;  ///< with Where::position
  std::string target;            ///< with Where::region and Where::weights: "mean:20..40", or the name of a file
  Region region;                 ///< with Where::region
  std::vector<double> weights;   ///< one for each number of the output, [C, points], with Where::weights
  int channel = 0;               ///< of the output
  std::vector<int> masked;  ///< channels of the input that players hide; the others always show the input. Empty: all

  /// For manifests and reports: "players: points; baseline: zero; query: centre, channel 0; masked channels: all".
  std::string describe() const;
};

/// One game of a field: input and baseline (batches of one on one domain), who owns each point, and the explained
/// output.
struct Scenario {
  FieldBatch input, baseline;
  Partition partition;
  Readout readout;
};

/// The scenario of a field (a batch of one) under a rule, on the field's own domain.
///
/// Channels that are not masked have the input in the baseline, so no coalition changes them.
/// Throws InvalidArgument when the rule does not fit the field: more blocks than the grid has points, labels of another
/// domain, means of another number of channels, a baseline of another shape, a query or a region outside, weights of
/// another number, a masked channel that is not there.
Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field);

/// The same after taking every s-th point of the field's grid (strided()). A baseline field may be on the field's own
/// grid and is strided with it.
Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field, const std::vector<int>& shape);

}  // namespace opshap
