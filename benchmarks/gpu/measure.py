"""Measures an FNO of the paper's size on one device: ours, and neuraloperator's by the same PyTorch.

The parts come in order of worth: whether our numbers are right, coalitions per second, training steps and labels, one training of a profile. Each has its share of nine minutes and
stops by itself. Every row goes to rows.jsonl as soon as it is known, so that a device that is lent may be taken back at any time.

The peer evaluates masked fields at the centre, in each of its forms: eager, compiled (torch.compile), and captured as a CUDA graph. Its batch is doubled until its rate falls or the
memory ends. For float32 both of PyTorch's flags for TF32 are off. TF32 turns both on, and BF16 is autocast. Its masks are on the device already; ours are asked for as a game
asks: coalitions as bits in the host's memory, values back there.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
from compare import neuralop_fno, processor, repeat_for  # noqa: E402

GAMES = [("FNO1D", n) for n in (256, 64, 1024, 16)] + [("FNO2D", n) for n in (8, 16, 32, 4)]  # in order of worth
PRECISIONS = ("float32", "tf32", "bf16")
BATCH, COALITIONS = 64, 128  # of a step of profile paper
SECONDS = {"correctness": 60, "coalitions": 240, "training": 110, "profile": 120}


class Rows:
    """Rows of one run, in a file that is complete after each of them."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = open(folder / "rows.jsonl", "w", encoding="utf-8")
        self.rows = []

    def add(self, **row):
        self.rows.append(row)
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        print(json.dumps(row), file=sys.stderr)


class Part:
    """The time that a part has."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()


def wait_for(device):
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def with_precision(precision):
    """Sets PyTorch's flags; returns the context of a computation."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    return lambda device: torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


def environment(device):
    import neuralop
    import torch

    found = {"processor": processor(), "processors": len(os.sched_getaffinity(0)), "pytorch": torch.__version__, "neuraloperator": neuralop.__version__,
             "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()}
    if device.type == "cuda":
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split("\n")[0]
        found |= {"card": torch.cuda.get_device_name(device), "memory_gib": round(torch.cuda.get_device_properties(device).total_memory / 2**30), "driver": driver, "cuda": torch.version.cuda}
    size = 8192 if device.type == "cuda" else 1024
    for precision in PRECISIONS:
        with_precision(precision)
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        a, b = torch.randn(size, size, device=device).to(dtype), torch.randn(size, size, device=device).to(dtype)

        def work():
            a @ b
            wait_for(device)

        found[f"product_tflops_{precision}"] = 2e-12 * size**3 * repeat_for(0.3, work)
    return found


def doubled(model):
    """With parameters twice as large as at the start of a training, as ours are: values then differ enough between coalitions for an error to be told from rounding."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


class Peer:
    """neuraloperator's FNO, asked for masked fields at the centre."""

    def __init__(self, name, points, device):
        import torch

        self.device, self.shape = device, (points,) * (2 if name == "FNO2D" else 1)
        self.model = doubled(neuralop_fno(len(self.shape))).eval().to(device)
        self.shown, self.hidden = torch.randn(1, 1, *self.shape, device=device), torch.zeros(1, 1, *self.shape, device=device)
        self.centre = (slice(None), 0) + tuple(size // 2 for size in self.shape)

    def values(self, model, masks):
        import torch

        return model(torch.where(masks, self.shown, self.hidden))[self.centre]

    def masks(self, batch):
        import torch

        return torch.rand(batch, 1, *self.shape, device=self.device) < 0.5

    def error(self, context):
        """max |difference| to double precision on the CPU, over the standard deviation of the values."""
        import torch

        masks = self.masks(64)
        with torch.inference_mode():
            with context(self.device):
                found = self.values(self.model, masks).double().cpu()
            exact = doubled(neuralop_fno(len(self.shape))).eval().double()
            for parameter in exact.parameters():  # double() leaves complex ones as they are
                if parameter.is_complex():
                    parameter.data = parameter.data.to(torch.complex128)
            mixed = torch.where(masks.cpu(), self.shown.double().cpu(), self.hidden.double().cpu())
            values = exact(mixed)[self.centre]
        return float((values - found).abs().max() / values.std())

    def call(self, form, batch, context):
        """A function that evaluates so many masked fields, and how many it does before it waits."""
        import torch

        masks = self.masks(batch)
        if form == "graph":
            self.values(self.model, masks)
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream), context(self.device):
                for _ in range(2):
                    self.values(self.model, masks)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph), context(self.device):
                self.values(self.model, masks)
            return graph.replay
        model = torch.compile(self.model) if form == "compiled" else self.model

        def run():
            with context(self.device):
                self.values(model, masks)

        return run

    def rate(self, form, precision, seconds, largest):
        """The best rate over batches, with its batch."""
        import torch

        context, best, chosen, batch = with_precision(precision), 0.0, 0, 16
        repetitions = 4 if self.device.type == "cuda" else 1
        while batch <= largest:
            try:
                with torch.inference_mode():
                    one = self.call(form, batch, context)

                    def work():
                        for _ in range(repetitions):
                            one()
                        wait_for(self.device)

                    rate = batch * repetitions * repeat_for(seconds, work)
            except torch.OutOfMemoryError:
                break
            if rate > best:
                best, chosen = rate, batch
            elif rate < 0.95 * best:
                break
            batch *= 4 if form == "compiled" else 2
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return best, chosen


