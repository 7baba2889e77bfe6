"""Measures the coalition engine, and what rests on it, against neuraloperator on PyTorch, and writes the tables of reports/performance.md.

Each round measures every row for the peer and for us, one after the other, so that a change of the machine's mood hits both; tables show medians over
rounds and, for ratios, the range. The peer evaluates batches of fields that are masked already, at the best of several batch sizes, each round anew.
"""

import argparse
import functools
import importlib.metadata
import math
import os
import statistics
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

from compare import limited_to, neuralop_fno, processor, repeat_for, run_benchmark

SIZES = [(1, 16), (1, 64), (1, 256), (1, 1024), (2, 4), (2, 8), (2, 16), (2, 32)]  # dimension, points per axis
WANTED = {(1, "avx512"): 7, (1, "avx2"): 3.5, (2, "avx512"): 6}  # times the peer's coalitions per second
TRAINING = [(32, 4), (128, 6)]  # coalitions per sample, times the peer's samples per second
TRAINING_POINTS, TRAINING_BATCH = 256, 32
MEAN_FIELD_NODES, MEAN_FIELD_WANTED = 8, 60  # plain forward passes
MEMORY_WANTED = 500  # MB
KERNELS = ["product", "product_sgemm", "gelu_quick", "gelu"]
CORE_TYPES = {"avx512": "SKYLAKEX", "avx2": "HASWELL"}  # what OpenBLAS calls the instruction sets


def batch_sizes(points):
    """What fits from the second-level cache to well beyond the third."""
    return [1 << i for i in range(14) if 1 << 11 <= (points << i) <= 1 << 16]


def peer_coalitions(dimension, side, seconds):
    """Fields per second and the batch size that gave them."""
    import torch

    model = neuralop_fno(dimension).eval()
    found = []
    for batch in batch_sizes(side**dimension):
        inputs = torch.randn(batch, 1, *[side] * dimension)
        with torch.inference_mode():
            found.append((batch * repeat_for(seconds, lambda inputs=inputs: model(inputs)), batch))
    return max(found)


