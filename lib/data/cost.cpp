#include "data/cost.hpp"

#include <chrono>

#include "core/threads.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

Cost measured_cost(const DatasetRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto problem = pde::find(request.pde).with(request.parameters);
  generate_sample(*problem, request.seed, 0);  // the first one plans transforms and fills caches
  const auto begin = Clock::now();
  std::int64_t made = 0;
  double elapsed = 0;
  do {
    generate_sample(*problem, request.seed, static_cast<std::uint64_t>(made++ % request.layout.samples));
    elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (elapsed < 0.05);
  const double seconds = elapsed / static_cast<double>(made);
  const pde::Space input = problem->input(), output = problem->output();
  const auto numbers = input.channel_count() * input.domain.points() + output.channel_count() * output.domain.points();
  const auto samples = static_cast<double>(request.layout.samples);
  return {.seconds_per_sample = seconds,
          .seconds = seconds * samples / static_cast<double>(threads()),
          .bytes = static_cast<double>(numbers) * sizeof(float) * samples};
}

}  // namespace opshap::data
