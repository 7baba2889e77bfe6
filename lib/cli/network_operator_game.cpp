#include "cli/input_field.hpp"
#include "cli/operator_game.hpp"
#include "core/error.hpp"
#include "data/npy.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/weights.hpp"

namespace opshap::cli {

namespace {

FieldBatch read_field(const std::filesystem::path& path, const Operator& op) {
  const data::NpyArray array = data::read_npy(path);
  return input_field(array.shape, array.reals(path.string()), op.dimension(), op.input_channels(), path.string());
}

Partition wanted_partition(const std::string& who, const GameOptions& options, const Domain& domain) {
  require(!options.players || options.partition.empty(), who,
          ": --players, --partition (both given). Give one of them.");
  if (options.players) return Partition::blocks(domain, *options.players);
  if (options.partition.empty()) return Partition::one_player_per_point(domain);
  const data::NpyArray labels = data::read_npy(options.partition);
  return input_partition(labels.shape, labels.integers(options.partition.string()), domain, options.partition.string());
}

}  // namespace

OperatorGame wanted_operator_game(const CLI::App& command, const GameOptions& options, const Globals& globals) {
  const std::string& who = command.get_name();
  require(command.count("--game") == 0, who, ": --game, --operator (both given). Give one of them.");
  require(command.count("--game-seed") == 0, who, ": --game-seed (only with a family of games). Leave it out.");
  for (const char* option : {"--input", "--query"}) {
    require(command.count(option) > 0, who, ": ", option,
            " (missing: --operator needs an input field and a query point). Give it.");
  }
  OperatorGame found{
      .op = operators::load_operator(options.op, globals.device, operators::Precision::float32, globals.engine),
      .named = {.name = options.op.filename().string(), .game = nullptr}};
  FieldBatch input = read_field(options.input, *found.op);
  FieldBatch baseline = options.baseline == "0" ? FieldBatch::zeros(input.domain, 1, input.channels)
                                                : read_field(options.baseline, *found.op);
  Partition partition = wanted_partition(who, options, input.domain);
  const Query query{.point = input.domain.point(options.query), .channel = options.query_channel};
  found.named.game =
      games::cell_mask_game(*found.op, {std::move(input), std::move(baseline), std::move(partition), query});
  return found;
}

}  // namespace opshap::cli
