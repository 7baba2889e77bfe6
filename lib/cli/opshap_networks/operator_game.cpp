#include "cli/opshap_networks/operator_game.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/input_field.hpp"
#include "cli/opshap_networks/archive_process.hpp"
#include "core/error.hpp"
#include "core/trust.hpp"
#include "data/mesh_file.hpp"
#include "data/npy.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/torch_script.hpp"
#include "operators/weights.hpp"
#include "peers/peer_operator.hpp"

namespace opshap::cli {

namespace {

/// An index of the grid, as --query has it.
std::vector<int> index_of(const std::string& who, const std::vector<std::string>& texts) {
  std::vector<int> index;
  for (const std::string& text : texts) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    require(failure == std::errc() && end == text.data() + text.size(), who, ": --query=", text,
            " (is not a whole number). Give a grid index I or I,J, or coordinates by --query-at.");
    index.push_back(value);
  }
  return index;
}

/// The folder of peer:FOLDER.
std::optional<std::filesystem::path> peer_folder(const std::filesystem::path& op) {
  constexpr std::string_view prefix = "peer:";
  if (!op.string().starts_with(prefix)) return std::nullopt;
  return op.string().substr(prefix.size());
}

/// The operator that is to get the array. On a mesh the array says nothing of its axes.
std::unique_ptr<Operator> wanted_operator(const GameOptions& options, const data::NpyArray& input,
                                          const Globals& globals) {
  if (const auto folder = peer_folder(options.op)) return peers::peer_operator(*folder);
  if (code_of_files_is_kept_out() && operators::is_torch_script(options.op)) {
    require(options.mesh.empty(), "operator: --sandbox, --mesh=", options.mesh.string(),
            " (an archive in a process of its own takes fields on grids). Leave --sandbox out.");
    require(globals.device == "cpu", "operator: --sandbox, --device=", globals.device,
            " (an archive in a process of its own runs on the CPU). Leave one of them out.");
    return archive_in_a_process(options.op, input.shape);
  }
  return operators::load_operator(options.op, globals.device, operators::Precision::float32, globals.engine,
                                  options.mesh.empty() ? input.shape : std::vector<std::int64_t>{});
}

/// What an error says without its advice.
std::string without_advice(const std::string& text) {
  const std::size_t end = text.rfind("). ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

void read_players(const std::string& who, const GameOptions& options, const Domain& domain, ScenarioRule& rule) {
  require(!options.players || options.partition.empty(), who,
          ": --players, --partition (both given). Give one of them.");
  if (options.players) {
    rule.players = ScenarioRule::Players::blocks;
    rule.blocks = *options.players;
  } else if (!options.partition.empty()) {
    const data::NpyArray labels = data::read_npy(options.partition);
    rule.players = ScenarioRule::Players::labels;
    rule.labels = labels.integers(options.partition.string());
    input_partition(labels.shape, rule.labels, domain, options.partition.string());
  }
}

}  // namespace

std::optional<Domain> wanted_mesh(const std::filesystem::path& file, const Operator& op) {
  if (file.empty()) return std::nullopt;
  const Domain mesh = Domain::mesh(data::read_mesh(file));
  try {
    op.apply(FieldBatch::zeros(mesh, 1, op.input_channels()));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(message(op.describe(), ": --mesh=", file.string(), " (the operator refuses a ",
                                  mesh.describe(), ": ", without_advice(error.what()),
                                  "). Give an operator that works on meshes, or a field on a grid."));
  }
  return mesh;
}

FieldBatch fields_of(const data::NpyArray& array, const std::string& name, const Operator& op, Several several,
                     const std::optional<Domain>& mesh) {
  FieldBatch fields = (several == Several::allowed ? input_fields : input_field)(
      array.shape, array.reals(name), mesh ? 1 : op.dimension(), op.input_channels(), name);
  if (mesh) return on_mesh(std::move(fields), *mesh, name);
  fields.domain = op.domain(fields.domain.shape());
  return fields;
}

OperatorQuestion wanted_question(const CLI::App& command, const GameOptions& options, const Globals& globals,
                                 Several several, bool needs_query) {
  const std::string& who = command.get_name();
  require(command.count("--game") == 0, who, ": --game, --operator (both given). Give one of them.");
  require(command.count("--game-seed") == 0, who, ": --game-seed (only with a family of games). Leave it out.");
  require(command.count("--input") > 0, who, ": --input (missing: --operator needs an input field). Give it.");
  require(options.query.empty() || options.query_at.empty(), who,
          ": --query, --query-at (both given). Give one of them.");
  require(!needs_query || !options.query.empty() || !options.query_at.empty(), who,
          ": --query (missing: --operator needs the point whose value is explained). Give --query or --query-at.");
  OperatorQuestion asked;
  const data::NpyArray array = data::read_npy(options.input);
  asked.op = wanted_operator(options, array, globals);
  const std::optional<Domain> mesh = wanted_mesh(options.mesh, *asked.op);
  asked.inputs = fields_of(array, options.input.string(), *asked.op, several, mesh);
  const int axes = mesh ? 1 : asked.op->dimension();
  asked.batched = several == Several::allowed && array.shape.size() == static_cast<std::size_t>(axes) + 2;
  const Domain& domain = asked.inputs.domain;
  read_players(who, options, domain, asked.rule);
  if (mesh && options.players) asked.blocks = mesh_blocks(mesh->as_mesh(), *options.players);
  if (options.baseline != "0") {
    asked.rule.baseline = ScenarioRule::Hidden::field;
    asked.rule.hidden =
        fields_of(data::read_npy(options.baseline), options.baseline, *asked.op, Several::refused, mesh);
  }
  asked.rule.channel = options.query_channel;
  asked.rule.masked = options.masked;
  if (options.query == std::vector<std::string>{"all"}) {
    require(several == Several::allowed, who, ": --query=all (one game is asked for). Give one point.");
    for (std::int64_t point = 0; point < domain.points(); ++point) asked.queries.push_back(point);
    return asked;
  }
  if (!options.query_at.empty()) {
    asked.rule.query = ScenarioRule::Where::position;
    asked.rule.position = options.query_at;
  } else if (!options.query.empty()) {
    asked.rule.query = ScenarioRule::Where::index;
    asked.rule.index = index_of(who, options.query);
  }
  asked.queries = {make_scenario(asked.rule, asked.inputs.one(0)).query.point};
  return asked;
}

OperatorGame wanted_operator_game(const CLI::App& command, const GameOptions& options, const Globals& globals) {
  OperatorQuestion asked = wanted_question(command, options, globals, Several::refused, true);
  Scenario scenario = make_scenario(asked.rule, asked.inputs);
  const bool program = peer_folder(options.op).has_value();
  OperatorGame found{.op = std::move(asked.op), .named = {.name = "", .game = nullptr}};
  found.named.name = program ? found.op->coalition_path() : options.op.filename().string();
  found.named.game = games::cell_mask_game(*found.op, scenario);
  found.named.rule = asked.rule.describe();
  found.rule = asked.rule;
  found.named.foreign = program;
  found.named.scenario = std::make_unique<Scenario>(std::move(scenario));
  return found;
}

}  // namespace opshap::cli
