"""Measures coalitions per second of neuraloperator's FNO, eager, and of ours by LibTorch on one device, and writes a report.

Both evaluate masked fields at the centre, single precision, the paper's architecture. Each round measures every row for the peer and for us, one after the other;
the table shows medians over rounds and the range of the ratio. The peer gets its masks on the device already, and its best batch size; ours is asked as a
game asks it: coalitions as bits in the host's memory, values back there. Our values are checked against double precision on the CPU before each measurement.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
from compare import processor, repeat_for  # noqa: E402

ROWS = [(f"FNO1D, n = {n}", (n,), f"fno1d_coalitions/n:{n}") for n in (16, 64, 256, 1024)]
ROWS += [(f"FNO2D, {n} x {n}", (n, n), f"fno2d_coalitions/n:{n}") for n in (4, 8, 16, 32)]
WIDTH, PADDED = 64, 2  # channels; padded size of an axis over its size
# MFLOP of a coalition by a plain forward pass and by the engine, as reports/performance.md counts them on the CPU.
PLAIN = (4.035, 12.93, 49.48, 199.6, 24.13, 40.57, 108.3, 386.9)
ENGINE = (1.966, 6.476, 23.76, 92.92, 4.923, 23.01, 59.16, 198.7)
MFLOP = {row[0]: counts for row, *counts in zip(ROWS, PLAIN, ENGINE)}


def wait_for(device):
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def batches(shape, device):
    """Sizes from what is too small for the device to what one activation of a gigabyte allows (on the CPU: of its caches)."""
    points = WIDTH
    for size in shape:
        points *= PADDED * size
    largest = max(1, (1 << 28 if device.type == "cuda" else 1 << 23) // points)
    batch = min(16, largest)
    while batch <= largest:
        yield batch
        batch *= 2 if device.type == "cuda" else 4


def peer_rate(shape, device, seconds):
    import torch
    from neuralop.models import FNO

    torch.manual_seed(0)
    model = FNO(n_modes=(16,) * len(shape), in_channels=1, out_channels=1, hidden_channels=WIDTH, n_layers=4, domain_padding=0.5).eval().to(device)
    shown, hidden = torch.randn(1, 1, *shape, device=device), torch.zeros(1, 1, *shape, device=device)
    centre = tuple(size // 2 for size in shape)
    best, chosen = 0.0, 0
    for batch in batches(shape, device):
        try:
            masks = torch.rand(batch, 1, *shape, device=device) < 0.5

            def work(repetitions=4 if device.type == "cuda" else 1):
                for _ in range(repetitions):
                    model(torch.where(masks, shown, hidden))[(slice(None), 0) + centre]
                wait_for(device)
                return repetitions

            with torch.inference_mode():
                rate = batch * work() * repeat_for(seconds, work)
        except torch.cuda.OutOfMemoryError:
            break
        if rate > best:
            best, chosen = rate, batch
    del model
    if device.type == "cuda":
        torch.cuda.empty_cache()  # our program wants the memory
    return best, chosen


def our_rate(program, benchmark, device, seconds):
    command = [program, f"--benchmark_filter=^{benchmark}(/|$)", "--benchmark_format=json", f"--benchmark_min_time={seconds}", "--device", str(device)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"gpu: {' '.join(command)} ended with {run.returncode}: {run.stderr.strip()}")
    entries = json.loads(run.stdout or '{"benchmarks": []}')["benchmarks"]
    if not entries:
        sys.exit(f"gpu: benchmark={benchmark} (not in {program}). Build it, or correct the table.")
    if entries[0].get("error_occurred"):
        sys.exit(f"gpu: benchmark={benchmark} (wrong values on {device}: {entries[0]['error_message']}). Repair the engine before measuring.")
    return entries[0]["items_per_second"], entries[0]["error"]


def product_rate(device):
    """Multiplications and additions per second of a large single-precision matrix product by PyTorch."""
    import torch

    size = 8192 if device.type == "cuda" else 2048
    a, b = torch.randn(size, size, device=device), torch.randn(size, size, device=device)

    def work():
        a @ b
        wait_for(device)

    return 2 * size**3 * repeat_for(1.0, work)


def environment(device):
    import neuralop
    import torch

    name = processor()
    if device.type == "cuda":
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split("\n")[0]
        memory = torch.cuda.get_device_properties(device).total_memory / 2**30
        name = f"{torch.cuda.get_device_name(device)}, {memory:.0f} GiB, driver {driver}, CUDA {torch.version.cuda}; host {name}"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return (f"{name}, {len(os.sched_getaffinity(0))} CPUs; PyTorch {torch.__version__} for both, TF32 off in products and convolutions, matrix product {product_rate(device) / 1e12:.3g} TFLOP/s; "
            f"neuraloperator {neuralop.__version__}; commit {commit}")


def report(rows, measured, device, rounds):
    title = "# Coalitions per second on a GPU: fewer operations, same efficiency" if device.type == "cuda" else "# Coalitions per second through the GPU's path, tried on the CPU"
    rates = [
        "| game | peer, coalitions/s | its batch | ours, coalitions/s | ours / peer | range | error |",
        "|---|--:|--:|--:|--:|---|--:|",
    ]
    operations = [
        "| game | plain MFLOP | engine MFLOP | plain / engine | ours / peer, coalitions/s | peer, TFLOP/s | ours, TFLOP/s |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    at_limit = 0
    for name, shape, _ in rows:
        peer, batch, ours, error = (list(column) for column in zip(*measured[name]))
        ratios, (plain, engine) = [a / b for a, b in zip(ours, peer)], MFLOP[name]
        ratio, chosen = statistics.median(ratios), statistics.mode(batch)
        at_limit += chosen == max(batches(shape, device))
        rates.append(f"| {name} | {statistics.median(peer):.4g} | {chosen} | {statistics.median(ours):.4g} | {ratio:.2f} | {min(ratios):.2f}..{max(ratios):.2f} | {max(error):.1e} |")
        operations.append(f"| {name} | {plain:.4g} | {engine:.4g} | {plain / engine:.2f} | {ratio:.2f} "
                          f"| {1e-6 * plain * statistics.median(peer):.3g} | {1e-6 * engine * statistics.median(ours):.3g} |")
    return "\n".join([
        title,
        "",
        "The table has the coalitions per second of a game of hidden cells, where each point is a player. The operator is an FNO with 64 channels, 16 modes per axis,",
        "4 layers and padding 0.5, asked at the centre in single precision. The peer is eager neuraloperator.",
        "",
        "## What it shows",
        "",
        *rates,
        "",
        "*error*: the largest difference to double precision over the standard deviation of v.",
        "",
        "The engine needs fewer operations for a coalition than a plain forward pass. Where *ours / peer* is *plain / engine*, both reach the same share of the GPU's rate,",
        "and the gain is in the operations alone. Where ours has fewer TFLOP/s, the engine uses the GPU less well than the peer does.",
        "",
        *operations,
        "",
        "## How it was run",
        "",
        f"`benchmarks/gpu/run`, {rounds} round{'s' if rounds > 1 else ''}; numbers are medians, and the range of the ratio over rounds. The peer gets masks that are on the device already. Ours",
        "reads coalitions from the host and returns values there.",
        "",
        environment(device) + ".",
        "",
        "## Known faults",
        "",
        f"- The peer's best batch is the upper limit of the search in {at_limit} of {len(rows)} rows. Larger batches were not tried.",
        "- The peer runs eagerly: no `torch.compile`, no CUDA graphs, no TF32 and no BF16. Its time for a coalition includes all points of the masks.",
        "- The operations are those that [performance.md](performance.md) counts on the CPU. That the GPU's engine carries out the same ones is an assumption.",
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="bench_gpu, built against the PyTorch of this Python")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="per measurement, and per batch size of the peer")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--out", help="the report; - for standard output alone (default: reports/gpu.md for a GPU)")
    arguments = parser.parse_args()

    import torch

    # Products are in float32 by default and convolutions are not: each has a flag of its own.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        print(f"gpu: --device={arguments.device} (PyTorch {torch.__version__} sees no GPU). Run on a machine with one, or try the script with --device cpu.", file=sys.stderr)
        sys.exit(4)
    device = torch.device(arguments.device)
    rows = [row for row in ROWS if arguments.only in row[0]]
    if not rows:
        print(f"gpu: --only={arguments.only} (in no row's name). Give a part of one: {', '.join(row[0] for row in ROWS)}.", file=sys.stderr)
        sys.exit(2)
    out = arguments.out or ("reports/gpu.md" if device.type == "cuda" else "-")
    measured = {row[0]: [] for row in rows}
    for done in range(1, arguments.rounds + 1):
        for name, shape, benchmark in rows:
            measured[name].append(peer_rate(shape, device, arguments.seconds) + our_rate(arguments.program, benchmark, device, arguments.seconds))
            print(f"{name}: peer {measured[name][-1][0]:.4g}/s, ours {measured[name][-1][2]:.4g}/s", file=sys.stderr)
        # After every round: a GPU that is lent may be gone before the last one.
        text = report(rows, measured, device, done)
        if out != "-":
            pathlib.Path(out + ".part").write_text(text)
            os.replace(out + ".part", out)
    print(text, end="")


if __name__ == "__main__":
    main()