def peer_training(coalitions, backbone_batch, seconds):
    """Samples per second of the FastSHAP loop: coalitions in complementary pairs from the Shapley kernel, their values, and a step of the explainer."""
    import torch

    points, batch = TRAINING_POINTS, TRAINING_BATCH
    backbone, explainer = neuralop_fno(seed=1).eval(), neuralop_fno(seed=2).train()
    optimiser = torch.optim.AdamW(explainer.parameters(), lr=3e-4, weight_decay=1e-5)
    inputs = torch.randn(batch, 1, points)
    sizes = torch.arange(1, points)
    law = 1.0 / (sizes * (points - sizes))

    def values(fields):
        with torch.inference_mode():
            found = torch.cat([backbone(part)[:, 0, points // 2] for part in fields.split(backbone_batch)])
        return found.clone()  # one that may take part in a backward pass

    empty = values(torch.zeros(1, 1, points))
    gains = values(inputs) - empty

    def step():
        pairs = batch * coalitions // 2
        drawn = torch.rand(pairs, points).argsort(1) < sizes[torch.multinomial(law, pairs, replacement=True)].unsqueeze(1)
        masks = torch.stack([drawn, ~drawn], 1).float().reshape(batch, coalitions, points)
        targets = (values((masks * inputs).reshape(-1, 1, points)) - empty).reshape(batch, coalitions)
        cells = explainer(inputs)[:, 0] / points
        shapley = cells + (gains - cells.sum(1)).unsqueeze(1) / points
        loss = torch.nn.functional.mse_loss(torch.bmm(masks, shapley.unsqueeze(2)).squeeze(2), targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return batch * repeat_for(2 * seconds, step)


def peer_sgemm(seconds):
    """GFLOP/s of PyTorch's BLAS."""
    import torch

    size = 2048
    a, b, c = (torch.rand(size, size) for _ in range(3))
    return 2e-9 * size**3 * repeat_for(seconds, lambda: torch.mm(a, b, out=c))


@dataclass
class Measured:
    """Values of the rounds; `facts` are those of the latest one."""

    peer: list = field(default_factory=list)
    ours: dict = field(default_factory=dict)  # by instruction set
    facts: dict = field(default_factory=dict)

    def add(self, peer, ours):
        self.peer.append(peer)
        for name, value in ours.items():
            self.ours.setdefault(name, []).append(value)

    def ratios(self, name):
        return [ours / peer for ours, peer in zip(self.ours[name], self.peer)]


middle = statistics.median


def table(columns, rows):
    lines = [f"| {' | '.join(columns)} |", f"|---{'|--:' * (len(columns) - 1)}|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def short(value):
    """Four digits, without an exponent."""
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}".replace(",", " ")


def ratio(values):
    return f"{middle(values):.2f} ({min(values):.2f}..{max(values):.2f})"


class Verdicts:
    """Targets, and whether all were reached."""

    def __init__(self):
        self.missed = []

    def at_least(self, what, value, wanted):
        if wanted is None:
            return ""
        if value < wanted:
            self.missed.append(f"{what}: {value:.2f} of at least {wanted:g}")
        return f"≥ {wanted:g}{'' if value >= wanted else ' MISSED'}"

    def at_most(self, what, value, wanted):
        if value > wanted:
            self.missed.append(f"{what}: {value:.2f} of at most {wanted:g}")
        return f"≤ {wanted:g}{'' if value <= wanted else ' MISSED'}"


def name_of(dimension, side):
    return f"FNO1D, n = {side}" if dimension == 1 else f"FNO2D, {side} x {side}"


def benchmark_of(kind, dimension, side):
    return f"fno{dimension}d_{kind}/{'n' if dimension == 1 else 'side'}:{side}"


@dataclass
class Results:
    context: dict
    sets: list  # instruction sets, the best first
    coalitions: dict
    training: dict
    mean_field: Measured = field(default_factory=Measured)
    sgemm: Measured = field(default_factory=Measured)
    once: dict = field(default_factory=dict)  # by kind and size
    memory: dict = field(default_factory=dict)
    memory_coalitions: int = 0
    kernels: dict = field(default_factory=dict)  # by instruction set and benchmark

    def of_machine(self, gflops):
        """As a share of the fastest sgemm."""
        return f"{100 * gflops / max(self.blas().values()):.0f} %"

    def blas(self):
        return {"PyTorch": middle(self.sgemm.peer), "OpenBLAS": middle(self.sgemm.ours["OpenBLAS"])}


def measure(arguments):
    """All rows, round by round."""
    ours = functools.partial(run_benchmark, arguments.build, threads=arguments.threads)

    def entry(program, benchmark, **options):
        return ours(program, benchmark, **options)[1][0]

    def rate(benchmark):
        return entry("bench_operators", benchmark)["items_per_second"]

    context = {**ours("bench_operators", "sgemm/n:1024")[0], **ours("bench_engine", benchmark_of("new_query", 1, 16))[0]}
    sets = [context["engine"]] + (["avx2"] if context["engine"] == "avx512" else [])
    results = Results(context, sets, {size: Measured() for size in SIZES}, {count: Measured() for count, _ in TRAINING})
    for _ in range(arguments.rounds):
        results.sgemm.add(peer_sgemm(arguments.seconds), {"OpenBLAS": entry("bench_operators", "sgemm/n:2048")["GFLOP/s"]})
        for size, row in results.coalitions.items():
            peer, batch = peer_coalitions(*size, arguments.seconds)
            entries = {name: entry("bench_engine", benchmark_of("coalitions", *size), OPSHAP_ENGINE=name) for name in sets}
            row.add(peer, {name: found["items_per_second"] for name, found in entries.items()})
            row.facts = {**entries[sets[0]], "peer_batch": batch}
        backbone_batch = results.coalitions[1, TRAINING_POINTS].facts["peer_batch"]
        for count, row in results.training.items():
            epoch = rate(f"fno1d_explainer_training/n:{TRAINING_POINTS}/coalitions:{count}")
            row.add(peer_training(count, backbone_batch, arguments.seconds), {"ours": epoch})
        # The "peer" is the mean field here, so that ratios are forward passes in the time of one value.
        forwards = {"alone": "fno1d_one_value/n:1024", "in a batch": "fno1d_value_at/n:1024"}
        value = rate(f"fno1d_mean_field/n:1024/nodes:{MEAN_FIELD_NODES}")
        results.mean_field.add(value, {name: rate(benchmark) for name, benchmark in forwards.items()})

    for kind in ("shares", "new_grid", "new_input", "new_query"):
        results.once[kind] = {size: entry("bench_engine", benchmark_of(kind, *size)) for size in SIZES}
    for name in sets:
        for benchmark in KERNELS:
            results.kernels[name, benchmark] = entry("bench_kernels", benchmark, OPSHAP_ENGINE=name, OPENBLAS_CORETYPE=CORE_TYPES[name])
    results.memory_coalitions = 1_000_000 if arguments.million else 1000
    million = ["--million"] if arguments.million else []
    results.memory = entry("bench_engine", f"fno1d_memory/n:1024/coalitions:{results.memory_coalitions}", arguments=million)
    return results


def coalition_section(results, verdicts):
    rows = []
    for size, row in results.coalitions.items():
        cells = [name_of(*size), short(middle(row.peer)), str(row.facts["peer_batch"])]
        for name in results.sets:
            ratios = row.ratios(name)
            wanted = verdicts.at_least(f"{name_of(*size)}, {name}", middle(ratios), WANTED.get((size[0], name)))
            cells += [short(middle(row.ours[name])), ratio(ratios), wanted]
        rows.append(cells)
    columns = [f"{column} {name}" for name in results.sets for column in ("engine", "engine / peer", "wanted")]
    return ["## Coalitions per second", table(["game", "peer", "its batch", *columns], rows)]


def operation_section(results):
    rows = []
    for size, row in results.coalitions.items():
        facts = row.facts
        cells = [name_of(*size), short(facts["plain_MFLOP"]), short(facts["MFLOP"]), short(facts["MGELU"])]
        rates = [1e-3 * middle(row.ours[name]) * facts["MFLOP"] for name in results.sets] + [1e-3 * middle(row.peer) * facts["plain_MFLOP"]]
        for gflops in rates:
            cells += [f"{gflops:.0f}", results.of_machine(gflops)]
        rows.append(cells)
    columns = [text for name in [*results.sets, "peer, plain"] for text in (f"GFLOP/s {name}", "of sgemm")]
    return [
        "How many operations this is. A product that is added to a sum counts as two operations. The engine's are counted in its kernels, and its activations "
        "apart (MGELU). A plain forward pass has all layers at all points, with fast Fourier transforms. The engine's time includes the activations.",
        table(["game", "plain MFLOP", "engine MFLOP", "MGELU", *columns], rows),
    ]


def time_section(results):
    kinds = ("first", "mixing", "axis", "blocks", "query", "rest", "gelu")
    shares = [[name_of(*size)] + [f"{100 * entry[kind]:.0f} %" for kind in kinds] for size, entry in results.once["shares"].items()]
    steps = ("new_grid", "new_input", "new_query")
    preparation = [[name_of(*size)] + [f"{results.once[kind][size]['real_time']:.2f}" for kind in steps] for size in SIZES]
    return [
        f"Where the time goes ({results.sets[0]}, one thread). The columns are the first block's coefficients, mixing, transforms along the first of two axes, "
        "blocks with their transforms along a line, the last block with the projection at the query, and the rest (looking up which points are shown, copies). "
        "Activations are a part of blocks and query. Their share is the time of a loop over as many activations alone.",
        table(["game", "first block", "mixing", "first axis", "blocks", "query", "rest", "activations"], shares),
        "Preparation, in ms on one thread: once for each grid, once for each input and once for each query.",
        table(["game", "grid", "input", "query"], preparation),
    ]


def kernel_section(results):
    rows = []
    for name in results.sets:
        found = {benchmark: results.kernels[name, benchmark] for benchmark in KERNELS}
        rows.append(
            [name]
            + [f"{found[benchmark]['GFLOP/s']:.1f}" for benchmark in KERNELS[:2]]
            + [f"{found[benchmark]['ns a number']:.2f}" for benchmark in KERNELS[2:]]
            + [f"{found[benchmark][error]:.1e}" for benchmark, error in zip(KERNELS[2:], ("absolute error", "relative error"))]
        )
    return [
        "## Kernels",
        "Products of 256 x 64 by 64 x 64 (GFLOP/s) and activations of 4096 numbers (ns per number) in cache, on one thread. The BLAS uses the same instruction set. "
        "The engine takes the quick GELU, whose error is absolute. Training takes the other one, which gives slopes too, and whose error is relative to x.",
        table(["instructions", "product", "product, sgemm", "quick GELU", "GELU", "absolute error, quick GELU", "relative error, GELU"], rows),
    ]


def training_section(results, verdicts):
    facts, rows = results.coalitions[1, TRAINING_POINTS].facts, []
    for count, wanted in TRAINING:
        row, name = results.training[count], f"n = {TRAINING_POINTS}, batch {TRAINING_BATCH}, {count} coalitions per sample"
        ours, peer, ratios = middle(row.ours["ours"]), middle(row.peer), row.ratios("ours")
        gflops = 1e-3 * ours * (count * facts["MFLOP"] + 3 * facts["plain_MFLOP"]), 1e-3 * peer * (count + 3) * facts["plain_MFLOP"]
        verdict = verdicts.at_least(f"training, {name}", middle(ratios), wanted)
        rows.append([name, short(peer), short(ours), ratio(ratios), verdict, *map(results.of_machine, gflops)])
    return [
        "## Training an explainer",
        "Samples per second. Ours is `train_explainer` over an epoch of 16 steps, with its validation and checkpoint. The peer's is the same loop written in "
        "PyTorch. Shares of the sgemm rate count coalitions as above, and three plain forward passes for the explainer's own step.",
        table(["step", "peer", "ours", "ours / peer", "wanted", "ours of sgemm", "peer of sgemm"], rows),
    ]


def value_section(results, verdicts):
    facts, value = results.coalitions[1, 1024].facts, results.mean_field
    alone, in_batch = value.ratios("alone"), value.ratios("in a batch")
    mean_field_gflops = 1e-3 * middle(value.peer) * 6 * MEAN_FIELD_NODES * facts["plain_MFLOP"]
    memory, count = results.memory, f"{results.memory_coalitions:,}".replace(",", " ")
    rows = [
        [f"mean-field Shapley value, n = 1024, {MEAN_FIELD_NODES} nodes", f"{1e3 / middle(value.peer):.1f} ms",
         f"{ratio(alone)} forward passes of one field; {ratio(in_batch)} of a field in a batch",
         verdicts.at_most("mean field, forward passes", middle(alone), MEAN_FIELD_WANTED), results.of_machine(mean_field_gflops)],
        [f"{count} coalitions at n = 1024", f"{1e-3 * memory['real_time']:.1f} s", f"{memory['peak_MB']:.0f} MB at the peak",
         verdicts.at_most("memory in MB", memory["peak_MB"], MEMORY_WANTED), results.of_machine(1e-3 * memory["items_per_second"] * facts["MFLOP"])],
    ]
    return [
        "## A value by the mean field, and memory",
        "A forward pass is our own `values_at` by LibTorch. One field takes one thread, and a batch takes all. Memory is that of the whole program, with the "
        "coalitions and their values.",
        "The mean field's share of the sgemm rate counts six plain forward passes per node: two branches, forward and reverse. The program carries out fewer "
        "operations than that, because it evaluates the last block at the query alone. So this share may exceed 100 %, and it is not the efficiency of the program.",
        table(["work", "time", "measured", "wanted", "of sgemm"], rows),
    ]


def report(results, arguments, command):
    """The whole text, and whether all targets are reached."""
    import torch

    verdicts, context, blas = Verdicts(), results.context, results.blas()
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], capture_output=True, text=True).stdout.strip() or "unknown"
    fastest = max(blas, key=blas.get)
    parts = [
        "# The coalition engine against neuraloperator",
        "Networks are the paper's FNO (width 64, 16 modes per axis, 4 layers, padding 0.5) with random weights. Each grid point is a player. Numbers are medians over "
        "the rounds, with ranges in brackets.",
        *coalition_section(results, verdicts),
        *operation_section(results),
        *time_section(results),
        *kernel_section(results),
        *training_section(results, verdicts),
        *value_section(results, verdicts),
        "## Targets",
        "All are reached." if not verdicts.missed else "Missed:\n\n" + "\n".join(f"- {line}" for line in verdicts.missed),
        "## How it was run",
        f"`{command}`, commit {commit}. {processor()}; instruction set {results.sets[0]}; {arguments.threads} threads; rounds: {arguments.rounds}. Peer: neuraloperator "
        f"{importlib.metadata.version('neuraloperator')} on PyTorch {torch.__version__}, eager (without `torch.compile`), malloc thresholds raised, the best of several "
        f"batch sizes. Ours: {context['compiler']}, LibTorch {context['libtorch']}, {context['blas']}.",
        f"The machine's sgemm rate is that of {fastest} in this run, {blas[fastest]:.0f} GFLOP/s on {arguments.threads} threads (products of 2048 x 2048; "
        f"{', '.join(f'{name} {gflops:.0f}' for name, gflops in blas.items())}).",
    ]
    kept = ("#", "|", "Missed")
    return "\n\n".join(part if part.startswith(kept) else textwrap.fill(part, 160, break_long_words=False) for part in parts) + "\n", not verdicts.missed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="per batch size of the peer")
    parser.add_argument("--million", action="store_true", help="measure memory with a million coalitions, which takes minutes, instead of a thousand")
    parser.add_argument("--write", metavar="FILE", help="write the tables there, too")
    arguments = parser.parse_args()

    words = sys.argv[3:]  # benchmarks/peers/run gives --build first
    with limited_to(arguments.threads):
        results = measure(arguments)
    text, met = report(results, arguments, " ".join(["benchmarks/peers/run", "--performance", *words]))
    print(text, end="")
    if arguments.write:
        with open(arguments.write + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(arguments.write + ".part", arguments.write)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
