"""Measures the peers and our benchmarks in turn, and prints rates and ratios.

Each round measures every row for the peer and for us, one after the other, so that a change of the machine's mood hits both; the table shows the
median over rounds and, for the ratio, its range over rounds. A rate is the best of several batch sizes for the peer, whatever our benchmark chose for us.
Estimators are compared on one thread by the time they take beyond the game. For operators a second table
compares the rates with the machine's matrix products: a rate times the operations of a plain forward pass, as a share of the best sgemm of the round. Ours leaves out
what a value at one point does not need, so its share may be above 1. The same table says what our time goes to.
"""

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings


def repeat_for(seconds, work):
    """Calls work() for about that long; returns calls per second, the first two calls left out."""
    work()
    work()
    calls, start = 0, time.perf_counter()
    while calls < 2 or time.perf_counter() - start < seconds:
        work()
        calls += 1
    return calls / (time.perf_counter() - start)


def neuralop_fno(dimension=1, seed=0):
    import torch
    from neuralop.models import FNO

    torch.manual_seed(seed)
    return FNO(n_modes=(16,) * dimension, in_channels=1, out_channels=1, hidden_channels=64, n_layers=4, domain_padding=0.5)


def batches_of(points):
    return [batch for batch in (4, 8, 16, 32, 64, 256, 1024) if batch * points <= 1 << 17]


def neuralop_fno_of(points):
    def make():
        import torch

        return neuralop_fno(), lambda batch: {"x": torch.randn(batch, 1, points)}

    return make


def multiwavelets(points):
    """The authors' MWT1d at the paper's size, written from its formulas; as fast as theirs to a fifth."""

    def make():
        import pathlib

        import torch

        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reference_data" / "generate"))
        from mwt_plain import MWT1d

        torch.manual_seed(0)
        return MWT1d(), lambda batch: {"x": torch.randn(batch, points, 2)}

    return make


def forward_rate(make, batches):
    """Fields per second of the best batch size; make() is a model and what makes its inputs from a batch size."""

    def rate(seconds):
        import torch

        (model, inputs_of), best = make(), 0.0
        model.eval()
        for batch in batches:
            inputs = inputs_of(batch)
            with torch.inference_mode():
                best = max(best, batch * repeat_for(seconds, lambda: model(**inputs)))
        return best

    return rate


def training_rate(make, batch):
    def rate(seconds):
        import torch

        model, inputs_of = make()
        model.train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
        inputs = inputs_of(batch)
        targets = torch.randn_like(model(**inputs).detach())

        def step():
            optimiser.zero_grad(set_to_none=True)
            torch.nn.functional.mse_loss(model(**inputs), targets).backward()
            optimiser.step()

        return batch * repeat_for(2 * seconds, step)

    return rate


def neuralop_local_no(side):
    """Both local branches, as the reference has them by default."""

    def make():
        import torch
        from neuralop.models import LocalNO

        torch.manual_seed(0)
        model = LocalNO(n_modes=(16, 16), in_channels=1, out_channels=1, hidden_channels=64, n_layers=4, domain_padding=0.5, default_in_shape=(128, 128))
        return model, lambda batch: {"x": torch.randn(batch, 1, side, side)}

    return make


def neuralop_gino(points):
    """On a fixed mesh, whose neighbours are found once and kept: the reference's own form searches them again for every batch."""

    def make():
        import numpy
        import torch
        from neuralop.models import GINO

        torch.manual_seed(0)
        model = GINO(
            in_channels=2, out_channels=2, gno_coord_dim=2, in_gno_radius=0.05, out_gno_radius=0.05, in_gno_transform_type="nonlinear",
            out_gno_transform_type="nonlinear", fno_n_modes=(16, 16), fno_hidden_channels=64, fno_n_layers=4, gno_use_open3d=False, gno_use_torch_scatter=False,
        )
        for block in (model.gno_in, model.gno_out):
            block.neighbor_search = kept(block.neighbor_search)
        i = numpy.arange(1, points + 1)
        places = torch.tensor(numpy.stack([(0.5 + i * 0.7548776662466927) % 1, (0.5 + i * 0.5698402909980532) % 1], axis=1), dtype=torch.float32)
        line = torch.linspace(0, 1, 64)
        grid = torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1)
        geometry = {"input_geom": places[None], "latent_queries": grid[None], "output_queries": places[None]}
        return model, lambda batch: {"x": torch.randn(batch, points, 2), **geometry}

    return make


