"""How a fixture is written: coalitions as hexadecimal numbers, doubles by their shortest decimal form that reads back the same, one case a line."""

import importlib.metadata
import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "shapiq"


def mask(row):
    """A coalition as a hexadecimal number: bit i = player i."""
    return format(sum(1 << int(player) for player in np.flatnonzero(row)), "x")


def masks(matrix):
    return [mask(row) for row in matrix]


def all_coalitions(players):
    """[2^n, n] booleans, bit i of the row's index = player i."""
    return (np.arange(1 << players)[:, None] >> np.arange(players)) & 1 == 1


def indices(matrix):
    """The row of all_coalitions that each coalition is."""
    return matrix.astype(np.int64) @ (1 << np.arange(matrix.shape[1], dtype=np.int64))


def require(condition, *what):
    if not condition:
        raise SystemExit("golden: " + " ".join(str(part) for part in what))


def close(a, b, tolerance, *what):
    """Raises unless the largest difference is within tolerance times the largest value."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    scale = max(1e-300, float(np.max(np.abs(b))))
    error = float(np.max(np.abs(a - b)))
    require(error <= tolerance * scale, *what, f"error={error:g}, scale={scale:g}, tolerance={tolerance:g}")


def plain(value):
    """numpy to what JSON has. A number that is not finite is an error, not a token that JSON lacks."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def write(subject, about, packages, cases):
    head = {
        "version": 1,
        "about": about,
        "made_by": f"python reference_data/generate/golden.py --only {subject}",
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }
    lines = ",\n".join(json.dumps(plain(case), separators=(",", ":"), allow_nan=False) for case in cases)
    text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n"
    json.loads(text)
    path = FOLDER / f"{subject}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return len(text)
