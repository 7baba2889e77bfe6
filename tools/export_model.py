#!/usr/bin/env python3
"""Writes a neuraloperator FNO, or a multiwavelet MWT1d, as the safetensors file that `opshap` reads. Needs only the torch and numpy the model was trained with.

    from export_model import export
    export(model, "fno.safetensors")

or, for a state_dict saved with torch.save:

    python3 export_model.py state_dict.pt fno.safetensors

The configuration is that of the live model, or that of the state_dict's `_metadata`, where neuraloperator keeps the constructor's arguments. A model that
pads has its padding in the file. A model without padding has a padding of 0 there. A setting that `opshap` does not have is refused by name.
A state_dict without `_metadata` needs the settings in words: `export(state_dict, "fno.safetensors", n_modes=[16], hidden_channels=64, ...)` or
`--config '{"n_modes": [16], "hidden_channels": 64, "n_layers": 4, "domain_padding": 0.5}'`. A setting that is left out has the default of neuraloperator's
constructor, so a padding that is left out is no padding. What is said in words must agree with what the model says.

The configuration of an MWT1d is in the shapes of its tensors. Its last input channel is the place i/N, which `opshap` gives it by itself; a model without one
needs `positional_embedding=None` in words.

Complex tensors are written as float32 with a last dimension of 2; `_metadata` (which holds Python functions) is left out. `load` reads such a file back, and
`load_into(model, path)` gives its weights to a live model.
"""

import argparse
import json
import struct

import numpy

# The settings that `opshap` has, and their values where neuraloperator's constructor has a default.
KNOWN = ("n_modes", "hidden_channels", "n_layers", "in_channels", "out_channels", "domain_padding", "domain_padding_mode")
REQUIRED = ("n_modes", "in_channels", "out_channels", "hidden_channels")  # in the order of neuraloperator's constructor
DEFAULTS = {"n_layers": 4, "domain_padding": 0}
# The settings that `opshap` has with one value only: neuraloperator's default.
FIXED = {
    "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "positional_embedding": "grid", "norm": None, "complex_data": False,
    "use_channel_mlp": True, "channel_mlp_expansion": 0.5, "channel_mlp_skip": "soft-gating", "fno_skip": "linear", "resolution_scaling_factor": None,
    "fno_block_precision": "full", "stabilizer": None, "max_n_modes": None, "factorization": None, "separable": False, "preactivation": False,
}


def _padding(value):
    """One fraction for all axes; 0 for none."""
    fractions = set(value) if isinstance(value, (list, tuple)) else {value or 0}
    if len(fractions) != 1:
        raise ValueError(f"export: domain_padding={value} (opshap pads all axes by one fraction). Train a model with equal fractions.")
    return float(fractions.pop())


def _settings(arguments, who):
    """The configuration in a constructor's arguments, by name."""
    for name, only in FIXED.items():
        if name in arguments and arguments[name] != only:
            raise ValueError(f"export: {name}={arguments[name]} in {who} (opshap's FNO has {name}={only}). Train a model with that setting.")
    activation = getattr(arguments.get("non_linearity"), "__name__", "gelu")
    if activation != "gelu":
        raise ValueError(f"export: non_linearity={activation} in {who} (opshap's FNO has gelu). Train a model with that setting.")
    found = {name: arguments[name] for name in KNOWN if name in arguments}
    if "n_modes" in found:
        found["n_modes"] = [int(count) for count in found["n_modes"]]
    if "domain_padding" in found:
        found["domain_padding"] = _padding(found["domain_padding"])
    return found


def _live_settings(model):
    """The configuration of a live model. Attributes are what forward() uses, also where they were changed after construction."""
    known = dict(getattr(model, "_init_kwargs", {}))
    known.update({name: getattr(model, name) for name in KNOWN if hasattr(model, name)})
    padding = getattr(model, "domain_padding", None)
    known["domain_padding"] = 0 if padding is None else getattr(padding, "domain_padding", padding)
    if hasattr(padding, "domain_padding_mode"):  # before 2.0.0
        known["domain_padding_mode"] = padding.domain_padding_mode
    return _settings(known, "the model")


def _of_shapes(model, state_dict, positional_embedding="grid"):
    """The configuration of an MWT1d."""
    width, inputs = state_dict["Lk.weight"].shape
    k = len(state_dict["MWT_CZ.0.T0.bias"])
    if getattr(model, "L", 0) != 0:
        raise ValueError(f"export: L={model.L} in the model (opshap's MWT goes down to one point, L=0). Train a model with that setting.")
    return {
        "model": "mwt", "in_channels": inputs - (positional_embedding is not None), "out_channels": len(state_dict["Lc1.bias"]), "c": width // k, "k": k,
        "alpha": state_dict["MWT_CZ.0.A.weights1"].shape[2], "n_cz": sum(name.endswith(".T0.bias") for name in state_dict),
        "positional_embedding": positional_embedding,
    }


def configuration(model_or_state_dict, **config):
    """The configuration that the file gets: that of the model or of its `_metadata`, and `config` for what they do not say."""
    state_dict = model_or_state_dict.state_dict() if hasattr(model_or_state_dict, "state_dict") else model_or_state_dict
    if "MWT_CZ.0.T0.bias" in state_dict:
        return _of_shapes(model_or_state_dict, state_dict, **config)
    if hasattr(model_or_state_dict, "state_dict"):
        found = _live_settings(model_or_state_dict)
    else:
        arguments = dict(model_or_state_dict.get("_metadata") or {})
        arguments.update(zip((*REQUIRED, "n_layers"), arguments.get("args", ())))
        found = _settings(arguments, "_metadata")
    for name, value in config.items():
        value = _padding(value) if name == "domain_padding" else list(value) if isinstance(value, tuple) else value
        if found.setdefault(name, value) != value:
            raise ValueError(f"export: {name}={value} (the model has {found[name]}). Leave it out.")
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise ValueError(f"export: {', '.join(missing)} (neither the model nor the caller says). Give it by name.")
    return {"model": "fno", **DEFAULTS, **found}


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


def export(model_or_state_dict, path, **config):
    """Writes weights and configuration. `config` has the keys of `opshap operator golden`'s CONFIG, for what the model itself does not say."""
    settings = configuration(model_or_state_dict, **config)
    arrays = _arrays(model_or_state_dict.state_dict() if hasattr(model_or_state_dict, "state_dict") else model_or_state_dict)
    header = {"__metadata__": {"config": json.dumps(settings)}}
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


def load_into(model, path):
    """Gives a live model the weights of a file that `opshap` or export() wrote. Names and shapes must be those of the model."""
    import torch

    _, arrays = load(path)
    known = model.state_dict()
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    for name, tensor in tensors.items():
        if name in known and known[name].is_complex():
            tensors[name] = torch.view_as_complex(tensor)
    if "_metadata" in known:  # neuraloperator keeps the constructor's arguments there
        tensors["_metadata"] = known["_metadata"]
    model.load_state_dict(tensors, strict=True)


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
