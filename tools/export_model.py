#!/usr/bin/env python3
"""Writes a trained Python model as the safetensors file that `opshap` reads, and reads such a file back.

It knows FNO, TFNO, LocalNO and GINO of neuraloperator, and the multiwavelet MWT1d. It needs only the torch and numpy
that the model was trained with.

    from export_model import export
    export(model, "fno.safetensors")

or, for a state_dict saved with torch.save:

    python3 export_model.py state_dict.pt fno.safetensors

The configuration is that of the live model, or that of the state_dict's `_metadata`, where neuraloperator keeps the
constructor's arguments. A setting that `opshap` does not have is refused by name. Factorised weights (TFNO) are
written as the tensors that they make up. A tensor that the state_dict has under two names is written once.

A state_dict without `_metadata` needs the settings in words: `export(state_dict, "fno.safetensors", n_modes=[16],
in_channels=1, out_channels=1, hidden_channels=64)`, or `--config '{"n_modes": [16], ..., "domain_padding": 0.5}'`. The
words are the keys of the CONFIG of `opshap operator golden`, or the names in neuraloperator's constructor. A setting
that is left out has the default of the constructor, so a padding that is left out is no padding. What is said in words
must agree with what the model says.

The latent grid of a GINO is an argument of its forward(), so only you know it: `latent_shape=[64, 64]` is needed in
words. Its points must be linspace(0, 1) on each axis. `mesh_box=[x0, x1, y0, y1]` says which box you mapped to the unit
square before the mesh came into the model. Without it the mesh is in the unit square.

The configuration of an MWT1d is in the shapes of its tensors. Its last input channel is the place i/N, which `opshap`
gives it by itself. A model without one needs `positional_embedding=None` in words.

A model of another class, or one with a setting that is refused, may still be saved as it is:
`torch.jit.save(torch.jit.script(model), "model.pt")`. `opshap` takes that archive where it takes a file of weights. It
then knows nothing of the model but its answers and their gradients. Choose export() where it works: the file can be
trained on, runs in float64, has the mean field, and goes to the coalition engines.

`load_into(model, path)` gives the weights of a file to a live model, with `load_state_dict(strict=True)`.
`live_model(path)` makes the model of neuraloperator that the file is of. `load(path)` gives the bare arrays. Complex
tensors are float32 with a last dimension of 2 in the file.
"""

import argparse
import dataclasses
import json
import struct

import numpy


@dataclasses.dataclass(frozen=True)
class Model:
    """What a class of neuraloperator is for `opshap`. Settings have the names of the CONFIG."""

    leading: tuple  # the constructor's first parameters, which may be given by position
    required: tuple  # settings without a default
    defaults: dict  # settings that the file always names
    options: dict = dataclasses.field(default_factory=dict)  # settings that the file names where they differ from this
    values: dict = dataclasses.field(default_factory=dict)  # what a setting may be, where it is one of a few
    fixed: dict = dataclasses.field(default_factory=dict)  # settings with one value in `opshap`, which is the default
    renamed: dict = dataclasses.field(default_factory=dict)  # the constructor's name of a setting, where it is another

    def knows(self, key):
        return key in self.required or key in self.defaults or key in self.options or key == "domain_padding_mode"


SPECTRAL = {
    "resolution_scaling_factor": None, "separable": False, "preactivation": False, "conv_module": "SpectralConv",
}
EMBEDDINGS = ("grid", None)
TRANSFORMS = ("linear", "nonlinear")
SKIPS = ("linear", "identity", "soft-gating", None)

