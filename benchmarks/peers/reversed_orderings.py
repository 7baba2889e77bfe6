"""reversed_orderings: the mean of marginal contributions along random orderings, each of them taken in both directions.

A newcomer's estimator: what `opshap peer new` writes, with another body. `programs.py` puts it in place of the template and takes the time of each command
up to its row in a comparison.
"""

import numpy as np

from opshap_peer import estimator


@estimator(version="0.1")
def reversed_orderings(game, rng):
    n = game.players
    if n == 1:
        return np.array([game.grand - game.empty])
    pairs = game.left // (2 * (n - 1))  # the empty and the grand coalition are paid already
    if pairs == 0:
        raise ValueError(f"budget={game.budget} (two orderings of {n} players need {2 * n} coalitions)")
    total = np.zeros(n)
    for done in range(1, pairs + 1):
        forwards = rng.permutation(n)
        for ordering in (forwards, forwards[::-1]):
            masks = np.zeros((n - 1, n), bool)
            for place in range(n - 1):
                masks[place:, ordering[place]] = True
            total[ordering] += np.diff(np.concatenate([[game.empty], game(masks), [game.grand]])) / 2
        game.partial(total / done)
    return total / pairs


if __name__ == "__main__":
    reversed_orderings.serve()
