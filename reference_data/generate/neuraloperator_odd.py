"""Writes reference_data/neuraloperator/odd_*: what neuraloperator 2.0.0 makes of prescribed weights and inputs on odd numbers of points.

    python3 reference_data/generate/neuraloperator_odd.py        (neuraloperator 2.0.0; torch-harmonics 0.7.4; numpy; any torch they run with)

Weights and inputs are those of `opshap operator golden` (lib/operators/golden.hpp), so none are stored. Every case is written twice: by 2.0.0 as it is, which ends
its spectral convolutions with fftshift, and by 2.0.0 with ifftshift in that place, as later versions have it.
"""

import inspect
import json
import pathlib
import textwrap

import numpy
import torch
from golden_weights import golden_numbers, golden_places, latent_grid, require_exact_neighbours, set_golden_weights
from neuralop.layers import spectral_convolution
from neuralop.models import FNO, GINO, LocalNO

folder = pathlib.Path(__file__).resolve().parents[2] / "reference_data" / "neuraloperator"
original = spectral_convolution.SpectralConv.forward
cases = []


def replaced():
    """SpectralConv.forward with the last fftshift replaced."""
    source = textwrap.dedent(inspect.getsource(original))
    before, after = source.rsplit("torch.fft.fftshift(", 1)
    assert source.count("torch.fft.fftshift(") == 2 and "torch.fft.ifftshift(" not in source, "SpectralConv: this is not neuraloperator 2.0.0"
    names = {}
    exec(before + "torch.fft.ifftshift(" + after, vars(spectral_convolution), names)
    return names["forward"]


def write(name, config, shape, model, run):
    with torch.no_grad():
        set_golden_weights(model)
        for shift, forward in (("fftshift", original), ("ifftshift", replaced())):
            spectral_convolution.SpectralConv.forward = forward
            numpy.save(folder / f"odd_{name}_{shift}.npy", run(model).numpy())
    spectral_convolution.SpectralConv.forward = original
    cases.append({"name": name, "shape": shape, "config": config})


def on_grid(kind, name, shape, **settings):
    config = dict(in_channels=2, out_channels=1, hidden_channels=6, n_layers=3, **settings)
    x = torch.from_numpy(golden_numbers(1000, int(numpy.prod(shape))).astype(numpy.float32)).view(shape)
    write(name, {"model": {FNO: "fno", LocalNO: "local_no"}[kind], **config}, shape, kind(**config).eval(), lambda model: model(x))


def gino(name, latent, nodes=60, radius=0.2):
    model = GINO(
        in_channels=1, out_channels=1, gno_coord_dim=2, in_gno_radius=radius, out_gno_radius=radius, in_gno_transform_type="linear",
        out_gno_transform_type="linear", fno_n_modes=(6, 4), fno_hidden_channels=12, fno_n_layers=2, gno_use_open3d=False, gno_use_torch_scatter=False,
    ).eval()
    places, grid = golden_places(nodes), latent_grid(latent)
    require_exact_neighbours(places, grid, radius)
    points = torch.from_numpy(places)
    x = torch.from_numpy(golden_numbers(1000, nodes).astype(numpy.float32)).view(1, nodes, 1)
    config = dict(model="gino", n_modes=[6, 4], hidden_channels=12, n_layers=2, in_channels=1, out_channels=1, in_radius=radius, out_radius=radius,
                  latent_shape=[latent, latent])
    write(name, config, [1, 1, nodes], model, lambda network: network(input_geom=points[None], latent_queries=grid[None], output_queries=points[None], x=x))


on_grid(FNO, "above_modes", [1, 2, 11, 8], n_modes=[6, 6])
on_grid(FNO, "below_modes", [1, 2, 5, 9], n_modes=[8, 8])
on_grid(FNO, "odd_modes", [1, 2, 9, 7], n_modes=[5, 5])
on_grid(FNO, "two_modes", [1, 2, 7, 6], n_modes=[2, 4])
on_grid(FNO, "one_mode", [1, 2, 7, 6], n_modes=[1, 4])
on_grid(FNO, "padded", [1, 2, 9, 6], n_modes=[6, 6], domain_padding=0.25)
on_grid(FNO, "padded_axes", [1, 2, 9, 6], n_modes=[6, 6], domain_padding=[0.25, 0.5])
on_grid(LocalNO, "local_no", [1, 2, 9, 10], n_modes=[4, 6], default_in_shape=[8, 8])
gino("gino", 13)
(folder / "odd.json").write_text(json.dumps(cases, indent=1) + "\n")
