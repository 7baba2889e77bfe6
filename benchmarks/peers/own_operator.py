"""The way of an FNO that was made in Python: it is trained by neuraloperator, exported, and gets an explainer by `opshap train explainer`.

The operator maps a periodic field u(x, 0) on 256 points to Burgers' solution u(x, 0.5). Its settings are neuraloperator's defaults but for a padding of one
half. The report has the commands, their minutes and what the explainer's error is on inputs that neither it nor the operator has seen.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from neuralop.models import FNO

from compare import processor
from solvers import TURN, burgers

sys.path.insert(0, "tools")
from export_model import export  # noqa: E402

POINTS, SAMPLES, EPOCHS, BATCH = 256, 600, 40, 20


def initial_states(random):
    """Eight waves whose amplitudes fall with the wavenumber, [SAMPLES, POINTS]."""
    x, waves = np.arange(POINTS) / POINTS, np.arange(1, 9)
    amplitudes, phases = random.standard_normal((SAMPLES, 8, 1)) / waves[:, None], random.uniform(0, TURN, (SAMPLES, 8, 1))
    return (0.5 * amplitudes * np.cos(TURN * waves[:, None] * x + phases)).sum(1)


def trained(inputs, solutions):
    torch.manual_seed(1)
    model = FNO(n_modes=(16,), hidden_channels=64, in_channels=1, out_channels=1, domain_padding=0.5)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            optimiser.zero_grad()
            error = ((model(inputs[rows]) - solutions[rows]) ** 2).sum((1, 2)) / (solutions[rows] ** 2).sum((1, 2))
            error.mean().backward()
            optimiser.step()
        rates.step()
    return model.eval()


def run(*command):
    """What the command prints, and its seconds."""
    start = time.perf_counter()
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return printed, time.perf_counter() - start


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", required=True, help="build folder of opshap")
    arguments.add_argument("--threads", default="2")
    arguments.add_argument("--write", help="file for the report; without it the report is printed")
    asked = arguments.parse_args()
    torch.set_num_threads(int(asked.threads))
    opshap = os.path.join(os.path.abspath(asked.build), "opshap")
    inputs = initial_states(np.random.default_rng(1))
    solutions = np.stack([burgers(u) for u in inputs])
    as_tensor = lambda rows: torch.tensor(rows[:, None], dtype=torch.float32)
    held_out = 100

    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        start = time.perf_counter()
        model = trained(as_tensor(inputs[held_out:]), as_tensor(solutions[held_out:]))
        training = time.perf_counter() - start
        with torch.no_grad():
            errors = torch.linalg.vector_norm(model(as_tensor(inputs[:held_out])) - as_tensor(solutions[:held_out]), dim=(1, 2)) / np.linalg.norm(solutions[:held_out], axis=1)
        export(model, at("fno.safetensors"))
        np.save(at("fields.npy"), inputs[:, None].astype(np.float64))
        np.save(at("u.npy"), inputs[:1].astype(np.float64))
        command = ["train", "explainer", "--operator", at("fno.safetensors"), "--inputs", at("fields.npy"), "--domain", "periodic", "--out", at("explainer.safetensors")]
        printed, seconds = run(opshap, *command, "--threads", asked.threads, "--json")
        found = json.loads(printed)
        attribute = ["attribute", "--operator", at("fno.safetensors"), "--input", at("u.npy"), "--explainer", at("explainer.safetensors"), "--query"]
        _, one = run(opshap, *attribute, "128", "--json")
        _, every = run(opshap, *attribute, "all", "--json", "--out", at("values.npy"))
        values = np.load(at("values.npy"))
        shown = lambda words: " ".join(words).replace(folder + os.sep, "")

        lines = [
            "# An explainer of an FNO that was made in Python",
            "",
            "An FNO is trained in Python and exported. One command then trains an explainer of it for any query, and another one explains an input.",
            "",
            f"The FNO has 16 modes, width 64, a padding of one half and otherwise neuraloperator's defaults. It was trained for {training / 60:.1f} minutes on {SAMPLES - held_out} inputs "
            f"and solutions of Burgers' equation on {POINTS} points. On {held_out} other inputs its median relative error is {float(errors.median()):.4f}.",
            "",
            "```",
            "from export_model import export",
            'export(model, "fno.safetensors")',
            "```",
            "",
            "```",
            f"opshap {shown(command)}",
            f"opshap {shown(attribute)} 128 --json",
            f"opshap {shown(attribute)} all --out values.npy",
            "```",
            "",
            f"The first command took {seconds / 60:.1f} minutes ({found['seconds'] / 60:.1f} by its own count). It made {found['operator_evaluations']} evaluations of the operator, with the references "
            f"of its held-out inputs. Its labels were those of `{found['target']}`. The second command took {one:.2f} s, and the third {every:.2f} s for all {values.shape[-1]} queries, with start and loading.",
            "",
            "The table has the median NRMSE on held-out inputs, each at a random query, against certified references. The interval (95 %) is that of the median over other draws of the inputs.",
            "",
            "| n | inputs | NRMSE | 95 % | the reference's own error | seconds of an explanation |",
            "|---:|---:|---:|---|---:|---:|",
        ]
        for row in found["held_out"]:
            low, high = row["interval"]
            lines.append(f"| {row['players']} | {row['inputs']} | {row['nrmse']:.4f} | {low:.4f} to {high:.4f} | {row['reference_error']:.4f} | {row['seconds']:.4f} |")
        lines += ["", "## How it was run", "", f"`benchmarks/peers/run --own-operator` on {processor()}, {asked.threads} threads, with torch {torch.__version__} and neuraloperator 2.0.0."]
    text = "\n".join(lines) + "\n"
    if asked.write:
        with open(asked.write, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
