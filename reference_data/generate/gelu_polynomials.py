"""Coefficients of the quick GELU and of its slope (lib/kernels/gelu.hpp).

p of degree eight such that t·p(t)⁴ is g(t) = t·Φ(−t), and (r − t)·p(t)⁴ its derivative with the root r, with the least
maximum error on [0, last]. Newton's method, each step a linear programme. Prints the limit, which is the zero of p
beyond `last`, the coefficients with the constant first, and the error before rounding to float32.

    python gelu_polynomials.py      (numpy, scipy)
"""

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import erfc


def value(t):
    return 0.5 * t * erfc(t / np.sqrt(2))


def slope(t):
    return 0.5 * erfc(t / np.sqrt(2)) - t * np.exp(-t * t / 2) / np.sqrt(2 * np.pi)


def least_maximum(wanted, factor, last, degree=8, points=1500):
    t = last * (1 - np.cos(np.linspace(0, np.pi, points))) / 2
    basis = np.polynomial.chebyshev.chebvander(2 * t / last - 1, degree)
    fourth_root = np.abs(wanted(t) / np.where(factor(t) == 0, np.inf, factor(t))) ** 0.25
    weight = np.abs(factor(t)) * np.maximum(fourth_root, 1e-3) ** 3 + 1e-6
    found = np.linalg.lstsq(basis * weight[:, None], fourth_root * weight, rcond=None)[0]

    def errors(coefficients):
        return factor(t) * (basis @ coefficients) ** 4 - wanted(t)

    for _ in range(30):
        now = errors(found)
        worst = np.abs(now).max()
        change = (4 * factor(t) * (basis @ found) ** 3)[:, None] * basis / worst
        bound = -np.ones((points, 1))
        step = linprog(
            np.append(np.zeros(degree + 1), 1),
            A_ub=np.block([[change, bound], [-change, bound]]),
            b_ub=np.append(-now, now) / worst,
            bounds=[(None, None)] * (degree + 1) + [(0, None)],
        ).x[:-1]
        length = 1.0
        while length > 1e-3 and np.abs(errors(found + length * step)).max() >= worst:
            length /= 2
        if length <= 1e-3:
            break
        found = found + length * step
    polynomial = np.polynomial.Chebyshev(found, domain=[0, last]).convert(kind=np.polynomial.Polynomial)
    return polynomial, np.abs(errors(found)).max()


if __name__ == "__main__":
    root = brentq(slope, 0.5, 1)
    for name, wanted, factor, last in (
        ("value", value, lambda t: t, 5.6),
        ("slope", slope, lambda t: root - t, 5.8),
    ):
        polynomial, error = least_maximum(wanted, factor, last)
        limit = brentq(polynomial, last, last + 0.2)
        print(f"{name}: limit {limit:.8g}, root {root:.8g}, error {error:.2g}")
        print(", ".join(f"{coefficient:.8e}F" for coefficient in polynomial.coef))
