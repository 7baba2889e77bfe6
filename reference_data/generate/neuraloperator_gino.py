"""Writes the GINO outputs of reference_data/neuraloperator/: what neuraloperator 2.0.0 makes of prescribed weights, points and values.

    python3 reference_data/generate/neuraloperator_gino.py        (neuraloperator 2.0.0; numpy; any torch it runs with)

Weights, points and values are those of `opshap operator golden` (lib/operators/golden.hpp), so no weights are stored: the networks are too large for that. The
neighbours are the reference's own. Its distances come from a matrix product in float32; the script stops where they miss an exact neighbour.
"""

import pathlib

import numpy
import torch
from neuralop.layers.neighbor_search import NeighborSearch
from neuralop.models import GINO

folder = pathlib.Path(__file__).resolve().parents[2] / "reference_data" / "neuraloperator"
latent, radius, nodes, batch = 12, 0.16, 150, 2


def golden_numbers(tensor, count):
    with numpy.errstate(over="ignore"):
        x = numpy.uint64(tensor) * numpy.uint64(2**32) + numpy.arange(count, dtype=numpy.uint64)
        x = x + numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        x = x ^ (x >> numpy.uint64(31))
    return (x >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53 * 2 - 1


def set_golden_weights(model):
    tensors = {name: tensor for name, tensor in model.state_dict().items() if hasattr(tensor, "shape")}
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


def make(name, in_channels, out_channels, transform_in, transform_out):
    model = GINO(
        in_channels=in_channels, out_channels=out_channels, gno_coord_dim=2, in_gno_radius=radius, out_gno_radius=radius, in_gno_transform_type=transform_in,
        out_gno_transform_type=transform_out, fno_n_modes=(6, 4), fno_hidden_channels=12, fno_n_layers=2, gno_use_open3d=False, gno_use_torch_scatter=False,
    ).eval()
    with torch.no_grad():
        set_golden_weights(model)
        i = numpy.arange(1, nodes + 1)
        places = numpy.stack([(0.5 + i * 0.7548776662466927) % 1, (0.5 + i * 0.5698402909980532) % 1], axis=1).astype(numpy.float32)
        points = torch.from_numpy(places)
        line = torch.linspace(0, 1, latent)
        grid = torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1)
        exact = (((places[:, None, :].astype(float) - grid.view(1, -1, 2).numpy().astype(float)) ** 2).sum(-1) <= radius**2).sum()
        found = NeighborSearch(use_open3d=False)(data=points, queries=grid.view(-1, 2), radius=radius)["neighbors_index"].numel()
        assert found == exact, (found, exact)
        x = torch.from_numpy(golden_numbers(1000, batch * nodes * in_channels).astype(numpy.float32)).view(batch, nodes, in_channels)
        y = model(input_geom=points[None], latent_queries=grid[None], output_queries=points[None], x=x)
    numpy.save(folder / f"{name}_output.npy", y.numpy())
    print(name, y.shape, float(y.double().norm()))


make("gino_nonlinear", 2, 2, "nonlinear", "nonlinear")
make("gino_linear", 1, 1, "linear", "linear")
make("gino_mixed", 2, 1, "nonlinear", "linear")
