#include "peers/peer_operator.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "peers/peer_game.hpp"

namespace opshap::peers {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr auto most_numbers = static_cast<std::int64_t>(most_payload_bytes / sizeof(double));

/// So many gradients are asked for one by one.
constexpr std::size_t most_questions = 64;

/// The program, and which scenario it has.
struct Program {
  explicit Program(Plugin plugin)
      : questions(std::move(plugin)),
        dimension(static_cast<int>(questions.greeted("dimension", 1, 2))),
        inputs(static_cast<int>(questions.greeted("input_channels", 1, 1 << 16))),
        outputs(static_cast<int>(questions.greeted("output_channels", 1, 1 << 16))),
        batch(questions.greeted("max_batch", 256, any)) {}

  Questions questions;
  int dimension, inputs, outputs;
  std::int64_t batch;
  std::int64_t scenarios = 0;  ///< how many were made
  std::int64_t current = 0;    ///< the number of the one that it has; 0: none
};

/// Sends its scenario when the program has another one, and then coalitions.
class PeerEngine final : public CoalitionEngine {
 public:
  PeerEngine(std::shared_ptr<Program> program, int players, Json keys, std::string payload)
      : program_(std::move(program)), keys_(std::move(keys)), payload_(std::move(payload)) {
    const auto lock = program_->questions.lock();
    number_ = ++program_->scenarios;
    const std::int64_t row_bytes = std::max<std::int64_t>(sizeof(double), (players + 7) / 8);
    batch_ =
        static_cast<std::size_t>(std::min(program_->batch, static_cast<std::int64_t>(most_payload_bytes) / row_bytes));
  }

  std::size_t batch() const override { return batch_; }

  void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const override {
    const auto lock = program_->questions.lock();
    if (program_->current != number_) {
      program_->questions.ask("scenario", "ready", keys_, payload_, 0);
      program_->current = number_;
    }
    program_->questions.values(coalitions, first, batch_, values);
  }

 private:
  std::shared_ptr<Program> program_;
  Json keys_;
  std::string payload_;
  std::int64_t number_ = 0;
  std::size_t batch_ = 1;
};

class PeerOperator final : public Operator {
 public:
  explicit PeerOperator(std::shared_ptr<Program> program) : program_(std::move(program)) {}

  std::string describe() const override {
    const std::string version = program_->questions.version();
    return message(program_->questions.name(), version.empty() ? "" : " ", version, ", ", program_->dimension, "D");
  }
  std::string checksum() const override { return program_->questions.plugin().checksum; }
  int dimension() const override { return program_->dimension; }
  int input_channels() const override { return program_->inputs; }
  int output_channels() const override { return program_->outputs; }
  std::string coalition_path(const Readout&) const override { return program_->questions.name(); }

  FieldBatch apply(const FieldBatch& inputs) const override {
    require_fits(inputs);
    FieldBatch outputs = FieldBatch::zeros(inputs.domain, inputs.batch, output_channels());
    for_each_batch(
        inputs, 0, [&](std::int64_t first, std::int64_t count, const Json& keys, const std::string& payload) {
          const std::size_t size = outputs.field_size();
          const std::vector<double> found =
              program_->questions.ask("apply", "fields", keys, payload, static_cast<std::size_t>(count) * size);
          std::ranges::copy(found, outputs.field(first).begin());
        });
    return outputs;
  }

  bool has_gradients() const override { return program_->questions.says("gradients"); }

  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    require_fits(inputs);
    require_readout(*this, inputs.domain, readout);
    require(program_->questions.says("gradients"), program_->questions.name(),
            ": gradients=none (its greeting does not have them). Choose a method that asks for values alone, or add "
            "vjp to the program.");
    if (!takes(readout)) {
      require(readout.terms().size() <= most_questions, program_->questions.name(), ": target=", readout.describe(),
              " (its greeting has no targets, so each of them is a question). Add targets to the program, or explain "
              "fewer numbers.");
      return by_queries(readout, [&](Query query) { return gradient_at(inputs, query); });
    }
    Gradient all{.values = {}, .gradient = FieldBatch::zeros(inputs.domain, inputs.batch, inputs.channels)};
    for_each_batch(inputs, 3 * readout.terms().size(),
                   [&](std::int64_t first, std::int64_t count, Json keys, const std::string& payload) {
                     std::vector<double> terms = add_target(keys, readout);
                     const auto size = static_cast<std::size_t>(count);
                     const std::vector<double> found = program_->questions.ask(
                         "vjp", "gradients", keys, payload + payload_of(terms), size * (1 + inputs.field_size()));
                     const auto end_of_values = found.begin() + static_cast<std::ptrdiff_t>(count);
                     all.values.insert(all.values.end(), found.begin(), end_of_values);
                     std::copy(end_of_values, found.end(), all.gradient.field(first).begin());
                   });
    return all;
  }