def kept(search):
    """The neighbours of the first call, for all calls."""
    import torch

    class Kept(torch.nn.Module):
        def forward(self, *arguments, **named):
            if not hasattr(self, "found"):
                self.found = search(*arguments, **named)
            return self.found

    return Kept()


def shapiq_beyond_the_game(method, players, budget):
    """Attributions per second beyond the game: an additive game that costs one matrix-vector product, timed apart and subtracted. The best of the repetitions."""

    def rate(seconds):
        import numpy as np

        weights = np.random.default_rng(0).standard_normal(players)
        in_game = 0.0

        def game(coalitions):
            nonlocal in_game
            start = time.perf_counter()
            values = coalitions.astype(float) @ weights if coalitions.ndim == 2 else np.array([coalitions @ weights])
            in_game += time.perf_counter() - start
            return values

        fastest, spent = float("inf"), 0.0
        while spent < seconds:
            approximator = method(players)
            in_game, start = 0.0, time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of budgets near 2^n
                approximator.approximate(budget=budget, game=game)
            taken = time.perf_counter() - start
            fastest, spent = min(fastest, taken - in_game), spent + taken
        return 1 / fastest

    return rate


def shapiq_kernel_shap(pairing):
    def make(players):
        import shapiq

        return shapiq.KernelSHAP(n=players, pairing_trick=pairing, random_state=1)

    return make


def shapiq_permutation(players):
    import shapiq

    return shapiq.PermutationSamplingSV(n=players, random_state=1)


def shapiq_regression_msr(folds):
    """With the settings of our own trees, all of them XGBoost's defaults."""

    def make(players):
        import shapiq
        import xgboost

        trees = xgboost.XGBRegressor(n_estimators=100, max_depth=6, learning_rate=0.3, reg_lambda=1, max_bin=256, tree_method="hist", n_jobs=1)
        return shapiq.RegressionMSR(n=players, index="SV", proxy_model=trees, k_folds=folds, random_state=1)

    return make


def estimator(name, players, method, least, benchmark=None):
    peer = shapiq_beyond_the_game(method, players, 8192)
    ours = benchmark or f"{name}/n:{players}/budget:8192"
    return (f"{name}, n = {players}, budget 8192", peer, "bench_estimators", ours, "attributions/s", least, 1)