MODELS = {
    "fno": Model(
        leading=("n_modes", "in_channels", "out_channels", "hidden_channels", "n_layers"),
        required=("n_modes", "in_channels", "out_channels", "hidden_channels"),
        defaults={"n_layers": 4, "domain_padding": 0},
        options={
            "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "positional_embedding": "grid", "norm": None,
            "use_channel_mlp": True, "channel_mlp_expansion": 0.5, "channel_mlp_skip": "soft-gating",
            "fno_skip": "linear", "stabilizer": None, "non_linearity": "gelu",
        },
        values={
            "positional_embedding": EMBEDDINGS, "norm": (None, "instance_norm", "group_norm", "batch_norm"),
            "stabilizer": (None, "tanh"), "channel_mlp_skip": SKIPS, "fno_skip": SKIPS,
            "non_linearity": ("gelu", "relu", "tanh", "silu"),
        },
        fixed={"complex_data": False, "fno_block_precision": "full", **SPECTRAL},
    ),
    "local_no": Model(
        leading=("n_modes", "in_channels", "out_channels", "hidden_channels", "default_in_shape", "n_layers"),
        required=("n_modes", "in_channels", "out_channels", "hidden_channels", "default_in_shape"),
        defaults={"n_layers": 4, "domain_padding": 0, "disco_layers": True, "diff_layers": True},
        options={"positional_embedding": "grid"},
        values={"positional_embedding": EMBEDDINGS},
        fixed={
            "disco_kernel_shape": [2, 4], "radius_cutoff": None, "domain_length": [2, 2], "disco_groups": 1,
            "disco_bias": True, "conv_padding_mode": "periodic", "fin_diff_kernel_size": 3, "mix_derivatives": True,
            "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "non_linearity": "gelu", "norm": None,
            "complex_data": False, "use_channel_mlp": False, "local_no_skip": "linear",
            "local_no_block_precision": "full", "stabilizer": None, **SPECTRAL,
        },
    ),
    "gino": Model(
        leading=("in_channels", "out_channels", "latent_feature_channels", "projection_channel_ratio", "gno_coord_dim"),
        required=("in_channels", "out_channels", "n_modes", "latent_shape"),
        defaults={
            "hidden_channels": 64, "n_layers": 4, "in_radius": 0.033, "out_radius": 0.033, "in_transform": "linear",
            "out_transform": "linear", "fno_in_channels": 3, "mesh_box": [0, 1, 0, 1],
        },
        values={"in_transform": TRANSFORMS, "out_transform": TRANSFORMS},
        fixed={
            "latent_feature_channels": None, "projection_channel_ratio": 4, "gno_coord_dim": 2,
            "gno_weighting_function": None, "in_gno_pos_embed_type": "transformer",
            "out_gno_pos_embed_type": "transformer", "fno_lifting_channel_ratio": 2, "gno_embed_channels": 32,
            "gno_embed_max_positions": 10000, "in_gno_channel_mlp_hidden_layers": [80, 80, 80],
            "out_gno_channel_mlp_hidden_layers": [512, 256], "gno_channel_mlp_non_linearity": "gelu",
            "out_gno_tanh": None, "fno_block_precision": "full", "fno_use_channel_mlp": True,
            "fno_channel_mlp_expansion": 0.5, "fno_non_linearity": "gelu", "fno_stabilizer": None, "fno_norm": None,
            "fno_skip": "linear", "fno_channel_mlp_skip": "soft-gating",
            **{f"fno_{name}": value for name, value in SPECTRAL.items()},
        },
        renamed={
            "fno_n_modes": "n_modes", "fno_hidden_channels": "hidden_channels", "fno_n_layers": "n_layers",
            "in_gno_radius": "in_radius", "out_gno_radius": "out_radius", "in_gno_transform_type": "in_transform",
            "out_gno_transform_type": "out_transform",
        },
    ),
}
# Settings that change nothing once the weights are expanded, or outside of a training.
WITHOUT_EFFECT = (
    "channel_mlp_dropout", "factorization", "rank", "fixed_rank_modes", "implementation", "decomposition_kwargs",
)
ATTRIBUTES = ("n_modes", "hidden_channels", "n_layers", "in_channels", "out_channels")


