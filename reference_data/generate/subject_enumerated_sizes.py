"""Which sizes shapiq's sampler takes whole, what is left of the budget, and the law of the sizes left."""

from fractions import Fraction
from math import comb

import numpy as np
from shapiq.approximator.sampling import CoalitionSampler

from fixture import close, require

about = ("The part of shapiq's CoalitionSampler that is not random, with sizes drawn ∝ 1/(s(n-s)): `enumerated` sizes besides 0 and n, `left` of the budget, and the "
         "probabilities `law` of the sizes `sampled` (the two smallest and the two in the middle of them). Re-derived in rational arithmetic.")
packages = ["shapiq", "numpy"]

ANCHORS = {(8, 64): ([1, 7], 46), (16, 1024): ([1, 2, 14, 15], 750), (32, 1024): ([1, 31], 958), (64, 1024): ([1, 63], 894), (128, 1024): ([], 1022),
           (1024, 2048): ([], 2046), (1024, 300000): ([1, 1023], 297950)}


def of_shapiq(players, budget):
    weights = np.full(players + 1, 1e8)
    sizes = np.arange(1, players)
    weights[1:-1] = 1 / (sizes * (players - sizes))
    sampler = CoalitionSampler(players, weights / weights.sum())
    budget = min(budget, sampler.n_max_coalitions)
    sampler._reset_variables(2)  # its rows are not wanted: they would take budget x n bytes
    left = sampler.execute_border_trick(sampler.execute_empty_grand_coalition(budget))
    return sorted(set(sampler._coalitions_to_compute) - {0, players}), left, sampler._coalitions_to_sample, sampler.adjusted_sampling_weights


def in_rationals(players, budget):
    """The same rule on exact numbers. Common factors are left out: the law is compared by cross-multiplication."""
    sizes = list(range(1, players))
    left, enumerated = min(budget, 1 << players) - 2, []
    weight = {s: Fraction(1, s * (players - s)) for s in sizes}
    while sizes:
        mass = sum(weight[s] for s in sizes)
        whole = [s for s in sizes if left * weight[s] >= comb(players, s) * mass]
        if not whole:
            break
        left -= sum(comb(players, s) for s in whole)
        enumerated += whole
        sizes = [s for s in sizes if s not in whole]
    mass = sum(weight[s] for s in sizes)
    return sorted(enumerated), left, sizes, [float(weight[s] / mass) for s in sizes]


def case(players, budget):
    enumerated, left, sampled, law = of_shapiq(players, budget)
    exact = in_rationals(players, budget)
    require((enumerated, left, list(sampled)) == exact[:3], "enumerated_sizes", players, budget, enumerated, left, "exact:", exact[:2])
    if sampled:
        close(law, exact[3], 1e-12, "law", players, budget)
    anchor = ANCHORS.get((players, budget))
    require(anchor is None or anchor == (enumerated, left), "anchor", players, budget, enumerated, left)
    picked = sorted({i for i in (0, 1, len(sampled) // 2, len(sampled) // 2 + 1) if i < len(sampled)})
    return {"players": players, "budget": budget, "enumerated": enumerated, "left": left, "sampled": [sampled[i] for i in picked], "law": [exact[3][i] for i in picked]}


def cases():
    for players in (2, 3, 5, 8, 12, 16, 32, 64, 128, 1024, 1030, 2048):
        for budget in sorted({2, 3, 10, 64, 300, 2 * players, 1024, 8192, 1 << 15, 300000}):
            yield case(players, budget)
