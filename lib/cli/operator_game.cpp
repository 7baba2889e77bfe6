#include "cli/operator_game.hpp"

#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "cli/doctor.hpp"
#include "cli/kept_program.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/threads.hpp"
#include "data/mesh_file.hpp"
#include "games/cell_mask_game.hpp"
#include "networks/networks.hpp"
#include "pde/registry.hpp"
#include "peers/peer_operator.hpp"
#include "peers/process.hpp"

namespace opshap::cli {

namespace {

/// "[n] or [1,n]", and with `batches` also "[B,1,n]".
std::string wanted_shapes(int dimension, int channels, bool batches) {
  const std::string points = dimension == 1 ? "n" : "nx,ny";
  return message(channels == 1 ? message("[", points, "] or ") : "", "[", channels, ",", points, "]",
                 batches ? message(" or [B,", channels, ",", points, "]") : "");
}

}  // namespace

FieldBatch input_field(const std::vector<std::int64_t>& shape, const std::vector<double>& values, int dimension,
                       int channels, std::string_view who, Several several) {
  const bool batches = several == Several::allowed;
  const auto axes = static_cast<std::size_t>(dimension);
  const bool without_channels = shape.size() == axes && channels == 1;
  const bool with_channels = shape.size() == axes + 1 && shape.front() == channels;
  const bool with_batch = batches && shape.size() == axes + 2 && shape[0] >= 1 && shape[1] == channels;
  require(without_channels || with_channels || with_batch, who, ": shape=", data::shape_text(shape),
          " (takes fields of ", wanted_shapes(dimension, channels, batches), "). Give an array of that shape.");
  std::vector<int> points;
  for (std::size_t axis = shape.size() - axes; axis < shape.size(); ++axis) {
    constexpr std::int64_t most = 1 << 24;
    require(shape[axis] >= 1 && shape[axis] <= most, who, ": shape=", data::shape_text(shape), " (an axis needs 1..",
            most, " points). Give a grid of that size.");
    points.push_back(static_cast<int>(shape[axis]));
  }
  FieldBatch fields{
      .domain = Domain::unit(points), .batch = with_batch ? shape[0] : 1, .channels = channels, .values = values};
  require(values.size() == static_cast<std::size_t>(fields.batch) * fields.field_size(), who,
          ": values=", values.size(), " (the shape ", data::shape_text(shape), " has ",
          static_cast<std::size_t>(fields.batch) * fields.field_size(), "). Write the file again.");
  require_finite(fields, std::string(who).c_str());
  return fields;
}

FieldBatch on_mesh(FieldBatch fields, const Domain& mesh, std::string_view who) {
  require(fields.domain.points() == mesh.points(), who, ": values=", fields.domain.points(), " in a channel (the ",
          mesh.describe(), "). Give one value for each of its points, in the order of the mesh file.");
  fields.domain = mesh;
  return fields;
}

Partition input_partition(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& labels,
                          const Domain& domain, std::string_view who) {
  std::vector<std::int64_t> wanted = {domain.points()};
  if (domain.is_grid()) wanted.assign(domain.shape().begin(), domain.shape().end());
  require(shape == wanted, who, ": shape=", data::shape_text(shape), " (the input's ",
          domain.is_grid() ? "grid" : "mesh", " is ", data::shape_text(wanted), "). Give one label per point.");
  return Partition::from_labels(domain, labels);
}

namespace fs = std::filesystem;

namespace {

/// Folders of the shared libraries of this process: LibTorch may lie anywhere.
std::set<fs::path> library_folders() {
  std::set<fs::path> folders;
  ::dl_iterate_phdr(
      [](::dl_phdr_info* info, std::size_t, void* into) {
        const fs::path file = info->dlpi_name;
        if (file.is_absolute()) static_cast<std::set<fs::path>*>(into)->insert(file.parent_path());
        return 0;
      },
      &folders);
  return folders;
}

/// Our own program, which serves the archive from inside the sandbox. It has no folder there.
peers::Plugin server_of(const fs::path& archive, const Globals& globals, networks::Precision precision,
                        const std::vector<std::int64_t>& input) {
  const fs::path file = fs::absolute(archive);
  require(globals.device == "cpu", "operator: --sandbox, --device=", globals.device,
          " (a sandbox has no devices). Leave one of them out.");
  peers::Plugin plugin;
  plugin.name = "archive";
  plugin.role = peers::Role::op;
  plugin.command = {(program_folder() / "opshap").string(), "operator", "serve", file.string(), "--trust"};
  if (precision == networks::Precision::float64) plugin.command.insert(plugin.command.end(), {"--dtype", "float64"});
  if (!input.empty())
    plugin.command.insert(plugin.command.end(), {"--input-shape", fmt::format("{}", fmt::join(input, ","))});
  plugin.threads = threads();
  const std::set<fs::path> libraries = library_folders();
  plugin.readable.assign(libraries.begin(), libraries.end());
  plugin.readable.push_back(file);
  plugin.checksum = xxh64(read_file(file));
  return plugin;
}

std::unique_ptr<Operator> loaded(const fs::path& op, const Globals& globals, networks::Precision precision,
                                 const std::vector<std::int64_t>& input) {
  if (op.string().starts_with(peer_prefix)) return peers::peer_operator(op.string().substr(peer_prefix.size()));
  if (peers::uses_sandbox() && networks::library().is_torch_script(op))
    return peers::peer_operator(server_of(op, globals, precision, input));
  return networks::library().load_operator(op, globals.device, precision, globals.engine, input);
}

/// What tells a file from what it was: device, inode, size, and time of the last change.
std::vector<std::int64_t> stamp_of(const fs::path& file) {
  struct ::stat found = {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino), found.st_size,
          found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// An operator that is kept, and the stamp of its file.
struct Known {
  std::vector<std::int64_t> file;
  std::shared_ptr<const Operator> found;
};

}  // namespace

networks::Precision precision_of(const Globals& globals) {
  const std::string name = precision_name(globals);
  if (name == "tf32x3") return networks::Precision::tf32x3;
  if (name == "tf32") return networks::Precision::tf32;
  return name == "bf16" ? networks::Precision::bf16 : networks::Precision::float32;
}

std::shared_ptr<const Operator> asked_operator(const fs::path& op, const Globals& globals,
                                               std::optional<networks::Precision> asked,
                                               const std::vector<std::int64_t>& input) {
  const networks::Precision precision = asked.value_or(precision_of(globals));
  if (!is_kept()) return loaded(op, globals, precision, input);
  // An archive is taken for what the axes of its first input say.
  static std::map<std::string, Known> all;
  Known& known = all[message(op.string(), " ", globals.device, " ", globals.engine, " ", static_cast<int>(precision),
                             " ", peers::uses_sandbox(), " ", input.size())];
  const std::vector<std::int64_t> file = stamp_of(op);
  if (known.found == nullptr || known.file != file) known = {file, loaded(op, globals, precision, input)};
  return known.found;
}

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

/// The numbers of "0.5" or "1,0"; nothing for a text that does not begin with a number.
std::optional<std::vector<double>> baseline_constants(const std::string& name, const std::string& text) {
  std::vector<double> constants;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = text.find(',', from);
    const std::string one = text.substr(from, to - from);
    const auto number = number_of<double>(one);
    if (!number && constants.empty()) return std::nullopt;
    require(number && std::isfinite(*number), name, "=", text, " (\"", one,
            "\" is not a finite number). Give one for each channel, as in 1,0.");
    constants.push_back(*number);
  }
  return constants;
}

/// The state at rest of "rest:PROBLEM". Weights do not say which problem they are of.
std::vector<double> baseline_at_rest(const std::string& name, const std::string& problem) {
  require(!problem.empty(), name,
          "=rest (nobody knows which problem this operator is of). Give rest:NAME, a name of `opshap list pdes`, or a "
          "number for each channel.");
  const pde::Rest rest = pde::find(problem).rest();
  require(static_cast<bool>(rest), name, "=rest:", problem, " (the problem has no state at rest: ", rest.reason,
          "). Give a number for each channel.");
  return rest.state;
}

/// Lays what the words of --baseline say over the rule: 0, a number for each channel, blur or blur:WIDTH, rest:PROBLEM.
/// False for another text, which names a file.
bool read_baseline_words(const std::string& name, const std::string& text, ScenarioRule& rule) {
  using Hidden = ScenarioRule::Hidden;
  if (text == "0" || text == "zero") return true;
  require(text != "mean", name,
          "=mean (there are no training data here to take a mean of). Give the mean of each channel as a number.");
  if (const auto width = parse_blur(name, text)) {
    rule.baseline = Hidden::blur;
    rule.blur = *width;
  } else if (text == "rest" || text.starts_with("rest:")) {
    rule.baseline = Hidden::rest;
    rule.constants = baseline_at_rest(name, text.substr(std::min(text.size(), std::size_t{5})));
  } else if (const auto constants = baseline_constants(name, text)) {
    rule.baseline = Hidden::constant;
    rule.constants = *constants;
  } else {
    rule.baseline = Hidden::field;
  }
  return rule.baseline != Hidden::field;
}

void add_query(OperatorQuestion& asked, std::int64_t point) {
  asked.readouts.push_back(Query{.point = point, .channel = asked.rule.channel});
  asked.explained.names.push_back(point);
}

void add_target(OperatorQuestion& asked, const std::string& name, const Readout& readout) {
  require_readout(*asked.op, asked.inputs.domain, readout);
  asked.readouts.push_back(readout);
  asked.explained.names.push_back(name);
}

/// The targets of a file of weights: one of an array [n], of the channel that was asked for, or [C,n], several of
/// [K,C,n].
void read_weights(const CLI::App& command, const std::string& file, OperatorQuestion& asked) {
  const data::NpyArray array = data::read_npy(file);
  std::vector<double> weights;  // a mask of integers is one, too
  std::visit([&](const auto& numbers) { weights.assign(numbers.begin(), numbers.end()); }, array.values);
  const Domain& domain = asked.inputs.domain;
  std::vector<std::int64_t> grid = {domain.points()};
  if (domain.is_grid()) grid.assign(domain.shape().begin(), domain.shape().end());
  std::vector<std::int64_t> shape = array.shape;
  const std::size_t further = shape.size() - std::min(shape.size(), grid.size());
  const int channels = asked.op->output_channels();
  const bool fits = further <= 2 && std::ranges::equal(std::span(shape).subspan(further), grid) &&
                    (further == 0 || shape[further - 1] == channels);
  require(fits, command.get_name(), ": --target=", file, " ", data::shape_text(shape), " (the output has ", channels,
          " channels of ", data::shape_text(grid), "). Give a weight for each of its numbers.");
  require(further == 0 || command.count("--query-channel") == 0, command.get_name(),
          ": --query-channel (the weights in ", file, " have all channels). Leave it out.");
  asked.rule.query = ScenarioRule::Where::weights;
  asked.rule.target = file;
  const std::int64_t targets = further == 2 ? shape.front() : 1;
  const std::size_t each = weights.size() / static_cast<std::size_t>(std::max<std::int64_t>(targets, 1));
  for (std::int64_t target = 0; target < targets; ++target) {
    const auto own = std::span(weights).subspan(static_cast<std::size_t>(target) * each, each);
    asked.rule.weights.assign(further == 0 ? static_cast<std::size_t>(asked.rule.channel) * each : 0, 0.0);
    asked.rule.weights.insert(asked.rule.weights.end(), own.begin(), own.end());
    add_target(asked, targets > 1 ? message(file, "[", target, "]") : file,
               Readout::of_weights(asked.rule.weights, domain.points()));
  }
}

/// The rule keeps the last target.
void read_targets(const GameOptions& options, OperatorQuestion& asked) {
  asked.explained.key = "targets";
  for (const std::string& target : options.targets) {
    const auto region = parse_region(message(options.command->get_name(), ": --target"), target);
    if (!region) {
      read_weights(*options.command, target, asked);
      continue;
    }
    asked.rule.query = ScenarioRule::Where::region;
    asked.rule.target = target;
    asked.rule.region = *region;
    add_target(asked, target, mean_over(*region, asked.inputs.domain, asked.rule.channel));
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
  FieldBatch fields =
      input_field(array.shape, array.reals(name), mesh ? 1 : op.dimension(), op.input_channels(), name, several);
  if (mesh) return on_mesh(std::move(fields), *mesh, name);
  fields.domain = op.domain(fields.domain.shape());
  return fields;
}

OperatorQuestion wanted_question(const GameOptions& options, const Globals& globals, Several several,
                                 bool needs_query) {
  const CLI::App& command = *options.command;
  const std::string& who = command.get_name();
  require(command.count("--game") == 0, who, ": --game, --operator (both given). Give one of them.");
  require(command.count("--game-seed") == 0, who, ": --game-seed (only with a family of games). Leave it out.");
  require(command.count("--input") > 0, who, ": --input (missing: --operator needs an input field). Give it.");
  require(options.query.empty() || options.query_at.empty(), who,
          ": --query, --query-at (both given). Give one of them.");
  require(options.targets.empty() || (options.query.empty() && options.query_at.empty()), who,
          ": --target, --query (both given). Give one of them.");
  require(!needs_query || !options.query.empty() || !options.query_at.empty() || !options.targets.empty(), who,
          ": --query (missing: --operator needs the point whose value is explained). Give --query, --query-at or "
          "--target.");
  OperatorQuestion asked;
  const bool of_file = !read_baseline_words(message(who, ": --baseline"), options.baseline, asked.rule);
  const data::NpyArray array = data::read_npy(options.input);
  // On a mesh the array says nothing of its axes.
  asked.op = asked_operator(options.op, globals, std::nullopt,
                            options.mesh.empty() ? array.shape : std::vector<std::int64_t>{});
  const std::optional<Domain> mesh = wanted_mesh(options.mesh, *asked.op);
  asked.inputs = fields_of(array, options.input.string(), *asked.op, several, mesh);
  const int axes = mesh ? 1 : asked.op->dimension();
  asked.batched = several == Several::allowed && array.shape.size() == static_cast<std::size_t>(axes) + 2;
  const Domain& domain = asked.inputs.domain;
  read_players(who, options, domain, asked.rule);
  if (mesh && options.players) asked.blocks = mesh_blocks(mesh->as_mesh(), *options.players);
  if (of_file)
    asked.rule.hidden =
        fields_of(data::read_npy(options.baseline), options.baseline, *asked.op, Several::refused, mesh);
  asked.rule.channel = options.query_channel;
  asked.rule.masked = options.masked;
  if (options.query == std::vector<std::string>{"all"}) {
    require(several == Several::allowed, who, ": --query=all (one game is asked for). Give one point.");
    for (std::int64_t point = 0; point < domain.points(); ++point) add_query(asked, point);
    return asked;
  }
  if (!options.targets.empty()) {
    read_targets(options, asked);
    require(several == Several::allowed || asked.readouts.size() == 1, who, ": --target=", asked.readouts.size(),
            " targets (one game is asked for). Give one.");
    return asked;
  }
  if (!options.query_at.empty()) {
    asked.rule.query = ScenarioRule::Where::position;
    asked.rule.position = options.query_at;
  } else if (!options.query.empty()) {
    asked.rule.query = ScenarioRule::Where::index;
    asked.rule.index = index_of(who, options.query);
  }
  add_query(asked, make_scenario(asked.rule, asked.inputs.one(0)).readout.query().point);
  return asked;
}

OperatorGame wanted_operator_game(const GameOptions& options, const Globals& globals) {
  OperatorQuestion asked = wanted_question(options, globals, Several::refused, true);
  Scenario scenario = make_scenario(asked.rule, asked.inputs);
  const bool program = options.op.string().starts_with(peer_prefix);
  OperatorGame found{.op = std::move(asked.op)};
  found.named.name = program ? found.op->coalition_path() : options.op.filename().string();
  found.named.game = games::cell_mask_game(*found.op, scenario);
  found.named.rule = asked.rule.describe();
  found.rule = asked.rule;
  found.named.foreign = program;
  found.named.scenario = std::make_unique<Scenario>(std::move(scenario));
  return found;
}

}  // namespace opshap::cli
