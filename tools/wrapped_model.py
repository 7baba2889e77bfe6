"""What stands around a trained Python model: wrappers of trainings, prefixes of checkpoints, and normalisers.

`export_model.py` exports the model inside. A normaliser is neuraloperator's UnitGaussianNormalizer: x goes into the
network as (x - mean)/(std + eps), and y comes out of it as y (std + eps) + mean.
"""

import re

import numpy

# What works for any model. A model of neuraloperator that pads cannot be traced, and none can be scripted.
ANY_MODEL = (
    "Serve it from its own program, --operator peer:FOLDER, which has one line: torch_operator(model, dimension=2)"
    ".serve(). A model without padding may also be traced for one grid, after model(u) was called once: "
    "torch.jit.save(torch.jit.trace(model, u), PATH)."
)
FOREIGN = ("UNO", "SFNO", "CODANO", "FNOGNO", "UQNO", "RNO")
SIDES = {"input": "in_normalizer", "output": "out_normalizer"}
WRAPPERS = ("module", "_orig_mod", "model")  # DataParallel, torch.compile, Lightning and processors
CHECKPOINTS = ("model", "state_dict", "model_state_dict")
BODIES = r"(?:fno_blocks|local_no_blocks|gno_in|MWT_CZ)\."


def refuse_foreign(name, where):
    if name and name.upper() in FOREIGN:
        raise ValueError(f"export: model={name} ({where} is of a class whose layers opshap does not have). {ANY_MODEL}")


def is_tensor(value):
    return hasattr(value, "detach")


def is_live(value):
    return hasattr(value, "state_dict")


def _foreign_tensors(names):
    """The class of neuraloperator that the names of tensors are of, where opshap does not have it."""
    found = (
        ("UQNO", r"(.*\.)?residual_model\."), ("UNO", r"(.*\.)?(horizontal_skips\.|fno_blocks\.\d+\.convs\.)"),
        ("CODANO", r"(.*\.)?attention_layers\."), ("FNOGNO", r"(.*\.)?gno\."),
    )
    return next((model for model, pattern in found if any(re.match(pattern, name) for name in names)), None)


def open_checkpoint(found):
    """The live model or the state_dict in what torch.load() gave."""
    while not is_live(found) and not any(is_tensor(value) for value in found.values()):
        inside = [key for key in CHECKPOINTS if hasattr(found.get(key), "keys") or is_live(found.get(key))]
        if len(inside) != 1:
            keys = ", ".join(str(key) for key in list(found)[:6])
            raise ValueError(
                f"export: keys={keys} (no tensors, and not one of {', '.join(CHECKPOINTS)}). "
                "Give the state_dict among them."
            )
        found = found[inside[0]]
    return found


def open_state_dict(state_dict):
    """(the model's own state_dict without prefixes, {"in_normalizer": {"mean": ..., "std": ...}, ...})."""
    metadata = state_dict.get("_metadata")
    tensors = {name: value for name, value in state_dict.items() if name != "_metadata" and is_tensor(value)}
    refuse_foreign(_foreign_tensors(tensors), "the state_dict")
    if hasattr(metadata, "get"):
        refuse_foreign(metadata.get("_name"), "the state_dict")
    normalisers, weights = {}, {}
    for name, value in tensors.items():
        match = re.search(r"(?:^|\.)(in_normalizer|out_normalizer)\.(mean|std|mask)$", name)
        if match:
            normalisers.setdefault(match[1], {})[match[2]] = value
        elif re.search("normali[sz]er", name):
            raise ValueError(
                f"export: {name} (belongs to a normaliser of which opshap does not know what it does). Give it as "
                "in_normalizer=... or out_normalizer=..., and leave its tensors out of the state_dict."
            )
        else:
            weights[name] = value
    prefixes = {match[1] for match in (re.match(rf"(.*?){BODIES}", name) for name in weights) if match}
    prefix = prefixes.pop() if len(prefixes) == 1 else ""
    if prefix:
        strange = [part for part in prefix[:-1].split(".") if part not in WRAPPERS]
        outside = sorted(name for name in weights if not name.startswith(prefix))
        if strange or outside:
            what = f"is a part of a model, with {outside[0]} beside it" if outside else "is a part of a model"
            raise ValueError(
                f"export: prefix={prefix} ({what}, and what the rest does is not known). Export that part alone if it "
                f"is all: its tensors without the prefix. Otherwise: {ANY_MODEL}"
            )
    opened = {name[len(prefix):]: value for name, value in weights.items()}
    if hasattr(metadata, "get"):
        opened["_metadata"] = metadata
    return opened, normalisers


