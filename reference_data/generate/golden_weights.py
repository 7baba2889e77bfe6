"""The weights and inputs of `opshap operator golden` (lib/operators/golden.hpp), in torch. Both sides make them of integers, so that none need to be stored."""

import re

import numpy
import torch


def golden_numbers(tensor, count):
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(tensor) * numpy.uint64(2**32) + numpy.arange(count, dtype=numpy.uint64)
        x = x + numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        x = x ^ (x >> numpy.uint64(31))
    return (x >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53 * 2 - 1


def set_golden_weights(model):
    """A finite difference of a LocalNO has two names, and counts under the first."""
    tensors = {name: tensor for name, tensor in model.state_dict().items() if hasattr(tensor, "shape") and not re.search(r"differential\.\d+\.weight$", name)}
    for number, name in enumerate(sorted(tensors)):
        tensor = tensors[name]
        if tensor.is_complex():
            pairs = 0.15 * golden_numbers(number, 2 * tensor.numel())
            values = torch.view_as_complex(torch.from_numpy(pairs.astype(numpy.float32)).view(*tensor.shape, 2))
        else:
            numbers = golden_numbers(number, tensor.numel())
            if "channel_mlp_skips" in name:
                numbers = 1 + 0.1 * numbers
            elif name.endswith("bias"):
                numbers = 0.1 * numbers
            else:
                numbers = numpy.sqrt(3 * tensor.shape[0] / tensor.numel()) * numbers
            values = torch.from_numpy(numbers.astype(numpy.float32)).view(tensor.shape)
        tensor.copy_(values)


def golden_places(count):
    """[count, 2] in the unit square, float32."""
    i = numpy.arange(1, count + 1)
    return numpy.stack([(0.5 + i * 0.7548776662466927) % 1, (0.5 + i * 0.5698402909980532) % 1], axis=1).astype(numpy.float32)


def latent_grid(points):
    """[points, points, 2], both ends included."""
    line = torch.linspace(0, 1, points)
    return torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1)


def require_exact_neighbours(places, grid, radius):
    """The reference's distances come from a matrix product in float32. Stops where they miss an exact neighbour."""
    from neuralop.layers.neighbor_search import NeighborSearch

    points, latent = torch.as_tensor(places), grid.reshape(-1, 2)
    exact = ((points.double()[:, None] - latent.double()[None]) ** 2).sum(-1) <= radius**2
    for data, queries, wanted in ((points, latent, exact.T), (latent, points, exact)):
        found = NeighborSearch(use_open3d=False)(data=data, queries=queries, radius=radius)["neighbors_index"]
        assert torch.equal(found, wanted.nonzero()[:, 1]), "neighbours: the reference's are not exact. Take other points."
