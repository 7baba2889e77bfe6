#!/usr/bin/env python3
"""Writes a trained Python model as the safetensors file that `opshap` reads, and reads such a file back.

It knows FNO, TFNO, LocalNO and GINO of neuraloperator, and the multiwavelet MWT1d. It needs only the torch and numpy
that the model was trained with, and the files beside it.

    from export_model import export
    export(model, "fno.safetensors")

or, for a state_dict or checkpoint saved with torch.save:

    python3 export_model.py state_dict.pt fno.safetensors

A model that was trained on normalised fields is exported with its normalisers, and then takes and gives fields in
physical units:

    export(model, "fno.safetensors", in_normalizer=x_normalizer, out_normalizer=y_normalizer)
    export(processor.wrap(model), "fno.safetensors")          (neuraloperator's DefaultDataProcessor)

They are UnitGaussianNormalizer, for each channel, each point or all, or {"mean": array, "std": array, "eps": number}.
In the file they stand beside the weights, which stay as they are. A state_dict has their means and deviations, but not
their eps: `normalization={"input": {"eps": 1e-7}, "output": {"eps": 1e-7}}` says it. That is neuraloperator's default.

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

What wraps the weights is taken off: {"model": ...}, {"state_dict": ...}, {"model_state_dict": ...}, Lightning, and the
prefixes `module.`, `_orig_mod.` and `model.`. A live model is run on two grids and compared with what the written file
gives. Where they differ (a forward() of your own, a hook, a changed part), nothing is written. An MWT1d is not
compared, because neuraloperator does not have it.

In the plane the file says how the spectrum is shifted back, which matters on an odd number of points. Up to 2.0.0
neuraloperator has fftshift there, the default for a state_dict; `inverse_shift="ifftshift"` is for one that was trained
with a later version. A live model is tried both ways.

A model of another class, or one with a setting that is refused, is served from its own program, `--operator
peer:FOLDER`: `torch_operator(model, dimension=2).serve()` is all that it needs. A model without padding may also be
traced for one grid, after it was called once: `torch.jit.save(torch.jit.trace(model, u), "model.pt")`. `opshap` then
knows nothing of the model but its answers and their gradients. Choose export() where it works: the file can be trained
on, runs in float64, has the mean field, and goes to the coalition engines.

`load_into(model, path)` gives the weights of a file to a live model, with `load_state_dict(strict=True)`, and its
normalisers to a processor. `live_model(path)` makes the model of neuraloperator that the file is of, in physical units
where the file has normalisers. `load(path)` gives the bare arrays. Complex tensors are float32 with a last dimension of
2 in the file.
"""

import argparse
import contextlib
import json
import os
import pathlib
import struct
import sys
import tempfile

import numpy
from exported_file import SHIFTS, installed_shift, is_weight, live_model, load, load_into, place_of  # noqa: F401
from exported_settings import MODELS
from live_comparison import difference
from wrapped_model import (
    ANY_MODEL, SIDES, is_live, open_checkpoint, open_live, open_state_dict, plain_normaliser,
)

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
        f"export: tensors={first}, ... (the model is none of FNO, TFNO, LocalNO, GINO and MWT1d). Where one of them is "
        f"inside and does all of the work, give it alone. Otherwise: {ANY_MODEL}"
    )


def _padding(value):
    """One fraction for all axes, or one for each; 0 for none."""
    if not isinstance(value, (list, tuple)):
        return float(value or 0)
    fractions = [float(one) for one in value]
    return fractions if len(set(fractions)) > 1 else fractions[0]


def _is_unit_grid(value):
    """Whether a positional embedding of neuraloperator is the one that "grid" makes."""
    boundaries = getattr(value, "grid_boundaries", None)
    return type(value).__name__ in ("GridEmbedding2D", "GridEmbeddingND") and boundaries is not None and all(
        list(pair) == [0, 1] for pair in boundaries)


def _activation(function):
    """The name of a function, a class, or a module without parameters."""
    name = getattr(function, "__name__", type(function).__name__.lower())
    return name if getattr(function, "approximate", "none") == "none" else f"{name} by {function.approximate}"


