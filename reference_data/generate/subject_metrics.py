"""Scores of attributions, with the cases where there is none."""

import numpy as np
import scipy.stats

from fixture import all_coalitions, close, masks

about = ("Pearson correlation (scipy.stats.pearsonr), ‖a - r‖/‖r‖, 1 - Σ(g - a·1_S)²/Σ(g - mean g)² over stored coalitions and |Σa - Δ|/max(|Δ|, ‖a‖₁); null where undefined. "
         "Pearson and R² are also derived from sums of products in extended precision, as is the norm ratio.")
packages = ["numpy", "scipy"]


def pearson(r, a):
    if len(r) < 2 or np.ptp(r) == 0 or np.ptp(a) == 0:
        return None
    x, y = (np.asarray(v, np.longdouble) - np.mean(v, dtype=np.longdouble) for v in (r, a))
    value = float((x @ y) / np.sqrt((x @ x) * (y @ y)))
    close(scipy.stats.pearsonr(r, a).statistic, value, 1e-12, "pearson")
    return value


def nrmse(r, a):
    r, a = np.asarray(r, np.longdouble), np.asarray(a, np.longdouble)
    if not r.any():
        return 0.0 if not a.any() else None
    return float(np.sqrt((a - r) @ (a - r)) / np.sqrt(r @ r))


def case(name, reference, estimate):
    return {"name": name, "reference": reference, "estimate": estimate, "pearson": pearson(reference, estimate), "nrmse": nrmse(reference, estimate)}


def r2(name, rows, gains, values):
    left, spread = gains - rows @ values, gains - gains.mean()
    value = float(1 - (left @ left) / (spread @ spread)) if np.ptp(gains) > 0 else None
    if value is not None:
        g, l = np.asarray(gains, np.longdouble), np.asarray(left, np.longdouble)
        close(value, float(1 - (l @ l) / (g @ g - g.sum() ** 2 / len(g))), 1e-12, "r2")
    return {"name": name, "players": len(values), "coalitions": masks(rows), "gains": gains, "values": values, "weighted_r2": value}


def gap(values, empty, grand):
    gain = grand - empty
    scale = max(abs(gain), np.abs(values).sum())
    return {"name": "efficiency_gap", "values": values, "empty": empty, "grand": grand, "efficiency_gap": abs(sum(values) - gain) / scale if scale else 0.0}


def cases():
    rng = np.random.default_rng(15)
    r, a = rng.standard_normal(40), rng.standard_normal(40)
    yield case("independent", r, a)
    yield case("close", r, r + 1e-3 * a)
    yield case("shifted", r + 1e6, r + 1e6 + a)
    yield case("opposite", r, -2 * r + 1)
    yield case("tiny", 1e-140 * r, 1e-140 * (r + a))
    yield case("two players", [1.0, 2.0], [5.0, 4.0])
    yield case("one player", [1.0], [2.0])
    yield case("constant reference", [2.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    yield case("constant estimate", [1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    yield case("zero reference", [0.0, 0.0], [0.0, 1.0])
    yield case("both zero", [0.0, 0.0], [0.0, 0.0])
    rows = all_coalitions(6)[rng.integers(1, 63, 80)]
    gains = rng.integers(-128, 128, 80) / 64
    yield r2("sampled", rows, gains, rng.standard_normal(6) / 4)
    yield r2("least squares", rows, gains, np.linalg.lstsq(rows.astype(float), gains, rcond=None)[0])
    yield r2("constant game", rows[:5], np.full(5, 0.25), np.ones(6))
    yield gap(r, 1.5, 4.0)
    yield gap([3.0, -3.0], 2.0, 2.0)
    yield gap([0.0, 0.0], 2.0, 2.0)
