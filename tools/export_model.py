#!/usr/bin/env python3
"""Writes a neuraloperator FNO as the safetensors file that `opshap` reads. Needs only the torch and numpy the model was trained with.

    from export_model import export
    export(model.state_dict(), "fno.safetensors", n_modes=[16], hidden_channels=64, n_layers=4, in_channels=1, out_channels=1, domain_padding=0.5)

or, for a state_dict saved with torch.save:

    python3 export_model.py state_dict.pt fno.safetensors --config '{"n_modes": [16], "hidden_channels": 64, "n_layers": 4}'

Complex tensors are written as float32 with a last dimension of 2; `_metadata` (which holds Python functions) is left out. `load` reads such a file back.
"""

import argparse
import json
import struct

import numpy


def _arrays(state_dict):
    """Name to float32 array, complex ones as [..., 2]."""
    arrays = {}
    for name, tensor in state_dict.items():
        if name == "_metadata" or not hasattr(tensor, "detach"):
            continue
        array = tensor.detach().cpu().resolve_conj().contiguous().numpy()
        if numpy.iscomplexobj(array):
            array = numpy.stack([array.real, array.imag], axis=-1)
        arrays[name] = numpy.ascontiguousarray(array, dtype="<f4")
    return arrays


def export(state_dict, path, **config):
    """Writes the weights and the configuration (the keys of `opshap operator golden`'s CONFIG; those left out have neuraloperator's defaults)."""
    arrays = _arrays(state_dict)
    header = {"__metadata__": {"config": json.dumps({"model": "fno", **config})}}
    offset = 0
    for name in sorted(arrays):
        size = arrays[name].nbytes
        header[name] = {"dtype": "F32", "shape": list(arrays[name].shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)))
        out.write(text)
        for name in sorted(arrays):
            out.write(arrays[name].tobytes())


def load(path):
    """(configuration, name to float32 array) of a file that `opshap` or export() wrote."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    arrays = {name: numpy.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"]) for name, entry in header.items()}
    return json.loads(metadata.get("config", "{}")), arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state_dict")
    parser.add_argument("out")
    parser.add_argument("--config", default="{}", help="JSON object: n_modes, hidden_channels, n_layers, in_channels, out_channels, domain_padding, ...")
    arguments = parser.parse_args()
    import torch

    state_dict = torch.load(arguments.state_dict, map_location="cpu", weights_only=False)
    export(state_dict, arguments.out, **json.loads(arguments.config))


if __name__ == "__main__":
    main()