def _plain(key, value):
    """A setting as JSON has it."""
    if key == "domain_padding":
        return _padding(value)
    if key == "positional_embedding" and _is_unit_grid(value):
        return "grid"
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
                f"Train a model with that setting. {ANY_MODEL}"
            )
        if value not in model.values.get(key, (value,)):
            known = ", ".join(str(one) for one in model.values[key])
            raise ValueError(
                f"export: {name}={value} in {who} (opshap has {known}). "
                f"Train a model with one of these. {ANY_MODEL}"
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
    live = is_live(model_or_state_dict)
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


def _shift(value):
    if value not in SHIFTS:
        raise ValueError(
            f"export: inverse_shift={value} (opshap has fftshift and ifftshift). Say fftshift for a model that was "
            "trained with neuraloperator <= 2.0.0."
        )
    return value


def configuration(model_or_state_dict, **config):
    """The CONFIG that the file gets: what the model or its `_metadata` says, and `config` for what they do not say."""
    state_dict = model_or_state_dict.state_dict() if is_live(model_or_state_dict) else model_or_state_dict
    kind = _kind(state_dict)
    config = {key: value for key, value in config.items() if (key, value) != ("model", kind)}
    shift = _shift(config.pop("inverse_shift", SHIFTS[0]))
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
    settings = {"model": kind, **model.defaults, **used}
    if len(settings["n_modes"]) == 2:
        settings["inverse_shift"] = shift
    return settings


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


def _arrays(state_dict):
    """Name to float32 array, complex ones as [..., 2]. Of two names for one tensor the first in order is kept."""
    tensors = {name: state_dict[name].detach() for name in sorted(state_dict) if is_weight(name, state_dict[name])}
    first = {}
    for name, tensor in tensors.items():
        first.setdefault(place_of(tensor), name)
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


def _write(path, settings, arrays):
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


def _normalisers(found, given, normalization):
    """{"in_normalizer": {"mean", "std", "eps"}, ...} of what the model or state_dict has and what the caller gave."""
    made = {}
    for side, name in SIDES.items():
        one = given.get(name)
        if one is not None and name in found:
            raise ValueError(
                f"export: {name} (is given by name, and by the processor or state_dict too). Leave out the one by name."
            )
        if one is None and name in found:
            one = found[name]
            if isinstance(one, dict) and "eps" not in one:
                eps = (normalization or {}).get(side, {}).get("eps")
                if eps is None:
                    raise ValueError(
                        f"export: {name} (is in the state_dict, which does not have its eps). Say it: normalization="
                        f'{{"{side}": {{"eps": 1e-7}}}}; 1e-7 is what neuraloperator takes where nothing is said.'
                    )
                one = {**one, "eps": eps}
        if one is not None:
            made[name] = plain_normaliser(name, one)
    return made


def export(model_or_state_dict, path, in_normalizer=None, out_normalizer=None, normalization=None, **config):
    """Writes weights, normalisers and configuration.

    Takes a live model, a processor of neuraloperator that has one, a state_dict, or what torch.load() gave. `config`
    has settings in words, for what the model itself does not say. Without normalisers it says on stderr that none were
    given. Throws where the file would give another output than the live model, and then leaves no file.
    """
    opened = open_checkpoint(model_or_state_dict)
    if is_live(opened):
        network, outer, found, processor = open_live(opened)
        state_dict = network.state_dict()
    else:
        outer = processor = None
        state_dict, found = open_state_dict(opened)
        network = state_dict
    settings = configuration(network, **config)
    _refuse_sphere(settings, state_dict)
    made = _normalisers(found, {"in_normalizer": in_normalizer, "out_normalizer": out_normalizer}, normalization)
    if settings["model"] == "gino" and any(one["mean"].size > 1 for one in made.values()):
        raise ValueError(f"export: model=gino (has normalisers that are more than one number for all). {ANY_MODEL}")
    arrays = _arrays(state_dict)
    for name, one in made.items():
        arrays.update({f"{name}.mean": one["mean"], f"{name}.std": one["std"]})
    if made:
        sides = {side: {"eps": made[name]["eps"]} for side, name in SIDES.items() if name in made}
        settings["normalization"] = sides
    with _whole_file(path) as part:
        if outer is None or not _can_be_rebuilt(settings):
            _write(part, settings, arrays)
        else:
            _write_what_agrees(part, settings, arrays, outer, network, processor, "inverse_shift" in config)
    if not made:
        print(
            "export: no in_normalizer and no out_normalizer were given. The file takes and gives fields as the network "
            "itself does. If it was trained on normalised fields, give its normalisers, or its processor.",
            file=sys.stderr,
        )


@contextlib.contextmanager
def _whole_file(path):
    """Another name to write under. It becomes `path` at the end, and goes where the work throws."""
    path = pathlib.Path(os.path.realpath(path))  # a link stays, and its target is replaced
    regular = path.is_file() or not path.exists()
    if not path.parent.is_dir() or path.is_dir():
        raise ValueError(f"export: path={path} (is a folder, or in one that does not exist). Name a file in a folder.")
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent if regular else None)
    os.close(handle)
    try:
        yield part
        if regular:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(part, 0o666 & ~mask)
            os.replace(part, path)
        else:  # a device or a pipe is written into
            path.write_bytes(pathlib.Path(part).read_bytes())
    finally:
        pathlib.Path(part).unlink(missing_ok=True)