  /// Nothing where a scenario does not fit into a frame, or has a target that the program does not take: its coalitions
  /// go there as fields.
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override {
    if (!takes(readout) || shown.batch > 1) return nullptr;
    std::vector<double> numbers = shown.values;
    numbers.insert(numbers.end(), hidden.values.begin(), hidden.values.end());
    numbers.insert(numbers.end(), partition.player_of.begin(), partition.player_of.end());
    Json keys = {{"shape", shown.domain.shape()}, {"players", partition.players}};
    const std::vector<double> terms = add_target(keys, readout);
    numbers.insert(numbers.end(), terms.begin(), terms.end());
    if (static_cast<std::int64_t>(numbers.size()) > most_numbers) return nullptr;
    return std::make_unique<PeerEngine>(program_, partition.players, std::move(keys), payload_of(numbers));
  }

  /// With the number that vjp answers with for each.
  std::int64_t preferred_batch(const Domain& domain) const override { return batch_of(domain, most_numbers); }

 private:
  /// How many fields make at most so many numbers, or one.
  std::int64_t batch_of(const Domain& domain, std::int64_t most) const {
    const std::int64_t numbers = 1 + domain.points() * std::max(input_channels(), output_channels());
    return std::clamp<std::int64_t>(most / numbers, 1, program_->batch);
  }
  bool takes(const Readout& readout) const { return readout.is_query() || program_->questions.says("targets"); }
  /// Adds what the readout says to the keys, and gives what it says in the payload.
  static std::vector<double> add_target(Json& keys, const Readout& readout) {
    if (readout.is_query()) {
      keys["point"] = readout.query().point;
      keys["channel"] = readout.query().channel;
      return {};
    }
    keys["terms"] = readout.terms().size();
    std::vector<double> terms;
    for (const auto& [query, weight] : readout.terms())
      terms.insert(terms.end(), {static_cast<double>(query.point), static_cast<double>(query.channel), weight});
    return terms;
  }

  void require_fits(const FieldBatch& inputs) const {
    require(inputs.domain.is_grid(), program_->questions.name(), ": domain=", inputs.domain.describe(),
            " (a program takes fields on regular grids). Explain its game: --game peer:FOLDER.");
    require(inputs.domain.dimension() == dimension() && inputs.channels == input_channels(), program_->questions.name(),
            ": channels=", inputs.channels, ", axes=", inputs.domain.dimension(), " (it takes ", input_channels(),
            " channels on ", dimension(), " axes). Give a field it takes.");
    require(1 + inputs.domain.points() * std::max(input_channels(), output_channels()) <= most_numbers,
            program_->questions.name(), ": points=", inputs.domain.points(),
            " (a field of them is longer than a frame, ", most_payload_bytes, " bytes). Give a coarser grid.");
  }

  /// Calls work(first, count, keys, payload) for batches of the fields, with room for so many further numbers.
  template <typename Work>
  void for_each_batch(const FieldBatch& inputs, std::size_t further, const Work& work) const {
    const auto lock = program_->questions.lock();
    const std::int64_t most = batch_of(inputs.domain, most_numbers - static_cast<std::int64_t>(further));
    for (std::int64_t first = 0; first < inputs.batch; first += most) {
      const std::int64_t count = std::min(most, inputs.batch - first);
      const std::span<const double> fields(inputs.field(first).data(),
                                           static_cast<std::size_t>(count) * inputs.field_size());
      work(first, count, Json{{"count", count}, {"shape", inputs.domain.shape()}}, payload_of(fields));
    }
  }

  std::shared_ptr<Program> program_;
};

}  // namespace

std::unique_ptr<Operator> peer_operator(const std::filesystem::path& folder) {
  return peer_operator(plugin_of(folder, Role::op));
}

std::unique_ptr<Operator> peer_operator(Plugin plugin) {
  return std::make_unique<PeerOperator>(std::make_shared<Program>(std::move(plugin)));
}

}  // namespace opshap::peers
