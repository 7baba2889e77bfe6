"""Measures the peers and our benchmarks in turn, and prints rates and ratios.

Each round measures every row for the peer and for us, one after the other, so that a change of the machine's mood hits both; the table shows the
median over rounds and, for the ratio, its range over rounds. A rate is the best of several batch sizes for the peer, whatever our benchmark chose for us.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

ROWS = [  # name, our program and benchmark, unit, at least
    ("FNO1D forward, n = 64", "bench_operators", "fno1d_forward/n:64", "fields/s", 0.9),
    ("FNO1D forward, n = 256", "bench_operators", "fno1d_forward/n:256", "fields/s", 0.9),
    ("FNO1D forward, n = 1024", "bench_operators", "fno1d_forward/n:1024", "fields/s", 0.9),
    ("FNO1D training step, n = 256, batch 32", "bench_operators", "fno1d_training_step/n:256", "samples/s", 1.0),
    ("kernel_shap, n = 1024, budget 8192", "bench_estimators", "kernel_shap/n:1024/budget:8192", "attributions/s", 10.0),
]


def repeat_for(seconds, work):
    """Calls work() for about that long; returns calls per second, the first two calls left out."""
    work()
    work()
    calls, start = 0, time.perf_counter()
    while calls < 2 or time.perf_counter() - start < seconds:
        work()
        calls += 1
    return calls / (time.perf_counter() - start)


def neuralop_fno():
    import torch
    from neuralop.models import FNO

    torch.manual_seed(0)
    return FNO(n_modes=(16,), in_channels=1, out_channels=1, hidden_channels=64, n_layers=4, domain_padding=0.5)


def neuralop_forward(points, seconds):
    import torch

    model = neuralop_fno().eval()
    best = 0.0
    for batch in (4, 8, 16, 32, 64, 256, 1024):
        if batch * points > 1 << 17:
            continue
        inputs = torch.randn(batch, 1, points)
        with torch.inference_mode():
            best = max(best, batch * repeat_for(seconds, lambda: model(inputs)))
    return best


def neuralop_training_step(points, batch, seconds):
    import torch

    model = neuralop_fno().train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    inputs, targets = torch.randn(batch, 1, points), torch.randn(batch, 1, points)

    def step():
        optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimiser.step()

    return batch * repeat_for(2 * seconds, step)


def shapiq_kernel_shap(players, budget):
    """Attributions per second beyond the game: an additive game that costs one matrix-vector product, timed apart and subtracted."""
    import numpy as np
    import shapiq

    weights = np.random.default_rng(0).standard_normal(players)
    in_game = 0.0

    def game(coalitions):
        nonlocal in_game
        start = time.perf_counter()
        values = coalitions.astype(float) @ weights
        in_game += time.perf_counter() - start
        return values

    approximator = shapiq.KernelSHAP(n=players, random_state=1)
    start = time.perf_counter()
    approximator.approximate(budget=budget, game=game)
    return 1 / (time.perf_counter() - start - in_game)


def peer_rate(name, seconds):
    if name.startswith("FNO1D forward"):
        return neuralop_forward(int(name.rsplit(" ", 1)[1]), seconds)
    if name.startswith("FNO1D training"):
        return neuralop_training_step(256, 32, seconds)
    return shapiq_kernel_shap(1024, 8192)


def our_rate(build, program, benchmark, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    output = subprocess.run([os.path.join(build, program), f"--benchmark_filter=^{benchmark}(/|$)", "--benchmark_format=json"],
                            check=True, capture_output=True, text=True, env=environment).stdout
    entries = [entry for entry in json.loads(output)["benchmarks"] if entry.get("run_type") == "iteration"]
    # Estimators say what they took beyond the game.
    rates = [entry["items_per_second"] if "items_per_second" in entry else 1 / entry["estimator_seconds"] for entry in entries]
    if not rates:
        sys.exit(f"peers: benchmark={benchmark} (not in {program}). Build it, or correct the table.")
    return max(rates)


def processor():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="per batch size of a peer")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    arguments = parser.parse_args()

    import shapiq
    import torch

    torch.set_num_threads(arguments.threads)
    rows = [row for row in ROWS if arguments.only in row[0]]
    measured = {name: [] for name, *_ in rows}
    for _ in range(arguments.rounds):
        for name, program, benchmark, *_ in rows:
            measured[name].append((peer_rate(name, arguments.seconds), our_rate(arguments.build, program, benchmark, arguments.threads)))

    print(f"{processor()}, {arguments.threads} threads, PyTorch {torch.__version__}, neuraloperator 2.0.0, shapiq {shapiq.__version__}, "
          f"{arguments.rounds} rounds, medians\n")
    print("| work | unit | peer | ours | ours / peer | range | at least |")
    print("|---|---|--:|--:|--:|---|--:|")
    missed = 0
    for name, _, _, unit, least in rows:
        ratios = [ours / peer for peer, ours in measured[name]]
        ratio = statistics.median(ratios)
        missed += ratio < least
        peer, ours = (statistics.median(values) for values in zip(*measured[name]))
        print(f"| {name} | {unit} | {peer:.4g} | {ours:.4g} | {ratio:.2f} | {min(ratios):.2f}..{max(ratios):.2f} | {least:g}{'' if ratio >= least else ' MISSED'} |")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
