"""Writes reference_data/normalised_models/: models that neuraloperator's own recipe trained on normalised fields, with exact Shapley values in physical units.

    python3 reference_data/generate/normalised_models.py        (neuraloperator 2.0.0; numpy; any torch it runs with)

The recipe is that of neuraloperator's tutorial: Trainer, DefaultDataProcessor, UnitGaussianNormalizer. tools/export_model.py writes the processor as a file. Outputs
and values do not come from the file but from the processor, which is called as the Trainer calls it in an evaluation.
"""

import itertools
import json
import math
import pathlib
import sys

import numpy
import torch
from neuralop import LpLoss, Trainer
from neuralop.data.datasets.tensor_dataset import TensorDataset
from neuralop.data.transforms.data_processors import DefaultDataProcessor
from neuralop.data.transforms.normalizers import UnitGaussianNormalizer
from neuralop.models import FNO
from neuralop.training import AdamW

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import export  # noqa: E402

folder = root / "reference_data" / "normalised_models"
cases = []


def smooth(count, channels, grid, generator):
    """Random sums of the lowest frequencies, [count, channels, ...]."""
    axes = [torch.linspace(0, 1, n) for n in grid]
    places = torch.meshgrid(*axes, indexing="ij")
    fields = torch.zeros(count, channels, *grid)
    for frequency in itertools.product(range(3), repeat=len(grid)):
        phase = 2 * math.pi * sum(k * place for k, place in zip(frequency, places))
        for wave in (torch.cos(phase), torch.sin(phase)):
            weights = torch.randn(count, channels, *[1] * len(grid), generator=generator) / (1 + sum(frequency))
            fields += weights * wave
    return fields


def samples(count, channels, grid, generator):
    """Inputs and outputs in physical units: each channel has another mean and deviation, and so has each point."""
    u = smooth(count, channels, grid, generator)
    y = torch.tanh(u[:, :1]) + 0.5 * torch.roll(u[:, -1:], 3, -1) * u[:, :1]
    along = torch.linspace(0, 1, grid[-1])
    scales = torch.tensor([2.0, 0.3])[:channels].view(-1, *[1] * len(grid))
    offsets = torch.tensor([5.0, -1.0])[:channels].view(-1, *[1] * len(grid))
    return u * scales * (1 + along) + offsets + along, 0.8 * y * (1.5 - along) + 3 * along - 4


def trained(grid, channels, reduced, generator):
    """The processor around a trained model. `reduced` are the axes over which means and deviations are taken."""
    x, y = samples(96, channels, grid, generator)
    in_normalizer, out_normalizer = UnitGaussianNormalizer(dim=reduced), UnitGaussianNormalizer(dim=reduced)
    in_normalizer.fit(x)
    out_normalizer.fit(y)
    processor = DefaultDataProcessor(in_normalizer=in_normalizer, out_normalizer=out_normalizer)
    model = FNO(n_modes=(6,) * len(grid), in_channels=channels, out_channels=1, hidden_channels=8, n_layers=2)
    trainer = Trainer(model=model, n_epochs=60, device="cpu", data_processor=processor, eval_interval=60, verbose=False)
    optimizer = AdamW(model.parameters(), lr=1e-2, weight_decay=1e-4)
    loss = LpLoss(d=len(grid), p=2)
    shown, held = (torch.utils.data.DataLoader(TensorDataset(x[part], y[part]), batch_size=16) for part in (slice(0, 80), slice(80, 96)))
    trainer.train(
        train_loader=shown, test_loaders={"held": held}, optimizer=optimizer, scheduler=torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60),
        regularizer=False, training_loss=loss, eval_losses={"l2": loss},
    )
    processor.wrap(model).eval()
    errors = [float(loss(evaluated(processor, sample["x"][None])[0], sample["y"])) for sample in held.dataset]
    print(f"relative L2 error on held-out fields: {numpy.mean(errors):.3f}")
    return processor, x


def evaluated(processor, x):
    """As Trainer.eval_one_batch(): physical fields in, physical fields out."""
    with torch.no_grad():
        sample = processor.preprocess({"x": x, "y": torch.zeros(len(x), 1, *x.shape[2:])})
        out, _ = processor.postprocess(processor.model(sample["x"]), sample)
    return out


def blocks(grid, players):
    """The player of each point, as opshap attribute --players P has them."""
    each = players if len(grid) == 1 else math.isqrt(players)
    axes = numpy.meshgrid(*[numpy.arange(n) * each // n for n in grid], indexing="ij")
    return axes[0] if len(grid) == 1 else axes[0] * each + axes[1]


def shapley(processor, u, b, query, players):
    """By all coalitions, each its own call. Sums are in double."""
    labels = torch.from_numpy(blocks(u.shape[1:], players))

    def value(mask):
        inside = torch.tensor([mask >> player & 1 == 1 for player in range(players)])[labels]
        return float(evaluated(processor, torch.where(inside, u, b)[None])[(0, 0, *query)])

    values = [value(mask) for mask in range(1 << players)]
    found = numpy.zeros(players)
    for player, mask in itertools.product(range(players), range(1 << players)):
        if not mask >> player & 1:
            size = bin(mask).count("1")
            weight = math.factorial(size) * math.factorial(players - 1 - size) / math.factorial(players)
            found[player] += weight * (values[mask | 1 << player] - values[mask])
    return found


def write(name, grid, channels, reduced, query, players, baseline, seed):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    processor, x = trained(grid, channels, reduced, generator)
    export(processor, folder / f"{name}.safetensors")
    u, b = x[-1], baseline(x)
    for what, field in (("u", u), ("b", b), ("y", evaluated(processor, u[None])[0])):
        numpy.save(folder / f"{name}.{what}.npy", field.numpy())
    numpy.save(folder / f"{name}.exact.npy", shapley(processor, u, b, query, players))
    cases.append({"name": name, "query": query, "players": players})


torch.set_num_threads(1)
folder.mkdir(exist_ok=True)
write("line_channels", [20], 2, [0, 2], [13], 5, lambda x: x.mean(dim=(0, 2), keepdim=True)[0].expand(2, 20).clone(), seed=1)
write("plane_channels", [8, 8], 2, [0, 2, 3], [2, 5], 4, lambda x: x[0], seed=2)
write("line_points", [20], 1, [0], [4], 4, lambda x: torch.zeros_like(x[0]), seed=3)
(folder / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
