"""An FNO of neuraloperator as an operator that opshap explains, in its own process and with its own PyTorch.

Here the model comes from a file, so that it can be compared with itself in opshap. Yours is the one that you trained,
or what torch.load() gives.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

from export_model import live_model  # noqa: E402

from opshap_peer import torch_operator  # noqa: E402

model = live_model(os.environ["MODEL"])
torch_operator(model, dimension=len(model.n_modes), input_channels=model.in_channels,
               output_channels=model.out_channels).serve()
