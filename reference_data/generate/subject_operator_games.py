"""Two operators with closed forms: the heat equation and Burgers' equation."""

import math

import mpmath
import numpy as np
from scipy.integrate import quad

from fixture import close
from oracles import shapley_values

about = ("`heat`: w_k = ∫_{cell k} K(x* - y) h(y) dy with the periodic heat kernel K of κt = 0.005 on [0, 1), n equal cells, x* = 1/2 and h of five Fourier modes "
         "(`cosines`, `sines` of 2πjx, j = 1..5): the game of masked cells is additive with these Shapley values. `burgers`: v(S) = u(x, t) of u_t + u u_x = ν u_xx on the line from "
         "the initial heights h_k on the cells in S and 0 elsewhere, by the Cole-Hopf formula; `values` for all S (bit i of the index = player i), `shapley_values`, and "
         "`aumann_shapley` = ∫ ∂v/∂a_k(t·1) dt by Gauss-Legendre with 40 nodes, whose `nodes` and `gradients` [40, n] are there too. mpmath, 30 digits, against "
         "numerical integrals.")
packages = ["numpy", "scipy", "mpmath"]

SPREAD = mpmath.mpf(0.005)  # κt, the double
QUERY = mpmath.mpf(1) / 2


def heat_weights(players, cosines, sines):
    """K(x* - y) h(y) as a Fourier series in y, integrated over the cells."""
    kernel = {k: mpmath.exp(-((2 * mpmath.pi * k) ** 2) * SPREAD - 2j * mpmath.pi * k * QUERY) for k in range(-20, 21)}  # of e^{2πi(-k)y}, k -> -k alike
    source = {}
    for j, (c, s) in enumerate(zip(cosines, sines), 1):
        source[j], source[-j] = (mpmath.mpc(c) - 1j * mpmath.mpf(s)) / 2, (mpmath.mpc(c) + 1j * mpmath.mpf(s)) / 2
    series = {}
    for k, a in kernel.items():
        for j, b in source.items():
            series[k + j] = series.get(k + j, 0) + a * b
    edges = [mpmath.mpf(k) / players for k in range(players + 1)]
    totals = [mpmath.mpc(0)] * (players + 1)  # the antiderivative at the edges
    for f, a in series.items():
        for k, edge in enumerate(edges):
            totals[k] += a * edge if f == 0 else a * mpmath.expjpi(2 * f * edge) / (2j * mpmath.pi * f)
    return [(totals[k + 1] - totals[k]).real for k in range(players)]


def heat_density(y, cosines, sines):
    """The same by the sum over images of the Gaussian, in double precision."""
    spread = float(SPREAD)
    images = sum(math.exp(-((0.5 - y + m) ** 2) / (4 * spread)) for m in range(-6, 7)) / math.sqrt(4 * math.pi * spread)
    return images * sum(c * math.cos(2 * math.pi * j * y) + s * math.sin(2 * math.pi * j * y) for j, (c, s) in enumerate(zip(cosines, sines), 1))


