"""Writes reference_data/end_to_end/: a model of each architecture, an input, and its attributions at one point, all in Python.

    python3 reference_data/generate/end_to_end.py        (neuraloperator 2.0.0; torch-harmonics 0.7.4; numpy; any torch they run with)

The models are neuraloperator's own, and the plain MWT1d of mwt_plain.py. The Shapley values come from all coalitions, which the model evaluates in float32. Their
sums are in rational arithmetic. Integrated gradients are torch's gradients at the midpoints of equal steps from the baseline 0 to the input.
"""

import importlib.metadata
import json
import pathlib
import sys

import numpy
import torch
from fixture import all_coalitions, plain
from golden_weights import golden_places, latent_grid, require_exact_neighbours, set_golden_weights
from mwt_plain import MWT1d, with_places
from neuralop.models import FNO, GINO, LocalNO
from oracles import shapley_values

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import configuration, export  # noqa: E402

folder = root / "reference_data" / "end_to_end"
nodes = 16  # of integrated gradients


def waves(channels, places):
    """[channels, points]: a smooth field with no symmetry. `places` [points, axes]."""
    field = [numpy.sin(5 * places[:, 0] + 2 * c) + 0.5 * numpy.cos(3 * places[:, -1] - c) + 0.3 for c in range(channels)]
    return numpy.stack(field).astype(numpy.float32)


def grid_places(shape):
    return numpy.stack(numpy.meshgrid(*(numpy.arange(n) / n for n in shape), indexing="ij"), axis=-1).reshape(-1, len(shape))


def trained(model):
    """The model away from where a training starts: no bias is 0, no gate is 1, and all spectral weights count."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("weights1"):  # of MWT1d: nearly nothing before a training
                parameter.copy_(0.3 * torch.randn(parameter.shape, dtype=parameter.dtype))
            else:
                parameter.add_(0.25 * torch.randn(parameter.shape, dtype=parameter.dtype))
    return model.eval()


def blocks(shape, count):
    """The player of each point as `--players` has it."""
    if len(shape) == 1:
        return numpy.arange(shape[0]) * count // shape[0]
    side = round(count**0.5)
    row, column = numpy.divmod(numpy.arange(shape[0] * shape[1]), shape[1])
    return row * side // shape[0] * side + column * side // shape[1]


def attributions(values, field, player_of):
    """The game v(S) of the field [channels, points], its Shapley values, and integrated gradients by player. `values` maps [B, channels, points] to [B]."""
    players = int(player_of.max()) + 1
    shown = torch.from_numpy(all_coalitions(players)[:, player_of]).float().unsqueeze(1)
    u = torch.from_numpy(field)
    with torch.no_grad():
        game = torch.cat([values(part * u) for part in shown.split(64)]).double().numpy()
    steps = ((torch.arange(nodes) + 0.5) / nodes).view(-1, 1, 1)
    path = (steps * u).requires_grad_()
    (gradient,) = torch.autograd.grad(values(path).sum(), path)
    cells = (gradient.double().mean(0) * u).sum(0).detach().numpy()
    return {
        "empty": game[0], "grand": game[-1], "largest_value": abs(game).max(), "shapley_values": shapley_values(game),
        "integrated_gradients": numpy.bincount(player_of, cells, minlength=players),
    }


def write(name, values, field, shape, player_of, query, **more):
    numpy.save(folder / f"{name}_input.npy", field.reshape(len(field), *shape))
    numpy.save(folder / f"{name}_players.npy", player_of.astype(numpy.int64).reshape(shape))
    case = {"name": name, "query": query, "nodes": nodes, **more, **attributions(values, field, player_of)}
    print(name, f"{player_of.max() + 1} players, v from {case['empty']:.4f} to {case['grand']:.4f}", flush=True)
    return plain(case)


def on_grid(name, model, shape, player_of, query):
    """A model that maps [B, C, points...] to [B, channels, points...]."""
    model = trained(model)
    export(model, folder / f"{name}.safetensors")
    field = waves(model.in_channels, grid_places(shape))
    return write(name, lambda u: model(u.view(len(u), -1, *shape))[(slice(None), 0, *query)], field, shape, player_of, query)


def multiwavelets():
    model, points, query = trained(MWT1d(ich=2, c=3, k=4, alpha=5, nCZ=2)), 16, 5
    export(model, folder / "mwt.safetensors")
    field = waves(1, grid_places((points,)))
    return write("mwt", lambda u: model(with_places(u))[:, query], field, (points,), blocks((points,), 8), [query])


def mesh_model():
    """A GINO, the points of its mesh [N, 2], and its latent grid."""
    count, latent, radius = 60, 8, 0.25
    model = GINO(
        in_channels=2, out_channels=1, gno_coord_dim=2, in_gno_radius=radius, out_gno_radius=radius, in_gno_transform_type="nonlinear",
        out_gno_transform_type="nonlinear", fno_n_modes=(6, 4), fno_hidden_channels=8, fno_n_layers=2, gno_use_open3d=False, gno_use_torch_scatter=False,
    ).eval()
    with torch.no_grad():
        set_golden_weights(model)
    places, grid = golden_places(count), latent_grid(latent)
    require_exact_neighbours(places, grid, radius)
    return model, places, grid


def on_mesh():
    query = 17
    model, places, grid = mesh_model()
    points = torch.from_numpy(places)
    numpy.save(folder / "gino_mesh.npy", places)
    # Sectors around the centre, so that no player is a block.
    player_of = numpy.floor((numpy.arctan2(places[:, 1] - 0.5, places[:, 0] - 0.5) / (2 * numpy.pi) + 0.5) * 8).astype(int) % 8

    def values(u):
        return model(points[None], grid[None], points[None, query : query + 1], u.transpose(1, 2))[:, 0, 0]

    config = configuration(model, latent_shape=list(grid.shape[:2]))
    return write("gino", values, 4 * waves(2, places), (len(places),), player_of, [query], config=config)


def main():
    folder.mkdir(exist_ok=True)
    torch.manual_seed(16)
    scattered = numpy.random.default_rng(16).permutation(numpy.arange(64) % 10)
    cases = [
        on_grid("fno_1d", FNO((6,), 1, 1, 8, n_layers=2, domain_padding=0.5), (12,), blocks((12,), 12), [4]),
        on_grid("fno_2d", FNO((4, 4), 2, 1, 6, n_layers=2, domain_padding=0.5), (6, 9), blocks((6, 9), 9), [2, 6]),
        on_grid("local_no", LocalNO((4, 4), 2, 1, 4, (8, 8), n_layers=2, domain_padding=0.5), (8, 8), scattered, [3, 1]),
        multiwavelets(),
        on_mesh(),
    ]
    packages = {name: importlib.metadata.version(name) for name in ("torch", "neuraloperator", "numpy")}
    head = {"version": 1, "made_by": "python reference_data/generate/end_to_end.py", "packages": packages}
    lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
    (folder / "cases.json").write_text(json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
