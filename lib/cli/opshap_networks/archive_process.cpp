#include "cli/opshap_networks/archive_process.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "cli/program_folder.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "core/threads.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/weights.hpp"
#include "peers/frame.hpp"
#include "peers/peer_operator.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* command_name = "serve-archive";
constexpr std::int64_t most_rows = 256;  // fields or coalitions of a question
constexpr int questions_at = 3, answers_at = 4;

/// Folders of the libraries that this process is made of.
std::set<fs::path> library_folders() {
  std::set<fs::path> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find(".so", path) != std::string::npos)
      folders.insert(fs::path(line.substr(path)).parent_path());
  }
  return folders;
}

/// The other end of peers::peer_operator(): answers for an operator until it is told to end.
class Server {
 public:
  explicit Server(const Operator& op) : op_(op) {}

  void run() {
    send({{"type", "hello"},
          {"protocol", 1},
          {"name", "archive"},
          {"version", ""},
          {"role", "operator"},
          {"dimension", op_.dimension()},
          {"input_channels", op_.input_channels()},
          {"output_channels", op_.output_channels()},
          {"gradients", true},
          {"max_batch", most_rows}});
    std::array<char, 1 << 16> bytes{};
    for (ssize_t got = 0; (got = ::read(questions_at, bytes.data(), bytes.size())) > 0;) {
      reader_.feed({bytes.data(), static_cast<std::size_t>(got)});
      while (const auto frame = reader_.next()) {
        if (frame->type() == "bye") return;
        answer(*frame);
      }
    }
  }

 private:
  void answer(const peers::Frame& question) {
    const std::int64_t id = question.integer("id");
    try {
      const std::string type = question.type();
      if (type == "apply") {
        send({{"type", "fields"}, {"id", id}, {"count", question.integer("count")}},
             op_.apply(fields_of(question)).values);
      } else if (type == "vjp") {
        Operator::Gradient found = op_.gradient_at(
            fields_of(question), {question.integer("point"), static_cast<int>(question.integer("channel"))});
        found.values.insert(found.values.end(), found.gradient.values.begin(), found.gradient.values.end());
        send({{"type", "gradients"}, {"id", id}, {"count", question.integer("count")}}, found.values);
      } else if (type == "scenario") {
        take_scenario(question);
        send({{"type", "ready"}, {"id", id}});
      } else if (type == "eval") {
        require(game_ != nullptr, "serve: eval (there was no scenario). Send one.");
        const std::int64_t count = question.integer("count");
        send({{"type", "values"}, {"id", id}, {"count", count}},
             game_->values(peers::coalitions_of(question.payload, game_->players(), static_cast<std::size_t>(count))));
      } else {
        throw InvalidArgument(message("serve: type=", type, " (not a question). Ask another one."));
      }
    } catch (const Error& error) {
      send({{"type", "fail"}, {"id", id}, {"reason", error.what()}});
    }
  }

  static Domain domain_of(const peers::Frame& question) {
    return Domain::unit(question.header.at("shape").get<std::vector<int>>());
  }

  FieldBatch fields_of(const peers::Frame& question) const {
    FieldBatch fields = FieldBatch::zeros(domain_of(question), question.integer("count"), op_.input_channels());
    fields.values = question.reals(fields.values.size());
    return fields;
  }

  void take_scenario(const peers::Frame& question) {
    const Domain domain = domain_of(question);
    const auto points = static_cast<std::size_t>(domain.points());
    FieldBatch input = FieldBatch::zeros(domain, 1, op_.input_channels());
    const std::size_t field = input.values.size();
    const std::vector<double> numbers = question.reals(2 * field + points);
    FieldBatch baseline = input;
    const auto at = [&](std::size_t place) { return numbers.begin() + static_cast<std::ptrdiff_t>(place); };
    input.values.assign(at(0), at(field));
    baseline.values.assign(at(field), at(2 * field));
    Partition partition{.players = static_cast<int>(question.integer("players")), .player_of = {}, .volumes = {}};
    partition.player_of.assign(at(2 * field), at(2 * field + points));
    partition.volumes.assign(static_cast<std::size_t>(partition.players), 0);
    for (std::size_t point = 0; point < points; ++point)
      partition.volumes.at(static_cast<std::size_t>(partition.player_of[point])) +=
          domain.volume(static_cast<std::int64_t>(point));
    scenario_ = {.input = std::move(input),
                 .baseline = std::move(baseline),
                 .partition = std::move(partition),
                 .query = {question.integer("point"), static_cast<int>(question.integer("channel"))}};
    game_ = games::cell_mask_game(op_, scenario_);
  }

  static void send(const Json& header, const std::vector<double>& numbers = {}) {
    const std::string bytes = peers::bytes_of(header, peers::payload_of(numbers));
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t taken = ::write(answers_at, bytes.data() + sent, bytes.size() - sent);
      if (taken <= 0) ::_exit(1);  // nobody listens
      sent += static_cast<std::size_t>(taken);
    }
  }

  const Operator& op_;
  peers::FrameReader reader_;
  Scenario scenario_;
  std::unique_ptr<Game> game_;
};

}  // namespace

std::unique_ptr<Operator> archive_in_a_process(const fs::path& archive, const std::vector<std::int64_t>& input) {
  const fs::path file = fs::canonical(archive);
  peers::Plugin plugin{.folder = {},
                       .name = "archive",
                       .version = {},
                       .citation = {},
                       .command = {(program_folder() / "opshap-networks").string(), command_name, file.string()},
                       .role = peers::Role::op,
                       .needs = {},
                       .threads = threads(),
                       .checksum = xxh64(read_file(file))};
  plugin.command.insert(plugin.command.end(), {"--trust", "--threads", std::to_string(threads())});
  for (const std::int64_t size : input) plugin.command.insert(plugin.command.end(), {"--shape", std::to_string(size)});
  plugin.readable = {file};
  for (const fs::path& folder : library_folders()) plugin.readable.push_back(folder);
  return peers::peer_operator(std::move(plugin));
}

void add_serve(CLI::App& app) {
  struct Options {
    fs::path archive;
    std::vector<std::int64_t> shape;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(command_name, "Answer for a TorchScript archive on descriptors 3 and 4");
  command->group("");
  command->add_option("archive", options->archive)->required();
  command->add_option("--shape", options->shape);
  command->callback([options] {
    const auto op =
        operators::load_operator(options->archive, "cpu", operators::Precision::float32, false, options->shape);
    Server(*op).run();
  });
}

}  // namespace opshap::cli
