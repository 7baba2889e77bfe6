"""Integrated gradients of a polynomial and of a small network, by quadratures and exactly."""

import mpmath
import numpy as np

from fixture import close

about = ("IG_i = ∫ ∂f/∂a_i(t, ..., t) dt on f(a) = c·a + (p·a)² + (q·a)³ (`cubic`) and f(a) = r·tanh(Wa + b) (`network`), by the midpoint rule with 50 nodes and Gauss-Legendre "
         "rules with 8, 16 and 32 nodes (numpy.polynomial), and `exact` by mpmath with 30 digits; `gain` = f(1) - f(0), which `exact` sums to.")
packages = ["numpy", "mpmath"]


def rules():
    yield "midpoint", 50, (np.arange(50) + 0.5) / 50, np.full(50, 1 / 50)
    for nodes in (8, 16, 32):
        x, w = np.polynomial.legendre.leggauss(nodes)
        yield "gauss_legendre", nodes, (x + 1) / 2, w / 2


def by_rules(gradient):
    return [{"rule": rule, "nodes": nodes, "values": sum(w * gradient(t) for t, w in zip(points, weights))} for rule, nodes, points, weights in rules()]


def checked(case, tolerances):
    close(sum(case["exact"]), case["gain"], 1e-14, case["name"], "completeness")
    for quadrature, tolerance in zip(case["quadratures"], tolerances):
        close(quadrature["values"], case["exact"], tolerance, case["name"], quadrature["rule"], quadrature["nodes"])
    return case


def cubic(c, p, q):
    def gradient(t):
        return c + 2 * p.sum() * t * p + 3 * (q.sum() * t) ** 2 * q

    exact = c + p.sum() * p + q.sum() ** 2 * q
    return checked({"name": "cubic", "c": c, "p": p, "q": q, "gain": c.sum() + p.sum() ** 2 + q.sum() ** 3, "quadratures": by_rules(gradient), "exact": exact},
                   (1e-3, 1e-14, 1e-14, 1e-14))


def network(w, b, r):
    slopes = w.sum(axis=1)  # of the hidden units along the diagonal

    def gradient(t):
        return (r * (1 - np.tanh(slopes * t + b) ** 2)) @ w

    # ∫ (1 - tanh²(st + b)) dt = (tanh(s + b) - tanh(b))/s
    parts = [mpmath.mpf(r[k]) * (mpmath.tanh(mpmath.mpf(slopes[k]) + b[k]) - mpmath.tanh(b[k])) / mpmath.mpf(slopes[k]) for k in range(len(b))]
    exact = [float(mpmath.fsum(part * mpmath.mpf(x) for part, x in zip(parts, column))) for column in w.T]
    gain = float(mpmath.fsum(mpmath.mpf(r[k]) * (mpmath.tanh(mpmath.fsum(w[k]) + b[k]) - mpmath.tanh(b[k])) for k in range(len(b))))
    return checked({"name": "network", "w": w, "b": b, "r": r, "gain": gain, "quadratures": by_rules(gradient), "exact": exact}, (1e-3, 1e-3, 1e-6, 1e-11))


def cases():
    mpmath.mp.dps = 30
    rng = np.random.default_rng(14)
    yield cubic(*(rng.integers(-64, 64, (3, 5)) / 64))
    yield network(rng.integers(-64, 64, (7, 6)) / 64, rng.integers(-64, 64, 7) / 64, rng.integers(-64, 64, 7) / 64)
