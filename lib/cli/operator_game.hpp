#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/attribute_output.hpp"
#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "core/domain.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "data/npy.hpp"

namespace opshap::cli {

/// An operator with the game of its prediction at one point. The game refers to the operator.
struct OperatorGame {
  std::shared_ptr<const Operator> op;
  NamedGame named;    ///< by the weights' file name
  ScenarioRule rule;  ///< that made the game of the input
};

/// What --operator, --input, --query and their companions ask: an operator, inputs of one domain, the rule that makes
/// games of them, and what of the outputs to explain.
struct OperatorQuestion {
  std::shared_ptr<const Operator> op;
  FieldBatch inputs;                      ///< one, or with `several` as many as the array has
  bool batched = false;                   ///< the array has an axis for the batch
  ScenarioRule rule;                      ///< for all inputs and points
  std::vector<Readout> readouts;          ///< points of the domain, or targets
  Explained explained;                    ///< the same in words
  std::optional<MeshBlocks> blocks = {};  ///< which of them play, where the players are blocks of a mesh
};

enum class Several { refused, allowed };

/// The mesh of --mesh as a domain; none without the option. The operator tries it with a field of zeros. Throws as
/// data::read_mesh(), and InvalidArgument naming the operator where it does not work on the mesh.
std::optional<Domain> wanted_mesh(const std::filesystem::path& file, const Operator& op);

/// The field of an array, or the fields, on the mesh or else on the operator's domain. `name` starts the messages.
/// Throws DataError for a number that is not finite, InvalidArgument for a shape that the operator does not take.
FieldBatch fields_of(const data::NpyArray& array, const std::string& name, const Operator& op, Several several,
                     const std::optional<Domain>& mesh = std::nullopt);

/// With Several::allowed --input may be a batch, --query may be all, and there may be several targets. `needs_query` is
/// false where the centre is meant without --query. Throws InvalidArgument naming the subcommand when options are
/// missing or do not go together, DataError for broken files.
OperatorQuestion wanted_question(const CLI::App& command, const GameOptions& options, const Globals& globals,
                                 Several several, bool needs_query);

/// The game of --operator, --input, --query and what goes with them. Throws InvalidArgument naming the subcommand when
/// options are missing or do not go together, DataError for broken files.
OperatorGame wanted_operator_game(const CLI::App& command, const GameOptions& options, const Globals& globals);

}  // namespace opshap::cli