ROWS = [  # name, the peer's rate, our program and benchmark, unit, least ratio (without a peer: least rate), threads (None: --threads)
    ("FNO1D forward, n = 64", forward_rate(neuralop_fno_of(64), batches_of(64)), "bench_operators", "fno1d_forward/n:64", "fields/s", 0.9, None),
    ("FNO1D forward, n = 256", forward_rate(neuralop_fno_of(256), batches_of(256)), "bench_operators", "fno1d_forward/n:256", "fields/s", 0.9, None),
    ("FNO1D forward, n = 1024", forward_rate(neuralop_fno_of(1024), batches_of(1024)), "bench_operators", "fno1d_forward/n:1024", "fields/s", 0.9, None),
    ("FNO1D training step, n = 256, batch 32", training_rate(neuralop_fno_of(256), 32), "bench_operators", "fno1d_training_step/n:256", "samples/s", 1.0, None),
    ("MWT, n = 1024", forward_rate(multiwavelets(1024), batches_of(1024)), "bench_operators", "mwt1d_coalitions/n:1024", "coalitions/s", 2.0, None),
    ("MWT training step, n = 1024, batch 32", training_rate(multiwavelets(1024), 32), "bench_operators", "mwt1d_training_step/n:1024", "samples/s", 1.0, None),
    ("LocalNO, 32 x 32", forward_rate(neuralop_local_no(32), (1, 2, 4, 8, 16)), "bench_operators", "local_no2d_coalitions/n:32", "coalitions/s", 2.0, None),
    ("LocalNO training step, 32 x 32, batch 8", training_rate(neuralop_local_no(32), 8), "bench_operators", "local_no2d_training_step/n:32", "samples/s", 1.0, None),
    ("GINO, 1900 points", forward_rate(neuralop_gino(1900), (1, 2)), "bench_operators", "gino2d_mesh_coalitions/n:1900", "coalitions/s", 5.0, None),
    ("GINO training step, 1900 points, batch 1", training_rate(neuralop_gino(1900), 1), "bench_operators", "gino2d_mesh_training_step/n:1900", "samples/s", 1.0, None),
    estimator("kernel_shap", 1024, shapiq_kernel_shap(False), 10.0),
    estimator("kernel_shap", 16, shapiq_kernel_shap(False), 10.0),
    estimator("kernel_shap_paired", 1024, shapiq_kernel_shap(True), 20.0),
    estimator("kernel_shap_paired", 16, shapiq_kernel_shap(True), 20.0),
    # shapiq has no antithetic permutations; as many orderings fit into the budget.
    estimator("permutation", 1024, shapiq_permutation, 20.0),
    estimator("permutation", 16, shapiq_permutation, 20.0),
    estimator("permutation_antithetic", 1024, shapiq_permutation, 20.0),
    estimator("permutation_antithetic", 16, shapiq_permutation, 20.0),
    # One fold and five; eight coalitions a player are 8192.
    estimator("regression_msr_tree_in_sample", 1024, shapiq_regression_msr(1), 1.0, "estimate/regression_msr_tree_in_sample/n:1024"),
    estimator("regression_msr_tree", 1024, shapiq_regression_msr(5), 1.0, "estimate/regression_msr_tree/n:1024"),
    ("exact, n = 24", None, "bench_estimators", "exact/n:24", "attributions/s", 2.0, 1),
]


# GFLOP of a plain forward pass, two for each product that is added, activations left out; a training step counts three passes.
PLAIN = {"MWT": 0.0552, "LocalNO": 2.67, "GINO": 40.1}  # at the sizes of the rows


@contextlib.contextmanager
def limited_to(threads):
    """Runs libraries and child processes on so many threads. Our programs use as many as they have CPUs."""
    import threadpoolctl
    import torch

    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cpus)[:threads])
    torch.set_num_threads(threads)
    try:
        with threadpoolctl.threadpool_limits(threads):
            yield
    finally:
        os.sched_setaffinity(0, cpus)


def run_benchmark(build, program, benchmark, threads, arguments=(), **environment):
    """The context and the iterations that our program reports for one benchmark."""
    command = [os.path.join(build, program), f"--benchmark_filter=^{benchmark}(/|$)", "--benchmark_format=json", *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS=str(threads), **environment)).stdout
    report = json.loads(output or '{"context": {}, "benchmarks": []}')
    entries = [entry for entry in report["benchmarks"] if entry.get("run_type") == "iteration"]
    if not entries:
        sys.exit(f"peers: benchmark={benchmark} (not in {program}). Build it, or correct the table.")
    return report["context"], entries


def our_rate(build, program, benchmark, threads):
    _, entries = run_benchmark(build, program, benchmark, threads)
    # Estimators say what they took beyond the game.
    return max(entry["items_per_second"] if "items_per_second" in entry else 1 / entry["estimator_seconds"] for entry in entries)


def processor():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def table_line(name, unit, least, rates):
    """The line of the table, and whether the row meets its target."""
    peer, ours = ([rate[side] for rate in rates] for side in (0, 1))
    middle = statistics.median(ours)
    if peer[0] is None:
        met = middle >= least
        cells = ["", f"{middle:.4g}", "", "", f"{least:g} {unit}"]
    else:
        ratios = [a / b for a, b in zip(ours, peer)]
        met = statistics.median(ratios) >= least
        cells = [f"{statistics.median(peer):.4g}", f"{middle:.4g}", f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}..{max(ratios):.2f}", f"{least:g}"]
    return f"| {name} | {unit} | {' | '.join(cells)}{'' if met else ' MISSED'} |", met