def _kind(state_dict):
    """The architecture that a state_dict is of, by the names of its tensors."""
    if "MWT_CZ.0.T0.bias" in state_dict:
        return "mwt"
    if any(name.startswith("gno_in.") for name in state_dict):
        return "gino"
    if any(part in name for name in state_dict for part in ("local_no_blocks.", ".differential.", ".local_convs.")):
        return "local_no"
    if any(name.startswith("fno_blocks.") for name in state_dict):
        return "fno"
    first = ", ".join(sorted(name for name in state_dict if name != "_metadata")[:3])
    raise ValueError(
        f"export: tensors={first}, ... (the model is none of FNO, TFNO, LocalNO, GINO and MWT1d). "
        "Save it as it is: torch.jit.save(torch.jit.script(model), PATH); opshap takes such an archive too."
    )


def _padding(value):
    """One fraction for all axes; 0 for none."""
    fractions = set(value) if isinstance(value, (list, tuple)) else {value or 0}
    if len(fractions) != 1:
        raise ValueError(
            f"export: domain_padding={value} (opshap pads all axes by one fraction). Train a model with one fraction."
        )
    return float(fractions.pop())


def _activation(function):
    """The name of a function, a class, or a module without parameters."""
    name = getattr(function, "__name__", type(function).__name__.lower())
    return name if getattr(function, "approximate", "none") == "none" else f"{name} by {function.approximate}"


def _plain(key, value):
    """A setting as JSON has it."""
    if key == "domain_padding":
        return _padding(value)
    if isinstance(value, (list, tuple)):
        return [_plain("", entry) for entry in value]
    if isinstance(value, numpy.generic):
        return value.item()
    return _activation(value) if callable(value) else value


def _settings(model, arguments, who):
    """What the arguments say of a model's settings. Throws for a value that `opshap` does not have."""
    found = {}
    for name, value in arguments.items():
        key = model.renamed.get(name, name)
        value = _plain(key, value)
        if key in model.fixed and value != model.fixed[key]:
            raise ValueError(
                f"export: {name}={value} in {who} (opshap has {name}={model.fixed[key]} alone). "
                "Train a model with that setting, or save this one by torch.jit.save."
            )
        if value not in model.values.get(key, (value,)):
            known = ", ".join(str(one) for one in model.values[key])
            raise ValueError(
                f"export: {name}={value} in {who} (opshap has {known}). "
                "Train a model with one of these, or save this one by torch.jit.save."
            )
        if model.knows(key):
            found[key] = value
    used, most = found.get("n_modes"), arguments.get("max_n_modes")
    if most is not None and list(most) != used:
        raise ValueError(
            f"export: max_n_modes={list(most)} in {who} (opshap uses all modes of a model, and n_modes={used} "
            "are fewer). Make n_modes equal to it."
        )
    return found


def _arguments(model_or_state_dict, leading):
    """(the constructor's arguments by name, where they are from). Attributes are what forward() uses, also where they
    were changed after construction."""
    live = hasattr(model_or_state_dict, "state_dict")
    known = getattr(model_or_state_dict, "_init_kwargs", {}) if live else model_or_state_dict.get("_metadata") or {}
    who = "the model" if live else "_metadata"
    positions = known.get("args", ())
    if len(positions) > len(leading):
        raise ValueError(
            f"export: args={positions} in {who} (only {', '.join(leading)} are known by position). "
            "Make the model with names for its arguments."
        )
    arguments = {**known, **dict(zip(leading, positions))}
    if live:
        model = model_or_state_dict
        arguments.update({name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)})
        padding = getattr(model, "domain_padding", None)
        arguments["domain_padding"] = getattr(padding, "domain_padding", padding)
        if hasattr(padding, "domain_padding_mode"):  # before 2.0.0
            arguments["domain_padding_mode"] = padding.domain_padding_mode
    return arguments, who


def _of_shapes(model, state_dict, positional_embedding="grid"):
    """The configuration of an MWT1d."""
    width, inputs = state_dict["Lk.weight"].shape
    k = len(state_dict["MWT_CZ.0.T0.bias"])
    if getattr(model, "L", 0) != 0:
        raise ValueError(
            f"export: L={model.L} in the model (opshap's MWT goes down to one point, L=0). Train a model with L=0."
        )
    return {
        "model": "mwt", "in_channels": inputs - (positional_embedding is not None),
        "out_channels": len(state_dict["Lc1.bias"]), "c": width // k, "k": k,
        "alpha": state_dict["MWT_CZ.0.A.weights1"].shape[2],
        "n_cz": sum(name.endswith(".T0.bias") for name in state_dict), "positional_embedding": positional_embedding,
    }


