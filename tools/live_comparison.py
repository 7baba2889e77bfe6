"""Whether a live Python model gives the same output as the one that was made again from its exported file."""

import contextlib
import copy

# Both compute in single precision. Of 56 models with random options the largest difference was 3e-6 of the outputs'
# range. The smallest change that was tried, modes that were lowered in one layer, makes more than 1e-2.
TOLERANCE = 1e-4


@contextlib.contextmanager
def _evaluating(*modules):
    """All modules in eval(), without gradients, and back to how each was."""
    import torch

    before = [(part, part.training) for module in modules if module is not None for part in module.modules()]
    try:
        for part, _ in before:
            part.training = False
        with torch.no_grad():
            yield
    finally:
        for part, training in before:
            part.training = training


def grids(n_modes, least=4):
    """One grid with an odd number of points on each axis and one with an even number, both with room for all modes."""
    most = [max(modes, least) for modes in n_modes]
    return [[m + 5 + m % 2 for m in most], [m + 8 + m % 2 + 2 * axis for axis, m in enumerate(most)]]


def _in_single_precision(*parts):
    """The same, or copies where weights are in another precision: the file has float32."""
    import torch

    wanted = {torch.float64: torch.float32, torch.float16: torch.float32, torch.bfloat16: torch.float32,
              torch.complex128: torch.complex64}
    if not any(weight.dtype in wanted for part in parts if part is not None for weight in part.parameters()):
        return parts
    parts = copy.deepcopy(parts)
    for part in parts:
        for tensor in () if part is None else (*part.parameters(), *part.buffers()):
            tensor.data = tensor.data.to(wanted.get(tensor.dtype, tensor.dtype))
    return parts


def _latent_grid(shape):
    import torch

    lines = [torch.linspace(0, 1, int(points)) for points in shape]
    return torch.stack(torch.meshgrid(*lines, indexing="ij"), dim=-1)[None]


def _inputs(settings, generator):
    """The arguments of two calls of the network: (keyword arguments, what to call the grid)."""
    import torch

    if settings["model"] != "gino":
        for shape in grids(settings["n_modes"]):
            x = torch.randn([2, settings["in_channels"], *shape], generator=generator)
            yield {"x": x}, "x".join(str(n) for n in shape) + " points"
        return
    odd = [n + 1 - n % 2 for n in settings["latent_shape"]]
    for points, latent in ((50, odd), (81, settings["latent_shape"])):
        places = torch.rand([1, points, 2], generator=generator)
        x = torch.randn([2, points, settings["in_channels"]], generator=generator)
        yield {"input_geom": places, "latent_queries": _latent_grid(latent), "output_queries": places, "x": x}, \
            f"{points} points and a latent grid of {latent[0]}x{latent[1]}"


def _distance(found, expected):
    """The largest difference in units of the range of what is expected."""
    import torch

    if found.shape != expected.shape:
        return float("inf")
    found, expected = found.double().cpu(), expected.double().cpu()
    if not torch.isfinite(expected).all():
        return float("inf")
    size = float(expected.max() - expected.min()) + 0.04 * float(expected.abs().max())  # constants round too
    return float((found - expected).abs().max()) / max(size, 1e-30)


def _by_processor(processor, network, outer, x):
    """What neuraloperator's evaluation makes of physical fields. The forward() of 2.0.0's processor does not run."""
    if not hasattr(processor, "preprocess"):
        return processor(x)
    y = outer(x)
    sample = processor.preprocess({"x": x.clone(), "y": y})
    out, _ = processor.postprocess(outer(sample["x"]), sample)
    return out


def difference(outer, network, processor, rebuilt, settings):
    """What differs between the live model and the rebuilt one, in words; "" where nothing does.

    `outer` is what is called for the network, and `processor` has normalisers around it, or is None. The network is
    compared in normalised units, on two grids. A processor is compared in physical ones.
    """
    import torch

    generator = torch.Generator().manual_seed(1)
    outer, network, processor = _in_single_precision(outer, network, processor)
    device = next(network.parameters()).device
    inner = rebuilt.model if "normalization" in settings else rebuilt

    def moved(given):
        return {name: value.to(device) for name, value in given.items()}

    def changed(far):
        return (
            f"on {place} its output differs from the file's by {far:.2g} of its range, so a forward(), a hook or a "
            "part of it is not what its settings say"
        )

    def refused(error):
        return f"the live model does not run on {place}: {str(error).splitlines()[0] if str(error) else repr(error)}"

    with _evaluating(outer, network, processor, rebuilt):
        for given, place in _inputs(settings, generator):
            try:
                live = outer(**moved(given)) if settings["model"] == "gino" else outer(moved(given)["x"])
            except Exception as error:  # a foreign forward() may throw anything
                return refused(error)
            far = _distance(inner(**given), live) if hasattr(live, "shape") else float("inf")
            if not far <= TOLERANCE:
                return changed(far)
        if processor is None or settings["model"] == "gino":
            return ""
        shape = grids(settings["n_modes"])[0]
        for name in ("in_normalizer", "out_normalizer"):
            normaliser = getattr(rebuilt, name)
            if normaliser is not None and normaliser.mean.ndim == 2 + len(shape):
                shape = [n if n > 1 else old for n, old in zip(normaliser.mean.shape[2:], shape)]
        place = "physical fields of " + "x".join(str(n) for n in shape) + " points"
        x = torch.randn([2, settings["in_channels"], *shape], generator=generator)
        if rebuilt.in_normalizer is not None:
            x = rebuilt.in_normalizer.inverse_transform(x)
        try:
            live = _by_processor(processor, network, outer, moved({"x": x})["x"])
        except Exception as error:
            return refused(error)
        far = _distance(rebuilt(x), live)
        return "" if far <= TOLERANCE else changed(far)
