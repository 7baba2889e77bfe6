// `opshap attribute --operator`: attribute an operator's prediction to the cells of its input.

#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "cli/input_field.hpp"
#include "core/error.hpp"
#include "data/npy.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/weights.hpp"

namespace opshap {

namespace {

FieldBatch read_field(const std::filesystem::path& path, const Operator& op) {
  const NpyArray array = read_npy(path);
  return input_field(array.shape, array.reals(path.string()), op.dimension(), op.input_channels(), path.string());
}

Partition wanted_partition(const AttributeOptions& options, const Domain& domain) {
  require(!options.players || options.partition.empty(),
          "attribute: --players, --partition (both given). Give one of them.");
  if (options.players) return Partition::blocks(domain, *options.players);
  if (options.partition.empty()) return Partition::one_player_per_point(domain);
  const NpyArray labels = read_npy(options.partition);
  return input_partition(labels.shape, labels.integers(options.partition.string()), domain, options.partition.string());
}

std::unique_ptr<Game> wanted_game(const AttributeOptions& options, const Operator& op) {
  FieldBatch input = read_field(options.input, op);
  FieldBatch baseline =
      options.baseline == "0" ? FieldBatch::zeros(input.domain, 1, input.channels) : read_field(options.baseline, op);
  Partition partition = wanted_partition(options, input.domain);
  const Query query{.point = input.domain.point(options.query), .channel = options.query_channel};
  return cell_mask_game(op, std::move(input), std::move(baseline), std::move(partition), query);
}

}  // namespace

void add_network_attribute(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand("attribute", "Attribute an operator's prediction to the cells of its input");
  add_attribute_options(*command, *options);
  command->callback([command, options, &globals] {
    require(command->count("--game") == 0, "attribute: --game, --operator (both given). Give one of them.");
    for (const char* option : {"--input", "--query"}) {
      require(command->count(option) > 0, "attribute: ", option,
              " (missing: --operator needs an input field and a query point). Give it.");
    }
    const std::unique_ptr<Operator> op = load_operator(options->op, globals.device);
    const std::unique_ptr<Game> game = wanted_game(*options, *op);
    print_attribution(globals, options->method, run_method(*options, *game, globals.seed));
  });
}

}  // namespace opshap