def configuration(model_or_state_dict, **config):
    """The CONFIG that the file gets: what the model or its `_metadata` says, and `config` for what they do not say."""
    state_dict = model_or_state_dict.state_dict() if hasattr(model_or_state_dict, "state_dict") else model_or_state_dict
    kind = _kind(state_dict)
    config = {key: value for key, value in config.items() if (key, value) != ("model", kind)}
    if kind == "mwt":
        return _of_shapes(model_or_state_dict, state_dict, **config)
    model = MODELS[kind]
    for name in config:
        if not (model.knows(model.renamed.get(name, name)) or name in model.fixed or name in WITHOUT_EFFECT):
            raise ValueError(
                f"export: {name}={config[name]} (is no setting of a {kind}). Its settings are "
                f"{', '.join((*model.required, *model.defaults, *model.options))}."
            )
    found = _settings(model, *_arguments(model_or_state_dict, model.leading))
    for key, value in _settings(model, config, "the words").items():
        if found.setdefault(key, value) != value:
            raise ValueError(f"export: {key}={value} (the model has {found[key]}). Leave it out.")
    missing = [key for key in model.required if key not in found]
    if missing:
        raise ValueError(f"export: {', '.join(missing)} (neither the model nor the caller says). Give it by name.")
    used = {key: value for key, value in found.items() if key not in model.options or value != model.options[key]}
    return {"model": kind, **model.defaults, **used}


def _expanded(arrays):
    """Factorised spectral weights (Tucker, CP, tensor train) as the tensors that they make up."""
    dense = {name: array for name, array in arrays.items() if ".factors.factor_" not in name}
    for name in sorted({name.split(".factors.factor_")[0] for name in arrays if ".factors.factor_" in name}):
        count = sum(other.startswith(f"{name}.factors.factor_") for other in arrays)
        factors = [arrays[f"{name}.factors.factor_{axis}"] for axis in range(count)]
        axes = "abcd"[:count]
        ranks = "ABCDE"
        if f"{name}.core" in dense:
            terms = [ranks[:count], *(axis + rank for axis, rank in zip(axes, ranks))]
            operands = [dense.pop(f"{name}.core"), *factors]
        elif f"{name}.weights" in dense:
            terms = ["A", *(axis + "A" for axis in axes)]
            operands = [dense.pop(f"{name}.weights"), *factors]
        else:
            terms = [ranks[i] + axes[i] + ranks[i + 1] for i in range(count)]
            operands = factors
        dense[f"{name}.tensor"] = numpy.einsum(",".join(terms) + "->" + axes, *operands, optimize=True)
    return dense


def _place(tensor):
    """Tensors of one place are one tensor under two names."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype


def _is_weight(name, value):
    """Beside the tensors there are the constructor's arguments, and how many batches a norm has seen in training."""
    return name != "_metadata" and hasattr(value, "detach") and not name.endswith("num_batches_tracked")


def _arrays(state_dict):
    """Name to float32 array, complex ones as [..., 2]. Of two names for one tensor the first in order is kept."""
    tensors = {name: state_dict[name].detach() for name in sorted(state_dict) if _is_weight(name, state_dict[name])}
    first = {}
    for name, tensor in tensors.items():
        first.setdefault(_place(tensor), name)
    arrays = {}
    for name in first.values():
        tensor = tensors[name].cpu().resolve_conj().contiguous()
        arrays[name] = (tensor if tensor.is_complex() else tensor.float()).numpy()
    arrays = _expanded(arrays)
    for name, array in arrays.items():
        if numpy.iscomplexobj(array):
            array = numpy.stack([array.real, array.imag], axis=-1)
        arrays[name] = numpy.ascontiguousarray(array, dtype="<f4")
        if not numpy.isfinite(arrays[name]).all():
            raise ValueError(f"export: {name} (has values that are NaN or infinite). Train the model again.")
    return arrays