def heat_cases():
    rng = np.random.default_rng(17)
    cosines, sines = rng.integers(-64, 64, (2, 5)) / 64
    finest = heat_weights(1024, cosines, sines)
    for players in (16, 64, 256, 1024):
        weights = [sum(finest[k * (1024 // players):(k + 1) * (1024 // players)]) for k in range(players)]
        if players == 16:
            integrals = [quad(heat_density, k / players, (k + 1) / players, args=(cosines, sines), epsabs=1e-14)[0] for k in range(players)]
            close([float(w) for w in weights], integrals, 1e-11, "heat")
        yield {"name": "heat", "players": players, "spread": float(SPREAD), "query": 0.5, "cosines": cosines, "sines": sines, "shapley_values": [float(w) for w in weights]}


NU, TIME, PLACE = mpmath.mpf(0.05), mpmath.mpf(0.5), mpmath.mpf(0.125)
EDGES = [mpmath.mpf(e) / 16 for e in (-16, -12, -9, -6, -3, -1, 1, 3, 7, 11, 16)]
HEIGHTS = [mpmath.mpf(h) / 16 for h in (9, -5, 12, 20, -7, 15, -3, 10, -16, 6)]


def burgers(scales):
    """u(x, t) = the mean of u0 with weights exp(-Φ/2ν), Φ = (x - y)²/2t + ∫u0: on a cell of height h a Gaussian around x - t h, hence error functions."""
    sigma = mpmath.sqrt(2 * NU * TIME)
    pieces = [(-mpmath.inf, EDGES[0], mpmath.mpf(0))]
    pieces += [(p, q, a * h) for p, q, a, h in zip(EDGES, EDGES[1:], scales, HEIGHTS)]
    pieces += [(EDGES[-1], mpmath.inf, mpmath.mpf(0))]
    potential, above, below = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    for p, q, h in pieces:
        start = p if mpmath.isfinite(p) else q  # u0 is 0 on the unbounded pieces
        middle = PLACE - TIME * h
        exponent = (middle**2 - PLACE**2) / (2 * sigma**2) - (potential - h * start) / (2 * NU)
        mass = mpmath.exp(exponent) * (mpmath.erf((q - middle) / (sigma * mpmath.sqrt(2))) - mpmath.erf((p - middle) / (sigma * mpmath.sqrt(2))))
        above += h * mass
        below += mass
        if mpmath.isfinite(p) and mpmath.isfinite(q):
            potential += h * (q - p)
    return above / below


def burgers_by_quadrature(coalition):
    edges, heights = [float(e) for e in EDGES], [float(h) if coalition >> k & 1 else 0.0 for k, h in enumerate(HEIGHTS)]
    x, t, nu = float(PLACE), float(TIME), float(NU)

    def phi(y):
        return (x - y) ** 2 / (2 * t) + sum(h * (min(max(y, p), q) - p) for p, q, h in zip(edges, edges[1:], heights))

    def weight(y):
        return math.exp(-phi(y) / (2 * nu))

    bounds = [-4.0, *edges, 4.0]
    above = sum(quad(lambda y: (x - y) / t * weight(y), p, q, epsabs=1e-14)[0] for p, q in zip(bounds, bounds[1:]))
    return above / sum(quad(weight, p, q, epsabs=1e-14)[0] for p, q in zip(bounds, bounds[1:]))


def burgers_case():
    players = len(HEIGHTS)
    table = [float(burgers([coalition >> k & 1 for k in range(players)])) for coalition in range(1 << players)]
    for coalition in (0, 1, 170, 341, 1000, 1023):
        close(table[coalition] + 1, burgers_by_quadrature(coalition) + 1, 1e-9, "burgers", coalition)
    x, w = np.polynomial.legendre.leggauss(40)
    nodes, weights = (x + 1) / 2, w / 2
    step = mpmath.mpf(10) ** -12
    gradients = []
    for t in nodes:
        row = []
        for k in range(players):
            up, down = ([mpmath.mpf(t) + (sign * step if j == k else 0) for j in range(players)] for sign in (1, -1))
            row.append(float((burgers(up) - burgers(down)) / (2 * step)))
        gradients.append(row)
    aumann_shapley = weights @ np.array(gradients)
    close(aumann_shapley.sum(), table[-1] - table[0], 1e-11, "burgers completeness")
    return {"name": "burgers", "players": players, "nu": float(NU), "time": float(TIME), "place": float(PLACE), "edges": [float(e) for e in EDGES],
            "heights": [float(h) for h in HEIGHTS], "values": table, "shapley_values": shapley_values(table), "aumann_shapley": aumann_shapley, "nodes": nodes, "gradients": gradients}


def cases():
    mpmath.mp.dps = 30
    yield from heat_cases()
    yield burgers_case()
