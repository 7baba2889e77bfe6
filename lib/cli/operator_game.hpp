#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/attribute_output.hpp"
#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "core/domain.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"
#include "data/npy.hpp"
#include "networks/recipe.hpp"

namespace opshap::cli {

enum class Several { refused, allowed };

/// One field from an array: shape [n] or [C, n] in one dimension, [nx, ny] or [C, nx, ny] in two; the channel axis may
/// be left out when `channels` is 1. With Several::allowed also several fields, of shape [B, C, n] or [B, C, nx, ny].
///
/// The grid is the unit interval or square. `who` starts the messages.
/// Throws InvalidArgument for another shape, DataError for values that are not finite.
FieldBatch input_field(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                       int channels, std::string_view who, Several several = Several::refused);

/// The same fields on a mesh: what input_field() made of an array of shape [N], [C, N] or [B, C, N]
/// with `dimension` 1. Throws InvalidArgument unless the mesh has N points.
FieldBatch on_mesh(FieldBatch fields, const Domain& mesh, std::string_view who);

/// The labels of a domain's points as a partition: shape [n] or [nx, ny] for a grid, [N] for a mesh. Throws
/// InvalidArgument when the shape is not the domain's or labels have gaps.
Partition input_partition(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& labels,
                          const Domain& domain, std::string_view who);

/// What --precision says.
networks::Precision precision_of(const Globals& globals);

/// The operator that --operator names: trained weights, as Networks::load_operator() reads them, or the program of
/// peer:FOLDER. Without a precision it is that of --precision. `input` is the shape of an array that it is to get,
/// where there is one.
///
/// In a kept program (cli/kept_program.hpp) an operator is loaded once and renewed when its file has changed.
///
/// With --sandbox a TorchScript archive, which is code, is run by a process of its own in the sandbox: `opshap operator
/// serve`, a program of opshap-peer/1. It works on regular grids and on the CPU there. Throws as
/// load_operator() and peers::peer_operator(), InvalidArgument for an archive in a sandbox on another device.
std::shared_ptr<const Operator> asked_operator(const std::filesystem::path& op, const Globals& globals,
                                               std::optional<networks::Precision> precision = std::nullopt,
                                               const std::vector<std::int64_t>& input = {});

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
OperatorQuestion wanted_question(const GameOptions& options, const Globals& globals, Several several, bool needs_query);

/// The game of --operator, --input, --query and what goes with them. Throws InvalidArgument naming the subcommand when
/// options are missing or do not go together, DataError for broken files.
OperatorGame wanted_operator_game(const GameOptions& options, const Globals& globals);

}  // namespace opshap::cli
