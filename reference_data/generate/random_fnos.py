"""FNOs of neuraloperator 2.0.0 with random options, each exported, run by `opshap operator run` on two grids, and compared.

    python3 reference_data/generate/random_fnos.py --count 20 --seed 1        (neuraloperator 2.0.0; numpy; any torch it runs with)

It prints a row for each network: how far the two outputs are apart (relative L2), or the refusal. It ends with exit code 1 when one is further than 1e-5. Now and
then a network has an option that `opshap` does not have. Its export must name it.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import torch
from fno_options import constructed, drawn, functions

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import export  # noqa: E402

LIMIT = 1e-5
OTHER_GRIDS = {1: (21,), 2: (10, 12)}  # the first ones are those of fno_options.py


def random_options(draw):
    axes = draw.choice([1, 2])
    return {
        "n_modes": tuple(draw.choice([2, 4, 5, 6, 8]) for _ in range(axes)), "in_channels": draw.choice([1, 2]), "out_channels": draw.choice([1, 3]),
        "hidden_channels": draw.choice([6, 12, 32]), "n_layers": draw.choice([1, 2, 4]), "domain_padding": draw.choice([None, 0.25, 0.5]),
        "lifting_channel_ratio": draw.choice([0, 1, 2, 2.5]), "projection_channel_ratio": draw.choice([1, 2, 3]),
        "positional_embedding": draw.choice(["grid", None]), "norm": draw.choice([None, None, "instance_norm", "group_norm", "batch_norm"]),
        "use_channel_mlp": draw.choice([True, True, False]), "channel_mlp_expansion": draw.choice([0.5, 1, 0.25]),
        "channel_mlp_skip": draw.choice(["soft-gating", "linear", "identity", None]), "fno_skip": draw.choice(["linear", "soft-gating", "identity", None]),
        "non_linearity": draw.choice(list(functions)), "stabilizer": draw.choice([None, None, "tanh"]),
        "factorization": draw.choice([None, None, "Tucker", "CP", "TT"]), "rank": draw.choice([0.2, 0.5]),
        # What is not supported, now and then.
        "preactivation": draw.random() < 0.05, "resolution_scaling_factor": draw.choice([None] * 19 + [2]),
    }


def applied(program, file, x):
    """What `opshap operator run` makes of fields. `program`: its file, and the options it always gets."""
    given, got = file.with_suffix(".x.npy"), file.with_suffix(".y.npy")
    numpy.save(given, x)
    run = subprocess.run([*program, "operator", "run", file, "--input", given, "--out", got], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return numpy.load(got)


def distance(found, expected):
    return float(numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected))


def compare(count, seed, program):
    """Rows of (options, [distance on each grid], refusal), the distances empty where there is a refusal."""
    draw, rows = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.safetensors"
        for number in range(count):
            options = random_options(draw)
            try:
                export(constructed(options), file)
            except ValueError as refusal:
                rows.append((options, [], str(refusal)))
            else:
                model, x, y = drawn(options, seed * 1000 + number)
                export(model, file)
                other = torch.randn(2, model.in_channels, *OTHER_GRIDS[model.n_dim])
                with torch.no_grad():
                    expected = [y.numpy(), model(other).numpy()]
                found = [applied(program, file, fields.numpy()) for fields in (x, other)]
                rows.append((options, [distance(a, b) for a, b in zip(found, expected)], ""))
            print(number, *(f"{error:.1e}" for error in rows[-1][1]), rows[-1][2], in_words(options), flush=True)
    return rows


def in_words(options):
    return ", ".join(f"{name}={value}" for name, value in options.items() if value is not None and value is not False)


def worst(rows):
    return max(error for _, errors, _ in rows for error in errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--opshap", default="build/release/opshap")
    arguments = parser.parse_args()
    rows = compare(arguments.count, arguments.seed, [arguments.opshap])
    print(f"largest distance: {worst(rows):.1e}; refused: {sum(bool(refusal) for _, _, refusal in rows)}")
    sys.exit(worst(rows) > LIMIT)


if __name__ == "__main__":
    main()