def export(model_or_state_dict, path, **config):
    """Writes weights and configuration. `config` has settings in words, for what the model itself does not say."""
    settings = configuration(model_or_state_dict, **config)
    live = hasattr(model_or_state_dict, "state_dict")
    arrays = _arrays(model_or_state_dict.state_dict() if live else model_or_state_dict)
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
    """(configuration, name to array) of a file that `opshap` or export() wrote."""
    types = {"F32": "<f4", "F64": "<f8"}
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    arrays = {
        name: numpy.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }
    return json.loads(metadata.get("config", "{}")), arrays


def load_into(model, path):
    """Gives a live model the weights of a file that `opshap` or export() wrote, with load_state_dict(strict=True).

    Throws where the file lacks a tensor of the model, has one that the model does not have, or has another shape. A
    model with factorised weights cannot be loaded into: the file has the tensors that the factors make up.
    """
    import torch

    known = model.state_dict()
    tensors = {}
    for name, array in load(path)[1].items():
        tensor = torch.from_numpy(array.copy())
        tensors[name] = torch.view_as_complex(tensor) if name in known and known[name].is_complex() else tensor
    loaded = {_place(known[name]): tensor for name, tensor in tensors.items() if name in known}
    for name, value in known.items():
        if not _is_weight(name, value):
            tensors[name] = value
        elif name not in tensors and _place(value) in loaded:  # a further name of a tensor that the file has
            tensors[name] = loaded[_place(value)]
    differences = {"missing": sorted(set(known) - set(tensors)), "unexpected": sorted(set(tensors) - set(known))}
    if any(differences.values()):
        lists = "; ".join(f"{what}: {', '.join(names)}" for what, names in differences.items() if names)
        raise ValueError(
            f"load_into: file={path} (does not fit the live {type(model).__name__}; {lists}). "
            "Make the model with the file's configuration and dense weights."
        )
    model.load_state_dict(tensors, strict=True)


def live_model(path):
    """The FNO, LocalNO or GINO of neuraloperator that a file is of, with its weights, to be used or trained on."""
    import neuralop.models
    from torch.nn import functional

    config, _ = load(path)
    names = {"fno": "FNO", "local_no": "LocalNO", "gino": "GINO"}
    kind = config.pop("model", "fno")
    if kind not in names:
        raise ValueError(
            f"live_model: model={kind} (neuraloperator has no such class). Make the model and call load_into()."
        )
    if config.pop("domain_padding_mode", "symmetric") != "symmetric" or config.pop("quadrature", "points") != "points":
        raise ValueError(
            f"live_model: file={path} (pads at one end, or counts points by their volumes; neuraloperator 2.0.0 does "
            "neither). Use it with opshap."
        )
    back = {key: name for name, key in MODELS[kind].renamed.items()}
    of_forward = ("latent_shape", "mesh_box")  # the caller gives these to forward(), not to the constructor
    arguments = {back.get(key, key): value for key, value in config.items() if key not in of_forward}
    if "non_linearity" in arguments:
        named = {"gelu": functional.gelu, "relu": functional.relu, "tanh": functional.tanh, "silu": functional.silu}
        arguments["non_linearity"] = named[arguments["non_linearity"]]
    if kind == "gino":
        arguments.update(gno_coord_dim=2, gno_use_open3d=False, gno_use_torch_scatter=False)
    model = getattr(neuralop.models, names[kind])(**arguments).eval()
    load_into(model, path)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state_dict")
    parser.add_argument("out")
    parser.add_argument("--config", default="{}", help="settings in words, a JSON object: n_modes, in_channels, ...")
    arguments = parser.parse_args()
    import torch

    state_dict = torch.load(arguments.state_dict, map_location="cpu", weights_only=False)
    export(state_dict, arguments.out, **json.loads(arguments.config))


if __name__ == "__main__":
    main()
