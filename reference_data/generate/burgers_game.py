#!/usr/bin/env python3
"""Shapley and Aumann-Shapley values of one Burgers game to 30 digits: writes burgers_game.csv on standard output. Needs mpmath; takes 15 seconds.

The solution is the ratio of Hopf (1950), with the integral over each cell in closed form; some coalitions are checked against mpmath's quadrature of the
same ratio as Hopf wrote it.
"""
from mpmath import erf, erfc, exp, inf, mp, mpf, pi, quad, sqrt

mp.dps = 30
N, NU, TIME, QUERY = 16, mpf(1) / 10, mpf(1) / 2, mpf(7) / 10
EDGES = [mpf(k * (N + k)) / (2 * N * N) for k in range(N + 1)]
HEIGHTS = [mpf((7 * k) % 11 - 3) / 4 for k in range(N)]
WIDTHS = [EDGES[k + 1] - EDGES[k] for k in range(N)]
ROOT = sqrt(4 * NU * TIME)


def over_cell(k, height):
    """Integral of exp(-(z-y)^2/(4 nu t) - height*y/(2 nu)) over the cell, z the distance of the query from its left edge."""
    z = QUERY - EDGES[k]
    centre = z - TIME * height
    scale = exp(-(z * z - centre * centre) / ROOT**2) * ROOT * sqrt(pi) / 2
    return scale * (erf((WIDTHS[k] - centre) / ROOT) - erf(-centre / ROOT))


LEFT = ROOT * sqrt(pi) / 2 * erfc((QUERY - EDGES[0]) / ROOT)
RIGHT = ROOT * sqrt(pi) / 2 * erfc((EDGES[N] - QUERY) / ROOT)


def solution(heights, integrals, decays):
    level, weighted, mass = mpf(1), mpf(0), LEFT
    for height, integral, decay in zip(heights, integrals, decays):
        mass += level * integral
        weighted += level * integral * height
        level *= decay
    return weighted / (mass + level * RIGHT)


SHOWN = [over_cell(k, HEIGHTS[k]) for k in range(N)]
HIDDEN = [over_cell(k, mpf(0)) for k in range(N)]
DECAY = [exp(-HEIGHTS[k] * WIDTHS[k] / (2 * NU)) for k in range(N)]


def coalition(mask):
    inside = [mask >> k & 1 for k in range(N)]
    return solution([HEIGHTS[k] if inside[k] else mpf(0) for k in range(N)],
                    [SHOWN[k] if inside[k] else HIDDEN[k] for k in range(N)],
                    [DECAY[k] if inside[k] else mpf(1) for k in range(N)])


def by_quadrature(mask):
    heights = [HEIGHTS[k] * (mask >> k & 1) for k in range(N)]

    def density(y):
        total = sum(h * min(max(y - EDGES[k], 0), WIDTHS[k]) for k, h in enumerate(heights))
        return exp(-((QUERY - y) ** 2 / (2 * TIME) + total) / (2 * NU))

    places = [-inf] + EDGES + [inf]
    return quad(lambda y: (QUERY - y) / TIME * density(y), places) / quad(density, places)


def mixture(scales):
    heights = [HEIGHTS[k] * scales[k] for k in range(N)]
    return solution(heights, [over_cell(k, heights[k]) for k in range(N)],
                    [exp(-heights[k] * WIDTHS[k] / (2 * NU)) for k in range(N)])


def slope(player, t):
    return mp.diff(lambda a: mixture([a if k == player else t for k in range(N)]), t)


for checked in (1, 0b1010110011110001, (1 << N) - 1):
    assert abs(coalition(checked) - by_quadrature(checked)) < mpf(10) ** -22, checked

values = [coalition(mask) for mask in range(1 << N)]
weights = [mp.factorial(s) * mp.factorial(N - 1 - s) / mp.factorial(N) for s in range(N)]
shapley = [mp.fsum(weights[bin(mask).count("1")] * (values[mask | 1 << k] - values[mask])
                   for mask in range(1 << N) if not mask >> k & 1) for k in range(N)]
assert abs(mp.fsum(shapley) - values[-1] + values[0]) < mpf(10) ** -25

smooth = [quad(lambda t: slope(k, t), [0, 0.5, 1], method="gauss-legendre", maxdegree=4) for k in range(N)]
assert abs(mp.fsum(smooth) - values[-1] + values[0]) < mpf(10) ** -18

print("# version 1; see burgers_game.md")
print("from,height,shapley,aumann_shapley")
for k in range(N):
    print(f"{mp.nstr(EDGES[k], 20)},{mp.nstr(HEIGHTS[k], 20)},{mp.nstr(shapley[k], 20)},{mp.nstr(smooth[k], 18)}")
