#include "cli/operator_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "games/cell_mask_game.hpp"
#include "peers/frame.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

using peers::Frame;

class Server {
 public:
  explicit Server(const Operator& op) : op_(op) {}

  /// The header and the payload of the answer to a question.
  std::pair<Json, std::string> answer(const Frame& frame) {
    if (frame.type() == "apply") {
      const FieldBatch outputs = op_.apply(numbered_fields(frame, frame.integer("count")).first);
      return {{{"type", "fields"}}, peers::payload_of(outputs.values)};
    }
    if (frame.type() == "vjp") {
      const auto [fields, readout] = numbered_fields(frame, frame.integer("count"));
      Operator::Gradient found = op_.gradient_at(fields, readout);
      found.values.insert(found.values.end(), found.gradient.values.begin(), found.gradient.values.end());
      return {{{"type", "gradients"}}, peers::payload_of(found.values)};
    }
    if (frame.type() == "scenario") {
      game_ = game_of(frame);
      return {{{"type", "ready"}}, ""};
    }
    require(frame.type() == "eval" && game_ != nullptr, "operator serve: type=", frame.type(),
            " (no question, or no scenario yet). Check the host.");
    const auto count = static_cast<std::size_t>(frame.integer("count"));
    return {{{"type", "values"}},
            peers::payload_of(game_->values(peers::coalitions_of(frame.payload, game_->players(), count)))};
  }

 private:
  Domain domain_of(const Frame& frame) const {
    const auto shape = frame.header.find("shape");
    const bool known =
        shape != frame.header.end() && shape->is_array() && static_cast<int>(shape->size()) == op_.dimension() &&
        std::ranges::all_of(*shape,
                            [](const auto& size) { return size.is_number_integer() && size > 0 && size <= 1 << 24; });
    require(known, "operator serve: shape (does not have ", op_.dimension(), " sizes). Check the host.");
    return op_.domain(shape->template get<std::vector<int>>());
  }

  /// `count` fields of the payload, and what is explained.
  std::pair<FieldBatch, Readout> numbered_fields(const Frame& frame, std::int64_t count) const {
    FieldBatch fields = FieldBatch::zeros(domain_of(frame), count, op_.input_channels());
    std::vector<double> numbers = frame.reals(fields.values.size() + 3 * terms(frame));
    const Readout readout = readout_of(frame, numbers);
    numbers.resize(fields.values.size());
    fields.values = std::move(numbers);
    return {std::move(fields), readout};
  }

  static std::size_t terms(const Frame& frame) {
    return frame.header.contains("terms") ? static_cast<std::size_t>(frame.integer("terms")) : 0;
  }
  /// The terms end the numbers.
  static Readout readout_of(const Frame& frame, const std::vector<double>& numbers) {
    const std::size_t count = terms(frame);
    if (count == 0) {
      if (!frame.header.contains("point")) return {};
      return Query{.point = frame.integer("point"), .channel = static_cast<int>(frame.integer("channel"))};
    }
    std::vector<Readout::Term> terms;
    for (std::size_t at = numbers.size() - 3 * count; at < numbers.size(); at += 3)
      terms.push_back({{.point = static_cast<std::int64_t>(numbers[at]), .channel = static_cast<int>(numbers[at + 1])},
                       numbers[at + 2]});
    return Readout(terms);
  }

  std::unique_ptr<Game> game_of(const Frame& frame) const {
    Scenario scenario;
    const Domain domain = domain_of(frame);
    scenario.input = scenario.baseline = FieldBatch::zeros(domain, 1, op_.input_channels());
    const std::size_t size = scenario.input.values.size(), points = static_cast<std::size_t>(domain.points());
    const std::vector<double> numbers = frame.reals(2 * size + points + 3 * terms(frame));
    const auto begin = numbers.begin(), middle = begin + static_cast<std::ptrdiff_t>(size),
               labels = middle + static_cast<std::ptrdiff_t>(size);
    scenario.input.values.assign(begin, middle);
    scenario.baseline.values.assign(middle, labels);
    scenario.partition =
        Partition::from_labels(domain, std::vector<std::int64_t>(labels, labels + static_cast<std::ptrdiff_t>(points)));
    scenario.readout = readout_of(frame, numbers);
    return games::cell_mask_game(op_, std::move(scenario));
  }

  const Operator& op_;
  std::unique_ptr<Game> game_;
};

}  // namespace

void serve_operator(const Operator& op) {
  peers::OwnPipes pipes;
  const char* name = std::getenv("OPSHAP_PEER_NAME");
  pipes.send({{"type", "hello"},
              {"protocol", 1},
              {"name", name == nullptr ? "archive" : name},
              {"role", "operator"},
              {"dimension", op.dimension()},
              {"input_channels", op.input_channels()},
              {"output_channels", op.output_channels()},
              {"gradients", true},
              {"targets", true}});
  Server server(op);
  for (std::optional<Frame> frame; (frame = pipes.next()) && frame->type() != "bye";) {
    std::pair<Json, std::string> found;
    try {
      found = server.answer(*frame);
    } catch (const Error& error) {
      found = {{{"type", "fail"}, {"reason", error.what()}}, ""};
    }
    found.first["id"] = frame->integer("id");
    pipes.send(std::move(found.first), found.second);
  }
}

}  // namespace opshap::cli
