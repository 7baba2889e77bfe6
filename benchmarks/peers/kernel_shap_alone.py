"""shapiq's KernelSHAP on an FNO of neuraloperator in one Python process, without opshap: what `programs.py` compares the two pipes with.

    python kernel_shap_alone.py MODEL.safetensors FIELD.npy --point 32 --budget 4096 --seed 1 --batch 256 --threads 2

Prints JSON: the values, v(empty) and v(N), how many coalitions the game was asked for, and the seconds of the explanation and of the game in it. The
imports are left out of both.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "python")]

from export_model import live_model  # noqa: E402

from opshap_peer import torch_game  # noqa: E402


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model")
    arguments.add_argument("field")
    for name in ("point", "budget", "seed", "batch", "threads"):
        arguments.add_argument(f"--{name}", type=int, required=True)
    asked = arguments.parse_args()
    import torch
    from shapiq.approximator import KernelSHAP

    torch.set_num_threads(asked.threads)
    field = np.load(asked.field)
    players = field.size
    of_batch = torch_game(live_model(asked.model), field.reshape(1, -1), asked.point).function
    of_batch(np.zeros((asked.batch, players), bool))  # the first call allocates
    spent = {"coalitions": 0, "seconds": 0.0}

    def game(masks):
        start = time.perf_counter()
        masks = np.atleast_2d(masks)
        values = np.concatenate([of_batch(masks[first:first + asked.batch]) for first in range(0, len(masks), asked.batch)])
        spent["coalitions"] += len(masks)
        spent["seconds"] += time.perf_counter() - start
        return values

    start = time.perf_counter()
    found = KernelSHAP(n=players, random_state=asked.seed).approximate(asked.budget, game)
    seconds = time.perf_counter() - start
    empty, grand = of_batch(np.stack([np.zeros(players, bool), np.ones(players, bool)]))
    print(json.dumps({"values": [float(found[(player,)]) for player in range(players)], "empty": float(empty), "grand": float(grand),
                      "evaluations": spent["coalitions"], "seconds": seconds, "game_seconds": spent["seconds"]}))


if __name__ == "__main__":
    main()
