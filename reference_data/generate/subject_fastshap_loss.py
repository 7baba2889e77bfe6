"""The FastSHAP loss of given values on given coalitions, and its gradient."""

import mpmath
import numpy as np

from fixture import close, masks

about = ("The mean over stored coalitions of (v(S) - v(∅) - Σ_{i∈S} φ_i)² with φ as given (`none`), shifted equally (`equal`) or in proportion to the cells' areas (`area`) so "
         "that Σφ = v(N) - v(∅) (Jethani et al. 2022; OperatorSHAP, Algorithm 1), and its gradient in the values before the shift. The formula in double precision against "
         "50 digits, the gradient against central differences with 50 digits.")
packages = ["numpy", "mpmath"]

PLAYERS = 6


def shares(normalisation, areas):
    if normalisation == "none":
        return 0 * areas
    return areas / areas.sum() if normalisation == "area" else np.full(len(areas), 1 / len(areas))


def loss(phi, rows, gains, gain, share):
    normalised = phi + (gain - phi.sum()) * share if share.any() else phi
    return float(np.mean((gains - rows @ normalised) ** 2))


def gradient(phi, rows, gains, gain, share):
    normalised = phi + (gain - phi.sum()) * share if share.any() else phi
    pull = -2 * rows.T @ (gains - rows @ normalised) / len(rows)
    return pull - (share @ pull)


def precise_loss(phi, rows, gains, gain, share):
    missing = (gain - mpmath.fsum(phi)) if share.any() else 0
    values = [p + missing * mpmath.mpf(s) for p, s in zip(phi, share)]
    return mpmath.fsum((mpmath.mpf(g) - mpmath.fsum(v for v, inside in zip(values, row) if inside)) ** 2 for g, row in zip(gains, rows)) / len(rows)


def cases():
    mpmath.mp.dps = 50
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 2, (10, PLAYERS))
    rows = np.vstack([rows, 1 - rows])
    gains = rng.integers(-128, 128, len(rows)) / 64
    phi, areas, empty, gain = rng.standard_normal(PLAYERS), np.array([1, 1, 2, 3, 5, 4]) / 16, 0.5, 2.75
    for normalisation in ("none", "equal", "area"):
        share = shares(normalisation, areas)
        value, slope = loss(phi, rows, gains, gain, share), gradient(phi, rows, gains, gain, share)
        precise = [mpmath.mpf(p) for p in phi]
        close(value, float(precise_loss(precise, rows, gains, gain, share)), 1e-13, "fastshap_loss")
        step = mpmath.mpf(10) ** -15
        for player in range(PLAYERS):
            up, down = list(precise), list(precise)
            up[player] += step
            down[player] -= step
            difference = (precise_loss(up, rows, gains, gain, share) - precise_loss(down, rows, gains, gain, share)) / (2 * step)
            close(slope[player], float(difference), 1e-11, "fastshap_loss gradient")
        yield {"players": PLAYERS, "normalisation": normalisation, "areas": areas, "empty": empty, "grand": empty + gain, "values": phi, "coalitions": masks(rows),
               "coalition_values": gains + empty, "loss": value, "gradient": slope}
