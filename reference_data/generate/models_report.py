"""Writes reports/models.md: how far `opshap` is from the Python models, for each architecture and both ways.

    python3 reference_data/generate/models_report.py --opshap build/release/opshap --write reports/models.md
        (neuraloperator 2.0.0; torch-harmonics 0.7.4; numpy; any torch they run with)

`--many N` adds a line about N further networks of random options. `--device cuda:0` has `opshap` compute on a GPU, and needs a build against a CUDA wheel; Python
stays on the CPU. It ends with exit code 1 when a number is beyond its limit.
"""

import argparse
import concurrent.futures
import csv
import importlib.metadata
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import random_fnos
import torch
from end_to_end import grid_places, mesh_model, trained, waves
from mwt_plain import MWT1d, with_places
from neuralop.models import FNO, LocalNO

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import export, live_model, load, load_into  # noqa: E402

FLOAT32 = 1e-5  # relative L2 of two evaluations in float32
FLOAT64 = {"gino": 1e-6, "fno": 1e-8, "local_no": 1e-8, "mwt": 1e-8}
NUMBERS = ("first", "middle", "last", "mean", "l2")


class Report:
    """A section: lines of Markdown, and the numbers that did not keep their limits."""

    def __init__(self):
        self.lines, self.beyond = [], []

    def say(self, *lines):
        self.lines.extend(lines)

    def table(self, *names):
        self.say("| " + " | ".join(names) + " |", "|---" * len(names) + "|")

    def row(self, *cells):
        self.say("| " + " | ".join(str(cell) for cell in cells) + " |")
        print(*cells, sep=" | ", flush=True)

    def within(self, value, limit, what):
        if not value <= limit:
            self.beyond.append(f"{what}: {value:.2g} beyond {limit:g}")
        return f"{value:.1e}"


def command(program, *arguments):
    """What the program, a list of its file and the options that it always gets, writes to standard output."""
    run = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def golden_config(table, row):
    """(CONFIG, input shape) of a row of TABLE_golden.csv."""
    config, points = {"model": table}, [int(row["points"])]
    if table == "fno":
        points *= int(row["dimension"])
        config.update(n_modes=[16] * len(points), domain_padding=0.5, domain_padding_mode=row["padding_mode"])
    elif table == "local_no":
        points *= 2
        branches = {name: row[name] == "true" for name in ("disco_layers", "diff_layers")}
        config.update(domain_padding=0.5, default_in_shape=[int(row["default_points"])] * 2, **branches)
    elif table == "mwt":
        config.update(c=16, k=4, alpha=10, n_cz=2)
    else:
        channels = {name: int(row[name]) for name in ("in_channels", "out_channels")}
        config.update(in_transform="nonlinear", out_transform="nonlinear", in_radius=0.05, out_radius=0.05, **channels)
    return config, [int(row.get("batch", 1)), config.get("in_channels", 1), *points]


def golden(report, program, folder, _):
    report.say("", "## Golden values", "")
    report.say(
        "The five numbers of each row of `reference_data/*_golden.csv`, by `opshap operator golden`. Errors of the entries and of the mean are in units of the "
        "root mean square of the output. The error of the norm is relative. The column has the largest of the five.", "",
    )
    report.table("row", "model", "input", "float32 (at most 1e-5)", "float64 (at most 1e-8, GINO 1e-6)")
    for table in ("fno", "local_no", "mwt", "gino"):
        lines = (root / "reference_data" / f"{table}_golden.csv").read_text().splitlines()[1:]
        for row in csv.DictReader(lines):
            if row["id"] == "G2r":
                continue  # with the neighbour lists of neuraloperator, which lack one pair; properties/gino.cpp compares it
            config, shape = golden_config(table, row)
            (folder / "config.json").write_text(json.dumps(config))
            expected, cells = [float(row[name]) for name in NUMBERS], []
            values = config.get("out_channels", 1) * math.prod(shape) / shape[1]
            for dtype, limit in (("float32", FLOAT32), ("float64", FLOAT64[table])):
                flags = ("--input-shape", ",".join(map(str, shape)), "--dtype", dtype, "--json")
                found = json.loads(command(program, "operator", "golden", folder / "config.json", *flags))
                size = expected[-1] / math.sqrt(values)
                units = [size] * 4 + [expected[-1]]
                error = max(abs(found[name] - wanted) / unit for name, wanted, unit in zip(NUMBERS, expected, units))
                cells.append(report.within(error, limit, f"golden {row['id']} {dtype}"))
            report.row(row["id"], table, "x".join(map(str, shape)), *cells)


