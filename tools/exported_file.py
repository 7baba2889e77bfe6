"""Files of weights that `export_model.py` or `opshap` wrote, and the live models that they are of."""

import inspect
import json
import struct
import textwrap
import types

import numpy
from exported_settings import MODELS
from wrapped_model import SIDES, open_live, physical_model

SHIFTS = ("fftshift", "ifftshift")  # of neuraloperator up to 2.0.0, and after


def place_of(tensor):
    """Tensors of one place are one tensor under two names."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype


def is_weight(name, value):
    """Beside the tensors there are the constructor's arguments, and how many batches a norm has seen in training."""
    return name != "_metadata" and hasattr(value, "detach") and not name.endswith("num_batches_tracked")


def _read(path):
    """(configuration, name to array, all strings of the header) of a file."""
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
    return json.loads(metadata.get("config", "{}")), arrays, metadata


def load(path):
    """(configuration, name to array) of a file that `opshap` or export() wrote."""
    return _read(path)[:2]


def _split(config, arrays):
    """Takes the normalisers out of both: {"in_normalizer": {"mean", "std", "eps"}, ...}."""
    made = {}
    for side, said in config.pop("normalization", {}).items():
        name = SIDES[side]
        made[name] = {"mean": arrays.pop(f"{name}.mean"), "std": arrays.pop(f"{name}.std"), "eps": said["eps"]}
        made[name].update({key: made[name][key].astype("<f4") for key in ("mean", "std")})
    return made


def load_into(model, path):
    """Gives a live model the weights of a file that `opshap` or export() wrote, with load_state_dict(strict=True).

    A processor of neuraloperator that has a model, and what live_model() gave, gets the file's normalisers too. Throws
    where the file has normalisers and the model has no place for them, or lacks what the model has. Throws where the
    file lacks a tensor of the model, has one that the model does not have, or has another shape. A model with
    factorised weights cannot be loaded into: the file has the tensors that the factors make up.
    """
    import torch

    config, arrays = load(path)
    made = _split(config, arrays)
    network, _, found, processor = open_live(model)
    lacking, spare = sorted(set(made) - set(found)), sorted(set(found) - set(made))
    if spare or (lacking and processor is None):
        raise ValueError(
            f"load_into: file={path} (" + (f"lacks {', '.join(spare)}" if spare else f"has {', '.join(lacking)}")
            + f", and the live {type(model).__name__} does not go with that). Use live_model(path), or give "
            "processor.wrap(model) with the same normalisers."
        )
    known = network.state_dict()
    tensors = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(array.copy())
        tensors[name] = torch.view_as_complex(tensor) if name in known and known[name].is_complex() else tensor
    loaded = {place_of(known[name]): tensor for name, tensor in tensors.items() if name in known}
    for name, value in known.items():
        if not is_weight(name, value):
            tensors[name] = value
        elif name not in tensors and place_of(value) in loaded:  # a further name of a tensor that the file has
            tensors[name] = loaded[place_of(value)]
    differences = {"missing": sorted(set(known) - set(tensors)), "unexpected": sorted(set(tensors) - set(known))}
    if any(differences.values()):
        lists = "; ".join(f"{what}: {', '.join(names)}" for what, names in differences.items() if names)
        raise ValueError(
            f"load_into: file={path} (does not fit the live {type(network).__name__}; {lists}). "
            "Make the model with the file's configuration and dense weights."
        )
    network.load_state_dict(tensors, strict=True)
    if made:
        from neuralop.data.transforms.normalizers import UnitGaussianNormalizer

        device = next(network.parameters()).device
        for name, one in made.items():
            mean, std = torch.from_numpy(one["mean"].copy()), torch.from_numpy(one["std"].copy())
            setattr(processor, name, UnitGaussianNormalizer(mean, std, one["eps"]).to(device))


def live_model(path):
    """The FNO, LocalNO or GINO of neuraloperator that a file is of, with its weights, to be used or trained on.

    Where the file has normalisers, it takes and gives fields in physical units: it is a module around the network,
    which is its `.model`, with neuraloperator's own `.in_normalizer` and `.out_normalizer`. Where the file's
    inverse_shift is not that of the installed neuraloperator, its spectral convolutions are replaced by ones with the
    file's.
    """
    import neuralop.models
    from torch.nn import functional

    config, arrays, metadata = _read(path)
    made = _split(config, arrays)
    ours = metadata.get("written_by", "").startswith("opshap") and "domain" in metadata
    shift = config.pop("inverse_shift", "ifftshift" if ours else "fftshift")
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
    if len(config["n_modes"]) == 2 and shift != installed_shift():
        replace_shift(model, shift)
    model = physical_model(model, made) if made else model
    load_into(model, path)
    return model


def _spectral_source():
    from neuralop.layers import spectral_convolution

    return spectral_convolution, textwrap.dedent(inspect.getsource(spectral_convolution.SpectralConv.forward))


def _last_shift(source):
    """The place and name of the call that shifts the spectrum back: the last one in SpectralConv.forward()."""
    places = {source.rfind(f"torch.fft.{shift}("): shift for shift in SHIFTS}
    return max(places), places[max(places)]


def installed_shift():
    return _last_shift(_spectral_source()[1])[1]


def replace_shift(model, shift):
    """Gives the spectral convolutions of a model the other call there."""
    module, source = _spectral_source()
    place, present = _last_shift(source)
    source = source[:place] + f"torch.fft.{shift}(" + source[place + len(f"torch.fft.{present}("):]
    names = {}
    exec(source, vars(module), names)
    for part in model.modules():
        if isinstance(part, module.SpectralConv):
            part.forward = types.MethodType(names["forward"], part)
