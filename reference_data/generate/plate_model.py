#!/usr/bin/env python3
"""An operator on the plate of mesh_files.py as a TorchScript archive. See reference_data/meshes.md.

    python3 plate_model.py reference_data/meshes
"""

import json
import pathlib
import sys

import numpy
import torch


class OwnTimesWhole(torch.nn.Module):
    """G(u)(x) = u(x) times the integral of u."""

    def __init__(self, volumes: torch.Tensor):
        super().__init__()
        self.register_buffer("volumes", volumes)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        return u * (u * self.volumes).sum(dim=2, keepdim=True)


folder = pathlib.Path(sys.argv[1])
volumes = numpy.load(folder / "plate_volumes.npz")["volumes"].astype("f4")
said = {"mesh": True, "dimension": 2, "in_channels": 1, "out_channels": 1}
model = torch.jit.script(OwnTimesWhole(torch.from_numpy(volumes).reshape(1, 1, -1)))
torch.jit.save(model, str(folder / "plate_model.pt"), _extra_files={"opshap.json": json.dumps(said)})
