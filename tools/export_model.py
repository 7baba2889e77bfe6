#!/usr/bin/env python3
"""Writes a neuraloperator FNO, or a multiwavelet MWT1d, as the safetensors file that `opshap` reads. Needs only the torch and numpy the model was trained with.

    from export_model import export
    export(model, "fno.safetensors")

or, for a state_dict saved with torch.save:

    python3 export_model.py state_dict.pt fno.safetensors

The configuration is that of the live model, or that of the state_dict's `_metadata`, where neuraloperator keeps the constructor's arguments. A model that
pads has its padding in the file. A model without padding has a padding of 0 there. A setting that `opshap` does not have is refused by name.
Factorised weights (TFNO) are written as the tensors that they make up.
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
SIZES = ("n_modes", "hidden_channels", "n_layers", "in_channels", "out_channels", "domain_padding", "domain_padding_mode")
REQUIRED = ("n_modes", "in_channels", "out_channels", "hidden_channels")  # in the order of neuraloperator's constructor
DEFAULTS = {"n_layers": 4, "domain_padding": 0}
OPTIONS = {
    "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "positional_embedding": "grid", "norm": None, "use_channel_mlp": True,
    "channel_mlp_expansion": 0.5, "channel_mlp_skip": "soft-gating", "fno_skip": "linear", "stabilizer": None, "non_linearity": "gelu",
}
VALUES = {
    "positional_embedding": ("grid", None), "norm": (None, "instance_norm", "group_norm", "batch_norm"), "stabilizer": (None, "tanh"),
    "channel_mlp_skip": ("linear", "identity", "soft-gating", None), "fno_skip": ("linear", "identity", "soft-gating", None),
    "non_linearity": ("gelu", "relu", "tanh", "silu"),
}
# The settings that `opshap` has with one value only: neuraloperator's default.
FIXED = {
    "complex_data": False, "resolution_scaling_factor": None, "fno_block_precision": "full", "separable": False, "preactivation": False,
}


def _padding(value):
    """One fraction for all axes; 0 for none."""
    fractions = set(value) if isinstance(value, (list, tuple)) else {value or 0}
    if len(fractions) != 1:
        raise ValueError(f"export: domain_padding={value} (opshap pads all axes by one fraction). Train a model with equal fractions.")
    return float(fractions.pop())


def _activation(function):
    """The name of a function or of a module without parameters."""
    if isinstance(function, str):
        return function
    name = getattr(function, "__name__", type(function).__name__.lower())
    return name if getattr(function, "approximate", "none") == "none" else f"{name} by {function.approximate}"


def _settings(arguments, who):
    """The configuration in a constructor's arguments, by name. Options with the constructor's default are left out."""
    for name, only in FIXED.items():
        if arguments.get(name, only) != only:
            raise ValueError(f"export: {name}={arguments[name]} in {who} (opshap's FNO has {name}={only}). Train a model with that setting.")
    if arguments.get("max_n_modes") is not None and list(arguments["max_n_modes"]) != list(arguments.get("n_modes", ())):
        raise ValueError(f"export: max_n_modes={arguments['max_n_modes']} in {who} (opshap's FNO uses all of its modes). Make n_modes equal to it.")
    found = {name: arguments[name] for name in SIZES if name in arguments}
    if "n_modes" in found:
        found["n_modes"] = [int(count) for count in found["n_modes"]]
    if "domain_padding" in found:
        found["domain_padding"] = _padding(found["domain_padding"])
    for name, default in OPTIONS.items():
        value = arguments.get(name, default)
        value = _activation(value) if name == "non_linearity" else value
        if name in VALUES and value not in VALUES[name]:
            known = ", ".join(str(one) for one in VALUES[name])
            raise ValueError(f"export: {name}={value} in {who} (opshap's FNO has {known}). Train a model with one of these.")
        if value != default:
            found[name] = value
    return found


def _live_settings(model):
    """The configuration of a live model. Attributes are what forward() uses, also where they were changed after construction."""
    known = dict(getattr(model, "_init_kwargs", {}))
    known.update({name: getattr(model, name) for name in SIZES if hasattr(model, name)})
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
        if value == OPTIONS.get(name, found) and name not in found:
            continue
        if found.setdefault(name, value) != value:
            raise ValueError(f"export: {name}={value} (the model has {found[name]}). Leave it out.")
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise ValueError(f"export: {', '.join(missing)} (neither the model nor the caller says). Give it by name.")
    return {"model": "fno", **DEFAULTS, **found}


def _expanded(arrays):
    """Factorised spectral weights (Tucker, CP, tensor train) as the tensors that they make up."""
    dense = {name: array for name, array in arrays.items() if ".factors.factor_" not in name}
    for name in sorted({name.split(".factors.factor_")[0] for name in arrays if ".factors.factor_" in name}):
        factors = [arrays[f"{name}.factors.factor_{axis}"] for axis in range(sum(other.startswith(f"{name}.factors.factor_") for other in arrays))]
        axes = "abcd"[: len(factors)]
        ranks = "ABCDE"
        if f"{name}.core" in dense:
            terms = [ranks[: len(axes)], *(axis + rank for axis, rank in zip(axes, ranks))]
            operands = [dense.pop(f"{name}.core"), *factors]
        elif f"{name}.weights" in dense:
            terms = ["A", *(axis + "A" for axis in axes)]
            operands = [dense.pop(f"{name}.weights"), *factors]
        else:
            terms = [ranks[i] + axes[i] + ranks[i + 1] for i in range(len(axes))]
            operands = factors
        dense[f"{name}.tensor"] = numpy.einsum(",".join(terms) + "->" + axes, *operands, optimize=True)
    return dense


def _arrays(state_dict):
    """Name to float32 array, complex ones as [..., 2]."""
    arrays = {}
    for name, tensor in state_dict.items():
        if name == "_metadata" or not hasattr(tensor, "detach") or name.endswith("num_batches_tracked"):
            continue
        arrays[name] = tensor.detach().cpu().resolve_conj().contiguous().numpy()
    arrays = _expanded(arrays)
    for name, array in arrays.items():
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
    for name, value in known.items():  # the constructor's arguments, and how many batches a norm has seen in training
        if name == "_metadata" or name.endswith("num_batches_tracked"):
            tensors[name] = value
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