def architecture_of(row):
    return row.replace(",", "").split()[0]


def operator_lines(build, threads, measured, sgemm):
    """The second table: shares of the sgemm rate, and of our time on one thread."""
    lines = []
    for row in ROWS:
        if architecture_of(row[0]) not in PLAIN or row[0] not in measured:
            continue
        plain = PLAIN[architecture_of(row[0])] * (3 if "step" in row[0] else 1)
        shares = [statistics.median(rate[side] * plain / best for rate, best in zip(measured[row[0]], sgemm)) for side in (0, 1)]
        cells = [f"{100 * share:.0f} %" for share in shares]
        if "step" not in row[0]:
            with limited_to(1):
                _, entries = run_benchmark(build, row[2], row[3].replace("coalitions", "coalitions_split"), 1)
            cells += [f"{100 * entries[0][kind]:.0f} %" for kind in ("products", "operations", "kernels")]
        else:
            cells += [""] * 3
        lines.append(f"| {row[0]} | {plain:.3g} | {' | '.join(cells)} |")
    if not lines:
        return []
    head = "| work | GFLOP, plain | peer of sgemm | ours of sgemm | our time: products of LibTorch | its other operations | kernels of our own, masks |"
    return [f"\nThe best sgemm on {threads} threads: {statistics.median(sgemm):.0f} GFLOP/s\n", head, "|---|--:|--:|--:|--:|--:|--:|", *lines]


def best_sgemm(build, threads):
    """GFLOP/s of products of 2048 x 2048, of PyTorch or of ours."""
    import torch

    a, b = torch.rand(2048, 2048), torch.rand(2048, 2048)
    _, entries = run_benchmark(build, "bench_operators", "sgemm/n:2048", threads)
    return max(2e-9 * 2048**3 * repeat_for(1.0, lambda: a @ b), entries[0]["GFLOP/s"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="of the rows that are not measured on one thread")
    parser.add_argument("--seconds", type=float, default=1.0, help="per batch size of a peer")
    parser.add_argument("--only", default="", help="rows whose name contains one of these, separated by commas")
    arguments = parser.parse_args()

    import shapiq
    import torch
    import xgboost

    rows = [row for row in ROWS if any(part in row[0] for part in arguments.only.split(","))]
    measured, sgemm = {row[0]: [] for row in rows}, []
    of_operators = [row[0] for row in rows if architecture_of(row[0]) in PLAIN]
    for _ in range(arguments.rounds):
        if of_operators:
            with limited_to(arguments.threads):
                sgemm.append(best_sgemm(arguments.build, arguments.threads))
        for name, peer, program, benchmark, _, _, threads in rows:
            with limited_to(threads or arguments.threads):
                theirs = peer(arguments.seconds) if peer else None
                measured[name].append((theirs, our_rate(arguments.build, program, benchmark, threads or arguments.threads)))

    print(f"{processor()}, {arguments.threads} threads (estimators: 1), PyTorch {torch.__version__}, neuraloperator 2.0.0, shapiq {shapiq.__version__} with XGBoost "
          f"{xgboost.__version__}, {arguments.rounds} rounds, medians\n")
    print("| work | unit | peer | ours | ours / peer | range | at least |")
    print("|---|---|--:|--:|--:|---|--:|")
    lines = [table_line(name, unit, least, measured[name]) for name, _, _, _, unit, least, _ in rows]
    print("\n".join(line for line, _ in lines))
    if of_operators:
        print("\n".join(operator_lines(arguments.build, arguments.threads, measured, sgemm)))
    sys.exit(0 if all(met for _, met in lines) else 1)


if __name__ == "__main__":
    main()
