"""Writes reference_data/neuraloperator/: FNOs of neuraloperator 2.0.0 as they come from its constructor, each with an input and its output.

    python3 reference_data/generate/neuraloperator_plain.py        (neuraloperator 2.0.0; numpy; any torch it runs with)

`plain` sets nothing that the constructor does not ask for, and its CONFIG names nothing but what the constructor asks for. `exported` is the same network as
tools/export_model.py writes it. `padded` sets domain_padding, and is exported by tools/export_model.py.
"""

import json
import pathlib
import struct
import sys

import numpy
import torch
from neuralop.models import FNO

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import export  # noqa: E402

folder = root / "reference_data" / "neuraloperator"


def without(path, config):
    """Replaces the CONFIG of a file."""
    bytes_ = path.read_bytes()
    (length,) = struct.unpack("<Q", bytes_[:8])
    header = json.loads(bytes_[8 : 8 + length])
    header["__metadata__"]["config"] = json.dumps(config)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes_[8 + length :])


def write(name, **settings):
    torch.manual_seed(1)
    asked = dict(n_modes=(4,), in_channels=1, out_channels=1, hidden_channels=4)
    model = FNO(**asked, **settings).eval()
    x = torch.randn(2, 1, 12)
    with torch.no_grad():
        y = model(x)
    export(model, folder / f"{name}.safetensors")
    numpy.save(folder / f"{name}_input.npy", x.numpy())
    numpy.save(folder / f"{name}_output.npy", y.numpy())
    return asked


folder.mkdir(exist_ok=True)
write("padded", domain_padding=0.5)
asked = write("plain")
(folder / "exported.safetensors").write_bytes((folder / "plain.safetensors").read_bytes())
without(folder / "plain.safetensors", asked)