def open_live(model):
    """(the network inside, what is called instead of it, {"in_normalizer": ..., "out_normalizer": ...}, the processor
    or None). A processor is what has normalisers and a model, as neuraloperator's DefaultDataProcessor."""
    outer, processor, normalisers = model, None, {}
    while True:
        refuse_foreign(type(model).__name__, "the live model")
        refuse_foreign(getattr(model, "_name", None) if isinstance(getattr(model, "_name", None), str) else None,
                       "the live model")
        if any(hasattr(model, name) for name in SIDES.values()):
            if processor is not None:
                raise ValueError("export: normalisers=two pairs (one inside the other). Give the inner one alone.")
            processor = model
            normalisers = {name: getattr(model, name, None) for name in SIDES.values()}
            normalisers = {name: value for name, value in normalisers.items() if value is not None}
            if getattr(model, "model", None) is None:
                raise ValueError(
                    f"export: processor={type(model).__name__} (has no model yet). Give processor.wrap(model)."
                )
            model = outer = model.model
            continue
        inside = next((getattr(model, name) for name in WRAPPERS if is_live(getattr(model, name, None))), None)
        if inside is None:
            return model, outer, normalisers, processor
        # These two call the model and no more. What another wrapper does is compared with what is written.
        transparent = type(model).__name__ in ("OptimizedModule", "DataParallel", "DistributedDataParallel")
        without_forward = hasattr(model, "training_step") and "forward" not in type(model).__dict__
        outer = inside if outer is model and (transparent or without_forward) else outer
        model = inside


def _numbers(value):
    array = value.detach().cpu().float().numpy() if is_tensor(value) else numpy.asarray(value)
    return numpy.array(array, dtype="<f4")  # keeps the shape of a single number


def plain_normaliser(name, given):
    """{"mean", "std": float32 arrays, "eps": number} of a UnitGaussianNormalizer, or of a dict with these keys."""
    get = given.get if isinstance(given, dict) else lambda key: getattr(given, key, None)
    lacking = [key for key in ("mean", "std", "eps") if get(key) is None]
    if lacking:
        raise ValueError(
            f"export: {name}={type(given).__name__} (has no {', '.join(lacking)}). Give a fitted "
            'UnitGaussianNormalizer, or {"mean": array, "std": array, "eps": number}; neuraloperator has an eps of '
            "1e-7 where nothing is said."
        )
    made = {"mean": _numbers(get("mean")), "std": _numbers(get("std")), "eps": float(get("eps"))}
    numbers = numpy.concatenate([made["mean"].ravel(), made["std"].ravel(), [made["eps"]]])
    if made["mean"].shape != made["std"].shape:
        raise ValueError(
            f"export: {name}.std={list(made['std'].shape)} (the mean has {list(made['mean'].shape)}). Fit it again."
        )
    if not numpy.isfinite(numbers).all() or made["eps"] < 0 or not (made["std"] >= 0).all() \
            or not (made["std"].astype(float) + made["eps"] > 0).all():
        raise ValueError(
            f"export: {name} (has a number that is not finite, or std + eps is not positive). Fit it again."
        )
    if hasattr(given, "transform") and hasattr(given, "inverse_transform"):
        require_formula(name, given, made)
    return made


def require_formula(name, given, made):
    """Throws where the object does something else than a UnitGaussianNormalizer of its numbers."""
    import torch

    mean = torch.from_numpy(made["mean"].astype(float))
    scale = torch.from_numpy(made["std"].astype(float)) + made["eps"]
    device = given.mean.device if is_tensor(given.mean) else "cpu"
    for sign in (-1.0, 0.5):
        x = (mean + sign * scale).float().to(device)
        for found, right in ((given.transform(x), (x.cpu() - mean) / scale),
                             (given.inverse_transform(x), x.cpu() * scale + mean)):
            size = 1 + float(right.abs().max()) + float((mean / scale).abs().max())
            if float((found.cpu() - right).abs().max()) > 1e-4 * size:  # single precision keeps 1e-7 of the size
                raise ValueError(
                    f"export: {name}={type(given).__name__} (does something else than (x - mean)/(std + eps) and its "
                    f"inverse). {ANY_MODEL}"
                )


def physical_model(model, normalisers):
    """A torch module in physical units around a network: (x - mean)/(std + eps) before it, the inverse behind it.

    Its normalisers are neuraloperator's, at in_normalizer and out_normalizer (None where there is none), and the
    network is at model. Other attributes are those of the network.
    """
    import torch
    from neuralop.data.transforms.normalizers import UnitGaussianNormalizer

    class PhysicalModel(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model
            for name in SIDES.values():
                made = normalisers.get(name)
                setattr(self, name, made and UnitGaussianNormalizer(
                    torch.from_numpy(made["mean"].copy()), torch.from_numpy(made["std"].copy()), made["eps"]))

        def forward(self, x):
            y = self.model(x if self.in_normalizer is None else self.in_normalizer.transform(x))
            return y if self.out_normalizer is None else self.out_normalizer.inverse_transform(y)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("model"), name)

    return PhysicalModel().eval()