def ours(programs, device, pattern, seconds):
    """Rows of bench_gpu: name, items per second, error."""
    command = [str(programs / "bench_gpu"), f"--benchmark_filter={pattern}", "--benchmark_format=json", f"--benchmark_min_time={seconds}", "--device", str(device)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"gpu: {' '.join(command)} ended with {run.returncode}: {run.stderr.strip()}")
    for entry in json.loads(run.stdout or '{"benchmarks": []}')["benchmarks"]:
        if entry.get("error_occurred"):
            yield entry["name"], None, entry["error_message"]
        else:
            yield entry["name"].split("/real_time")[0], entry["items_per_second"], entry.get("error")


def correctness(rows, programs, device):
    run = subprocess.run([str(programs / "bench_gpu"), "--device", str(device), "--check"], stdout=subprocess.PIPE, text=True)
    for line in run.stdout.splitlines():
        rows.add(**json.loads(line))
    if run.returncode not in (0, 1) or not run.stdout:
        sys.exit(f"gpu: bench_gpu --check ended with {run.returncode}. Look at what it said.")


def coalitions(rows, programs, device, part, quick):
    seconds = 0.05 if quick else 0.2
    only = {("FNO1D", 16), ("FNO2D", 4)} if quick else set(GAMES)
    kinds = ("coalitions", "kernel_tf32x3", "kernel_tf32", "kernel_bf16")
    for kind in kinds:
        pattern = f"^fno(1d_{kind}/n:16|2d_{kind}/n:4)/" if quick else f"^fno[12]d_{kind}/"
        for name, rate, error in ours(programs, device, pattern, seconds):
            game, size = ("FNO1D" if name.startswith("fno1d") else "FNO2D"), int(name.split("n:")[1].split("/")[0])
            precision = "float32" if kind == "coalitions" else kind.removeprefix("kernel_")
            rows.add(part="coalitions", who="ours", form="kernel" if kind != "coalitions" else "LibTorch", game=game, n=size, precision=precision, rate=rate, error=error)
    forms = [("eager", "float32"), ("graph", "float32"), ("eager", "tf32"), ("graph", "bf16"), ("eager", "bf16"), ("graph", "tf32"), ("compiled", "float32")]
    if device.type != "cuda":
        forms = [("eager", "float32"), ("eager", "bf16")]
    for form, precision in forms:
        for game, size in GAMES:
            if (game, size) not in only:
                continue
            if part.left() < (30 if form == "compiled" else 5):
                rows.add(part="coalitions", who="peer", form=form, game=game, n=size, precision=precision, rate=None, error="no time was left")
                continue
            try:
                peer = Peer(game, size, device)
                rate, batch = peer.rate(form, precision, seconds, 64 if quick else 1 << 20)
                rows.add(part="coalitions", who="peer", form=form, game=game, n=size, precision=precision, rate=rate, batch=batch, error=peer.error(with_precision(precision)))
            except RuntimeError as error:  # a form that PyTorch has not for this model, or not on this device
                rows.add(part="coalitions", who="peer", form=form, game=game, n=size, precision=precision, rate=None, error=str(error).split("\n")[0][:200])


