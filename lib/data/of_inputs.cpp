#include "data/of_inputs.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace opshap::data {

namespace {

constexpr std::int64_t fewest = 10;  ///< one for testing, one for validation, and some to learn from
constexpr std::size_t most_resolutions = 7;

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::vector<Resolution> usual_resolutions(const Domain& domain) {
  std::vector<Resolution> all = halved_resolutions(domain, 16);
  if (all.size() > most_resolutions) all.erase(all.begin(), all.end() - most_resolutions);
  return all;
}

Dataset of_inputs(const FieldBatch& inputs, const std::vector<Resolution>& resolutions, std::int64_t samples) {
  require(inputs.batch >= fewest, "inputs: fields=", inputs.batch,
          " (some are held out, and the rest is learned from). Give ", fewest, " or more, better some hundreds.");
  const std::int64_t tests = std::min<std::int64_t>(30, inputs.batch / 10),
                     validations = std::min<std::int64_t>(100, inputs.batch / 10),
                     own = inputs.batch - tests - validations, trained = std::max(own, samples);
  Dataset set{.pde = "inputs",
              .inputs = FieldBatch::zeros(inputs.domain, trained + validations + tests, inputs.channels)};
  set.resolutions = resolutions;
  const auto slots = static_cast<std::int64_t>(resolutions.size());
  for (std::int64_t sample = 0; sample < set.inputs.batch; ++sample) {
    const bool training = sample < trained;
    const std::int64_t from = training ? sample % own : own + sample - trained;
    std::ranges::copy(inputs.field(from), set.inputs.field(sample).begin());
    set.split.push_back(training ? Split::train : sample < trained + validations ? Split::validation : Split::test);
    const std::int64_t round = training ? sample / own : 0;
    set.resolution_slot.push_back(static_cast<std::uint8_t>((sample + round) % slots));
  }
  set.content_hash = message(xxh64(bytes_of(inputs.values)), "x", trained);
  return set;
}

}  // namespace opshap::data
