"""Writes the GINO outputs of reference_data/neuraloperator/: what neuraloperator 2.0.0 makes of prescribed weights, points and values.

    python3 reference_data/generate/neuraloperator_gino.py        (neuraloperator 2.0.0; numpy; any torch it runs with)

Weights, points and values are those of `opshap operator golden` (lib/operators/golden.hpp), so no weights are stored: the networks are too large for that. The
neighbours are the reference's own. Its distances come from a matrix product in float32; the script stops where they miss an exact neighbour.
"""

import pathlib

import numpy
import torch
from golden_weights import golden_numbers, golden_places, latent_grid, require_exact_neighbours, set_golden_weights
from neuralop.models import GINO

folder = pathlib.Path(__file__).resolve().parents[2] / "reference_data" / "neuraloperator"
latent, radius, nodes, batch = 12, 0.16, 150, 2


def make(name, in_channels, out_channels, transform_in, transform_out):
    model = GINO(
        in_channels=in_channels, out_channels=out_channels, gno_coord_dim=2, in_gno_radius=radius, out_gno_radius=radius, in_gno_transform_type=transform_in,
        out_gno_transform_type=transform_out, fno_n_modes=(6, 4), fno_hidden_channels=12, fno_n_layers=2, gno_use_open3d=False, gno_use_torch_scatter=False,
    ).eval()
    with torch.no_grad():
        set_golden_weights(model)
        places, grid = golden_places(nodes), latent_grid(latent)
        require_exact_neighbours(places, grid, radius)
        points = torch.from_numpy(places)
        x = torch.from_numpy(golden_numbers(1000, batch * nodes * in_channels).astype(numpy.float32)).view(batch, nodes, in_channels)
        y = model(input_geom=points[None], latent_queries=grid[None], output_queries=points[None], x=x)
    numpy.save(folder / f"{name}_output.npy", y.numpy())
    print(name, y.shape, float(y.double().norm()))


make("gino_nonlinear", 2, 2, "nonlinear", "nonlinear")
make("gino_linear", 1, 1, "linear", "linear")
make("gino_mixed", 2, 1, "nonlinear", "linear")
