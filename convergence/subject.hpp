#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "core/field.hpp"
#include "data/dataset.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/weights.hpp"

namespace opshap {

/// A trained backbone with inputs that it was not trained on.
struct Subject {
  std::string name;
  std::unique_ptr<Operator> op;
  FieldBatch inputs;
};

/// Whether OPSHAP_RUN names a finished run: then a study has its full size.
inline bool is_run() { return std::getenv("OPSHAP_RUN") != nullptr; }

/// The backbone of a finished run on Burgers' equation with the first of its test inputs.
inline Subject read_subject(const std::filesystem::path& run, std::int64_t most_inputs) {
  Subject subject{.name = {}, .op = operators::load_operator(run / "backbone" / "model.safetensors"), .inputs = {}};
  subject.name = subject.op->describe();
  const data::Dataset data = data::read_dataset(run / "data" / "burgers1d.h5");
  subject.inputs = FieldBatch::zeros(data.inputs.domain(), 0, data.inputs.channels());
  for (const std::int64_t sample : data.indices(data::Split::test)) {
    if (subject.inputs.batch == most_inputs) break;
    const auto field = data.inputs.field(sample);
    subject.inputs.values.insert(subject.inputs.values.end(), field.begin(), field.end());
    ++subject.inputs.batch;
  }
  return subject;
}

/// The field on n points: every (N/n)-th one, or the trigonometric interpolant where n does not divide N.
inline FieldBatch on_grid(const FieldBatch& native, int n) {
  return native.domain.shape()[0] % n == 0 ? strided(native, {n}) : interpolated(native, {n});
}

/// The game of every experiment: one player a grid point, hidden points hold 0, the query is in the centre.
inline std::unique_ptr<Game> cell_game(const Operator& op, const FieldBatch& native, int n) {
  const FieldBatch input = on_grid(native, n);
  return games::cell_mask_game(op, {input, FieldBatch::zeros(input.domain, 1, 1),
                                    Partition::one_player_per_point(input.domain), Query{.point = n / 2}});
}

}  // namespace opshap