def devices(report, program, folder, _):
    """Long lines and large grids by the program's device and by its CPU: a transform that a device's library does differently would show here."""
    report.say("", "## The device against the CPU", "")
    report.say("FNOs with golden weights, in float64 on both: the five numbers, in the units of above.", "")
    report.table("model", "input", "float64 (at most 1e-8)")
    for axes, points in ((1, 8192), (2, 128)):
        shape = (1, 1) + (points,) * axes
        (folder / "config.json").write_text(json.dumps({"model": "fno", "n_modes": [16] * axes, "domain_padding": 0.5}))
        flags = ("operator", "golden", folder / "config.json", "--input-shape", ",".join(map(str, shape)), "--dtype", "float64", "--json")
        found, expected = (json.loads(command(by, *flags)) for by in (program, program[:1]))
        size = expected["l2"] / points ** (axes / 2)
        error = max(abs(found[name] - expected[name]) / (expected["l2"] if name == "l2" else size) for name in NUMBERS)
        report.row("fno", "x".join(map(str, shape)), report.within(error, FLOAT64["fno"], f"{points} points on the device"))


def models():
    """(name, live model, settings in words, input [B, C, ...], forward)."""
    torch.manual_seed(4)

    def field(channels, shape):
        waved = torch.from_numpy(waves(channels, grid_places(shape))).view(1, channels, *shape)
        return torch.cat([waved, torch.randn(2, channels, *shape)])

    def plain(name, model, shape):
        return name, trained(model), {}, field(model.in_channels, shape), lambda live, x: live(x)

    yield plain("FNO1D", FNO((16,), 1, 1, 32, domain_padding=0.5), (64,))
    yield plain("FNO2D", FNO((8, 8), 2, 1, 16, domain_padding=0.5, norm="group_norm"), (16, 24))
    yield plain("LocalNO", LocalNO((8, 8), 2, 2, 8, (32, 32), domain_padding=0.5), (16, 16))
    model, places, grid = mesh_model()
    points, values = torch.from_numpy(places), torch.randn(3, 2, len(places))
    words = {"latent_shape": list(grid.shape[:2])}
    yield "GINO", model, words, values, lambda live, x: live(points[None], grid[None], points[None], x.transpose(1, 2)).transpose(1, 2)
    model = trained(MWT1d(ich=2, c=4, k=4, alpha=6))
    yield "MWT", model, {}, field(1, (64,)), lambda live, x: live(with_places(x)).unsqueeze(1)


def both_ways(report, program, folder, _):
    report.say("", "## There and back", "")
    report.say(
        "A Python model is exported by `tools/export_model.py`, and `opshap operator run` applies the file. The first error is between its output and Python's "
        "(relative L2, float32 on both sides). `opshap operator import` then reads the file and writes one of its own. A fresh Python model takes the weights of "
        "that file with `load_state_dict(strict=True)`. The second error is between its output and that of the first model.", "",
    )
    report.table("model", "input", "weights", "opshap against Python (at most 1e-5)", "Python after the way back (at most 0)")
    mesh = folder / "mesh.npy"
    numpy.save(mesh, mesh_model()[1])
    for name, model, words, x, forward in models():
        first, second = folder / "first.safetensors", folder / "second.safetensors"
        export(model, first, **words)
        command(program, "operator", "import", first, "--out", second)
        numpy.save(folder / "x.npy", x.numpy())
        on_mesh = ("--mesh", mesh) if name == "GINO" else ()
        command(program, "operator", "run", second, "--input", folder / "x.npy", "--out", folder / "y.npy", *on_mesh)
        if name == "MWT":
            again = MWT1d(ich=2, c=4, k=4, alpha=6).eval()
            load_into(again, second)
        else:
            again = live_model(second)
        with torch.no_grad():
            y, back = forward(model, x).numpy(), forward(again, x).numpy()
        numbers = sum(array.size for array in load(second)[1].values())
        there = report.within(random_fnos.distance(numpy.load(folder / "y.npy"), y), FLOAT32, f"{name} there")
        report.row(name, "x".join(map(str, x.shape)), numbers, there, report.within(random_fnos.distance(back, y), 0, f"{name} back"))

    trained_here = root / "reports" / "desk" / "burgers1d" / "backbone" / "model.safetensors"
    model, errors = live_model(trained_here), []
    for n in (64, 1024):
        x = torch.from_numpy(waves(1, grid_places((n,))))[None]
        with torch.no_grad():
            y = model(x).numpy()
        copy = folder / "trained.safetensors"
        copy.write_bytes(trained_here.read_bytes())
        errors.append(random_fnos.distance(random_fnos.applied(program, copy, x.numpy()), y))
    error = report.within(max(errors), FLOAT32, "trained by opshap")
    report.say("", f"`{trained_here.relative_to(root)}`, which `opshap` trained, becomes neuraloperator's FNO by `live_model`. The outputs on 64 and 1024 points differ by {error} at most.")