def _refuse_sphere(settings, state_dict):
    """The last axis of a transform on the sphere keeps m/2 of m modes, where FNO's keeps m/2 + 1."""
    weight = state_dict.get("fno_blocks.convs.0.weight.tensor")
    modes = settings.get("n_modes", [])
    if settings["model"] == "fno" and len(modes) == 2 and modes[1] % 2 == 0 and weight is not None \
            and weight.shape[-1] == modes[1] // 2:
        raise ValueError(f"export: model=SFNO (its layers are on the sphere, which opshap does not have). {ANY_MODEL}")


def _can_be_rebuilt(settings):
    """Whether neuraloperator 2.0.0 has the model."""
    return settings["model"] != "mwt" and settings.get("domain_padding_mode", "symmetric") == "symmetric"


def _write_what_agrees(part, settings, arrays, outer, network, processor, shift_was_said):
    """Writes the file whose model has the live model's output, of the two shifts. Throws where neither has."""
    shifts = [settings.get("inverse_shift")]
    if shifts[0] and not shift_was_said:
        shifts = sorted(SHIFTS, key=lambda shift: shift != installed_shift())
    reasons = []
    for shift in shifts:
        if shift:
            settings["inverse_shift"] = shift
        _write(part, settings, arrays)
        try:
            rebuilt = live_model(part)
        except (ValueError, RuntimeError, TypeError) as error:
            reasons.append(f"the file does not make such a model again: {str(error).splitlines()[-1].strip()}")
            continue
        reason = difference(outer, network, processor, rebuilt, settings)
        if not reason:
            return
        reasons.append(reason)
    raise ValueError(
        f"export: model={type(network).__name__} ({reasons[0]}). Export it without that. Otherwise: {ANY_MODEL}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state_dict", help="what torch.save wrote: a state_dict, a checkpoint, a model or a processor")
    parser.add_argument("out")
    parser.add_argument("--config", default="{}", help="settings in words, a JSON object: n_modes, in_channels, ...")
    parser.add_argument(
        "--inverse-shift", choices=SHIFTS,
        help="how the spectrum is shifted back: fftshift in neuraloperator <= 2.0.0 (the default), ifftshift later",
    )
    parser.add_argument(
        "--normalizers", metavar="FILE", help="what torch.save wrote of a DefaultDataProcessor: it has the normalisers",
    )
    arguments = parser.parse_args()
    import torch

    def read(path):
        return torch.load(path, map_location="cpu", weights_only=False)

    words = json.loads(arguments.config)
    if arguments.inverse_shift:
        words["inverse_shift"] = arguments.inverse_shift
    if arguments.normalizers:
        processor = read(arguments.normalizers)
        words.update({name: getattr(processor, name, None) for name in SIDES.values()})
    try:
        export(read(arguments.state_dict), arguments.out, **words)
    except (ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