def peer_training(device, points):
    """A step of FastSHAP's loss on labels that are there, and the labels of a batch."""
    import torch

    with_precision("float32")
    model, backbone = neuralop_fno().to(device), neuralop_fno(seed=1).eval().to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4, fused=device.type == "cuda")
    fields, gains = torch.randn(BATCH, 1, points, device=device), torch.randn(BATCH, device=device)
    members = (torch.rand(BATCH, COALITIONS, points, device=device) < 0.5).float()
    targets = torch.randn(BATCH, COALITIONS, device=device)

    def step():
        values = model(fields)[:, 0] / points
        values = values + ((gains - values.sum(1)) / points)[:, None]
        loss = (torch.bmm(members, values[:, :, None])[:, :, 0] - targets).square().mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return loss

    def labels():
        with torch.inference_mode():
            masked = (members * fields).reshape(-1, 1, points)
            return torch.cat([backbone(some)[:, 0, points // 2] for some in masked.split(4096 if device.type == "cuda" else 64)])

    return step, labels


def training(rows, programs, device, part, quick):
    seconds = 0.05 if quick else 0.5
    for kind in ("training_step", "labels"):
        for name, rate, _ in ours(programs, device, f"^fno1d_{kind}/" + ("n:16/" if quick else ""), seconds):
            rows.add(part="training", who="ours", what=kind, n=int(name.split("n:")[1].split("/")[0]), samples_per_second=rate)
    for points in (16,) if quick else (256, 16, 64, 1024):
        if part.left() < 10:
            return
        step, labels = peer_training(device, points)

        def work():
            for _ in range(4):
                step()
            wait_for(device)

        rows.add(part="training", who="peer", what="training_step", n=points, samples_per_second=4 * BATCH * repeat_for(seconds, work))

        def ask():
            labels()
            wait_for(device)

        if not quick or device.type == "cuda":
            rows.add(part="training", who="peer", what="labels", n=points, samples_per_second=BATCH * repeat_for(seconds, ask))


def profile(rows, programs, device, run, quick):
    """One training of a profile in a folder for it: what the manifest says of its stages."""
    minutes = 0.4 if quick else 1.9
    command = [str(programs / "opshap"), "reproduce", "--profile", "smoke" if quick else "paper", "--pde", "burgers1d", "--stage", "backbone", "--minutes", str(minutes),
               "--device", "cpu" if device.type == "cpu" else str(device), "--out", str(run)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    manifests = list(run.rglob("manifest.json"))  # of the problem's folder
    stages = json.loads(manifests[0].read_text())["stages"] if manifests else []
    rows.add(part="profile", command=" ".join(command[1:-2]), exit_code=done.returncode, stages=stages, said=done.stderr[-300:] if done.returncode not in (0, 6) else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="folder with bench_gpu and opshap, built against the PyTorch of this Python")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(os.environ.get("OUT", "gpu-rows")), help="folder for rows.jsonl and environment.json (default: $OUT, else gpu-rows)")
    parser.add_argument("--quick", action="store_true", help="small sizes alone: tries the script")
    arguments = parser.parse_args()

    import torch

    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        print(f"gpu: --device={arguments.device} (PyTorch {torch.__version__} sees no GPU). Run on a machine with one, or try the script with --device cpu --quick.", file=sys.stderr)
        sys.exit(4)
    device, programs, out, quick = torch.device(arguments.device), arguments.programs, arguments.out, arguments.quick
    if device.type == "cpu":
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    start, rows = time.monotonic(), Rows(out)
    correctness(rows, programs, device)
    found = environment(device)
    (out / "environment.json").write_text(json.dumps(found, indent=2) + "\n")
    coalitions(rows, programs, device, Part(SECONDS["coalitions"]), quick)
    training(rows, programs, device, Part(SECONDS["training"]), quick)
    with tempfile.TemporaryDirectory() as folder:
        profile(rows, programs, device, pathlib.Path(folder) / "run", quick)
    rows.add(part="end", seconds=time.monotonic() - start, wrong=[row["check"] for row in rows.rows if row.get("holds") is False])
    sys.exit(1 if rows.rows[-1]["wrong"] else 0)


if __name__ == "__main__":
    main()