def end_to_end(report, program, folder, _):
    report.say("", "## Attributions", "")
    report.say(
        "`reference_data/end_to_end`: `opshap attribute` against Shapley values of all coalitions and integrated gradients that Python computed (float32 on both "
        "sides). Errors are the largest of all players, in units of the game's largest value.", "",
    )
    report.table("model", "players", "exact (at most 4.8e-6)", "exact, without the engine", "integrated gradients")
    for case in json.loads((root / "reference_data" / "end_to_end" / "cases.json").read_text())["cases"]:
        name, cells = case["name"], []
        start = root / "reference_data" / "end_to_end" / name
        file, more = f"{start}.safetensors", ()
        if name == "gino":
            file, more = folder / "gino.safetensors", ("--mesh", f"{start}_mesh.npy")
            model, _, grid = mesh_model()
            export(model, file, latent_shape=list(grid.shape[:2]))
        flags = ("--operator", file, "--input", f"{start}_input.npy", "--partition", f"{start}_players.npy", "--json", *more)
        query = ",".join(map(str, case["query"]))
        midpoint = ("integrated_gradients", "--rule", "midpoint", "--nodes", case["nodes"])
        for key, method in (("shapley_values", ("exact",)), ("shapley_values", ("exact", "--no-engine")), ("integrated_gradients", midpoint)):
            found = json.loads(command(program, "attribute", *flags, "--query", query, "--method", *method))["values"]
            error = numpy.abs(numpy.subtract(found, case[key])).max() / case["largest_value"]
            cells.append(report.within(error, 40 * 2**-23, f"{name} {method[0]}"))
        report.row(name, len(case["shapley_values"]), *cells)


def random_options(report, program, _, many):
    report.say("", "## Random options", "")
    report.say(
        "Twenty FNOs of neuraloperator with random options (`reference_data/generate/random_fnos.py`), run by `opshap` on two grids: 12 and 21 points, or 6x8 and "
        "10x12. The outputs are equal to 1e-5 (relative L2), or the export is refused by name.", "",
    )
    rows = random_fnos.compare(20, 1, program)
    report.table("", "options", "first grid", "second grid")
    for number, (options, errors, refusal) in enumerate(rows):
        cells = [report.within(error, random_fnos.LIMIT, f"random FNO {number}") for error in errors]
        report.row(number, random_fnos.in_words(options), *(cells or [refusal, ""]))
    if many:
        rows = random_fnos.compare(many, 2, program)
        largest = report.within(random_fnos.worst(rows), random_fnos.LIMIT, f"{many} random FNOs")
        refused = sum(bool(refusal) for _, _, refusal in rows)
        report.say("", f"{many} further ones (`--count {many} --seed 2`): {refused} are refused by name, and the largest distance of the others is {largest}.")


def section(write, program, many):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        write(report, program, pathlib.Path(folder), many)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opshap", default="build/release/opshap")
    parser.add_argument("--write", default="reports/models.md")
    parser.add_argument("--many", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="of opshap")
    arguments = parser.parse_args()
    program = [arguments.opshap, *(["--device", arguments.device] if arguments.device != "cpu" else [])]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=root, check=True).stdout.strip()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("neuraloperator", "torch", "numpy"))
    head, provenance = Report(), Report()
    head.say(
        "# Models of Python in opshap, and back", "",
        "How far `opshap` is from the Python models of each architecture, in both directions. The limits stand in the headings of the columns.",
    )
    provenance.say(
        "", "## How it was run", "",
        f"`reference_data/generate/models_report.py` at commit {commit}, with {versions}. The LocalNO needs torch-harmonics 0.7.4. The MWT1d is that of "
        "`reference_data/generate/mwt_plain.py`, a plain transcription of the published formulas.",
    )
    if arguments.device != "cpu":
        provenance.say("", f"`opshap` ran with `--device {arguments.device}` ({torch.cuda.get_device_name(arguments.device)}, PyTorch {torch.__version__}), Python on the CPU.")
    # A section each in a process of its own: torch has one stream of random numbers a process.
    sections = [golden, both_ways, end_to_end, random_options]
    if arguments.device != "cpu":
        sections.insert(1, devices)
    with concurrent.futures.ProcessPoolExecutor(len(sections)) as pool:
        written = [head, *pool.map(section, sections, [program] * len(sections), [arguments.many] * len(sections)), provenance]
    pathlib.Path(arguments.write).write_text("\n".join(line for part in written for line in part.lines) + "\n")
    beyond = [number for part in written for number in part.beyond]
    print(*beyond or ["all numbers are within their limits"], sep="\n")
    sys.exit(bool(beyond))


if __name__ == "__main__":
    main()
