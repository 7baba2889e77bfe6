"""Writes the LocalNOs of reference_data/neuraloperator/: as neuraloperator 2.0.0 makes them, each with an input and its output.

    python3 reference_data/generate/neuraloperator_local_no.py        (neuraloperator 2.0.0; torch-harmonics 0.7.4; numpy; any torch they run with)

`local_no` has both local branches in all layers. `local_no_branches` has them in some layers, and works on a grid that is no square. `local_no_differences` has
no DISCO layers. The finite differences stand in the files under both of their names, as in the state_dict.
"""

import json
import pathlib
import struct
import sys

import numpy
import torch
from neuralop.models import LocalNO

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import _arrays  # noqa: E402

folder = root / "reference_data" / "neuraloperator"


def write(path, config, state_dict):
    arrays = _arrays({name: tensor.clone() for name, tensor in state_dict.items() if name != "_metadata"})  # both names stay
    header = {"__metadata__": {"config": json.dumps(config)}}
    offset = 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))


def make(name, shape, **settings):
    torch.manual_seed(2)
    config = dict(n_modes=[4, 6], in_channels=2, out_channels=1, hidden_channels=4, **settings)
    model = LocalNO(**config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn(parameter.shape)  # no bias is zero
        x = torch.randn(2, 2, *shape)
        y = model(x)
    write(folder / f"{name}.safetensors", {"model": "local_no", **config}, model.state_dict())
    numpy.save(folder / f"{name}_input.npy", x.numpy())
    numpy.save(folder / f"{name}_output.npy", y.numpy())


make("local_no", (8, 8), n_layers=2, default_in_shape=[8, 8], domain_padding=0.5)
make("local_no_branches", (6, 9), n_layers=3, default_in_shape=[16, 16], disco_layers=[True, False, True], diff_layers=[False, True, True])
make("local_no_differences", (6, 6), n_layers=2, default_in_shape=[20, 12], disco_layers=False, domain_padding=0.5)
