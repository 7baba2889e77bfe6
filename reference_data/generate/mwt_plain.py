"""The multiwavelet operator in one dimension, written from its formulas, and reference_data/mwt/: weights, an input, and what the model makes of it.

    python3 reference_data/generate/mwt_plain.py        (torch, numpy)

MWT1d and its parts have the names and shapes of the state_dict of the model that Gupta, Xiao and Bogdan published with their paper (2021, Multiwavelet-based
Operator Learning for Differential Equations), so that weights go both ways. It is a plain transcription: points in their natural order, an FFT at each level, one level
after the other. The wavelet filters come from integrals, by Gauss-Legendre rules and Gram-Schmidt.
"""

import math
import pathlib
import sys

import numpy
import torch

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import export, load_into  # noqa: E402


def filters(k):
    """H0, H1, G0, G1 [k, k] in float64: what scaling functions and wavelets of [0, 1] are in the scaling functions of its two halves."""
    nodes, weights = numpy.polynomial.legendre.leggauss(2 * k)
    nodes, weights = (nodes + 1) / 2, weights / 2

    def phi(x):  # orthonormal on [0, 1]: [k, points]
        return numpy.stack([math.sqrt(2 * i + 1) * numpy.polynomial.legendre.Legendre.basis(i)(2 * x - 1) for i in range(k)])

    halves = [phi((nodes + half) / 2) @ (weights * phi(nodes)).T / math.sqrt(2) for half in (0, 1)]
    scaling = numpy.concatenate(halves, axis=1)  # orthonormal rows
    rows = list(scaling)
    for i in range(k):
        row = numpy.eye(2 * k)[i]  # the i-th scaling function of the left half
        for _ in range(2):
            for other in rows:
                row = row - (row @ other) * other
        rows.append(row / numpy.linalg.norm(row))
    wavelets = numpy.stack(rows[k:])
    return [torch.from_numpy(part.copy()) for part in (scaling[:, :k], scaling[:, k:], wavelets[:, :k], wavelets[:, k:])]


class SpectralMix(torch.nn.Module):
    """The lowest `alpha` frequencies of [B, N, c, k], each through a complex matrix; nothing at the others."""

    def __init__(self, channels, alpha):
        super().__init__()
        self.weights1 = torch.nn.Parameter(torch.rand(channels, channels, alpha, dtype=torch.cfloat) / channels**2)

    def forward(self, x):
        points = x.shape[1]
        spectrum = torch.fft.rfft(x.flatten(2), dim=1)
        kept = min(self.weights1.shape[2], points // 2 + 1)
        out = torch.zeros_like(spectrum)
        out[:, :kept] = torch.einsum("bfi,iof->bfo", spectrum[:, :kept], self.weights1[:, :, :kept])
        return torch.fft.irfft(out, n=points, dim=1).reshape(x.shape)


class Levels(torch.nn.Module):
    """Down to one point and back: at each level the details and the averages act on both."""

    def __init__(self, c, k, alpha):
        super().__init__()
        self.A, self.B, self.C = (SpectralMix(c * k, alpha) for _ in range(3))
        self.T0 = torch.nn.Linear(k, k)
        h0, h1, g0, g1 = (part.float() for part in filters(k))
        self.register_buffer("ec_s", torch.cat([h0.T, h1.T]))
        self.register_buffer("ec_d", torch.cat([g0.T, g1.T]))
        self.register_buffer("rc_e", torch.cat([h0, g0]))
        self.register_buffer("rc_o", torch.cat([h1, g1]))

    def forward(self, x):
        of_details, of_averages = [], []
        for _ in range(int(math.log2(x.shape[1]))):
            pairs = torch.cat([x[:, 0::2], x[:, 1::2]], dim=-1)
            details, x = pairs @ self.ec_d, pairs @ self.ec_s
            of_details.append(self.A(details) + self.B(x))
            of_averages.append(self.C(details))
        x = self.T0(x)
        for details, averages in zip(reversed(of_details), reversed(of_averages)):
            both = torch.cat([x + averages, details], dim=-1)
            x = torch.stack([both @ self.rc_e, both @ self.rc_o], dim=2).flatten(1, 2)
        return x


class MWT1d(torch.nn.Module):
    """[B, N, ich] to [B, N]. The last channel of the input is the place i/N, where the model knows places."""

    def __init__(self, ich=2, c=16, k=4, alpha=10, nCZ=2):
        super().__init__()
        self.c, self.k = c, k
        self.Lk = torch.nn.Linear(ich, c * k)
        self.MWT_CZ = torch.nn.ModuleList([Levels(c, k, alpha) for _ in range(nCZ)])
        self.Lc0, self.Lc1 = torch.nn.Linear(c * k, 128), torch.nn.Linear(128, 1)
        torch.nn.init.xavier_normal_(self.Lc0.weight)
        torch.nn.init.xavier_normal_(self.Lc1.weight)

    def forward(self, x):
        x = self.Lk(x).unflatten(2, (self.c, self.k))
        for index, levels in enumerate(self.MWT_CZ):
            x = levels(torch.relu(x) if index else x)
        return self.Lc1(torch.relu(self.Lc0(x.flatten(2)))).squeeze(2)


def with_places(u):
    """[B, C, N] to [B, N, C + 1]."""
    points = u.shape[2]
    places = (torch.arange(points, dtype=u.dtype) / points).expand(u.shape[0], points)
    return torch.cat([u.transpose(1, 2), places.unsqueeze(2)], dim=2)


def main():
    folder = root / "reference_data" / "mwt"
    folder.mkdir(exist_ok=True)
    torch.manual_seed(1)
    model = MWT1d(ich=3, c=3, k=4, alpha=5).eval()
    with torch.no_grad():
        for levels in model.MWT_CZ:
            for mix in (levels.A, levels.B, levels.C):
                mix.weights1.copy_(0.3 * torch.randn(mix.weights1.shape, dtype=torch.cfloat))  # the initial ones hardly matter to the output
        u = torch.randn(2, 2, 32)
        y = model(with_places(u)).unsqueeze(1)
        export(model, folder / "model.safetensors")
        again = MWT1d(ich=3, c=3, k=4, alpha=5).eval()
        load_into(again, folder / "model.safetensors")
        assert torch.equal(again(with_places(u)).unsqueeze(1), y), "mwt_plain: the file does not give the model back"
    numpy.save(folder / "input.npy", u.numpy())
    numpy.save(folder / "output.npy", y.numpy())


if __name__ == "__main__":
    main()
