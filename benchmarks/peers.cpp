// What a round trip to a peer costs beside the peer's own work and the game: a request for a batch of coalitions, and
// its values. The peer is this program itself, started again. It sends the same bytes each time, so its own work is
// next to nothing.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "peers/frame.hpp"
#include "peers/peer.hpp"

namespace opshap {
namespace {

constexpr int round_trips = 64;  ///< a task

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(4, bytes.data(), bytes.size());
    if (count <= 0) std::_Exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// The next frame from the host; the process ends with its pipe.
peers::Frame next(peers::FrameReader& reader) {
  for (;;) {
    if (auto frame = reader.next()) return std::move(*frame);
    char block[65536];
    const ::ssize_t count = ::read(3, block, sizeof block);
    if (count <= 0) std::_Exit(0);
    reader.feed({block, static_cast<std::size_t>(count)});
  }
}

/// Asks for the same coalitions again and again, then gives all players the value 0.
int be_a_peer(std::size_t batch) {
  peers::FrameReader reader;
  write_all(peers::bytes_of({{"type", "hello"}, {"protocol", 1}, {"name", "bench"}, {"needs", {"values"}}}));
  for (;;) {
    const peers::Frame task = next(reader);
    if (task.type() != "task") return 0;
    const int players = static_cast<int>(task.integer("n"));
    Coalitions asked(players, batch);
    Rng rng(1, "benchmark peers");
    for (std::size_t row = 0; row < batch; ++row) {
      for (int player = 0; player < players; ++player) {
        if (rng.below(2) == 1) asked.insert(row, player);
      }
    }
    const std::string request =
        peers::bytes_of({{"type", "eval"}, {"id", task.integer("id")}, {"count", batch}}, peers::payload_of(asked));
    for (int i = 0; i < round_trips; ++i) {
      write_all(request);
      next(reader);
    }
    const std::vector<double> zeros(static_cast<std::size_t>(players), 0.0);
    write_all(peers::bytes_of({{"type", "result"}, {"id", task.integer("id")}}, peers::payload_of(zeros)));
  }
}

/// Mean time of a round trip, the game's left out.
void round_trip(benchmark::State& state) {
  const auto players = static_cast<int>(state.range(0));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / message("opshap_bench_peers_", ::getpid());
  write_file(folder / "plugin.toml",
             message("name = 'bench'\ncommand = ['", std::filesystem::read_symlink("/proc/self/exe").string(),
                     "', 'peer', '", state.range(1), "']\n"));
  {
    peers::Peer peer(peers::read_plugin(folder));
    const peers::Doors doors{.values = [](const Coalitions& asked) { return std::vector<double>(asked.size(), 1.0); }};
    const peers::Task task{.players = players, .budget = 1 << 20, .seed = 1, .empty = 0, .grand = 1};
    peer.start();
    for (auto _ : state) state.SetIterationTime(peer.run(task, doors).peer_seconds / round_trips);
  }
  std::filesystem::remove_all(folder);
}

BENCHMARK(round_trip)
    ->ArgNames({"n", "batch"})
    ->Args({16, 1})
    ->Args({64, 16})
    ->Args({64, 256})
    ->Args({1024, 256})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace opshap

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "peer") == 0) return opshap::be_a_peer(std::stoul(argv[2]));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
