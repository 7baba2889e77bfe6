"""{{name}}: the mean of marginal contributions along random orderings, with standard errors.

Replace the body of {{function}}() by your own method. Then:

    opshap peer check {{name}}
    opshap compare --game unanimity_sum --players 16 --methods peer:{{name}},permutation --budgets 4n,8n,16n
"""

import numpy as np

from opshap_peer import Refused, estimator


@estimator(version="0.1")
def {{function}}(game, rng):
    n = game.players
    if n == 1:
        return np.array([game.grand - game.empty])
    orderings = game.left // (n - 1)  # the empty and the grand coalition are paid already
    if orderings == 0:
        raise Refused(f"budget={game.budget} (an ordering of {n} players needs {n + 1} coalitions)")
    total = np.zeros(n)
    squares = np.zeros(n)
    for done in range(1, orderings + 1):
        ordering = rng.permutation(n)
        # Row k holds the first k + 1 players of the ordering; the last one would be the grand coalition.
        masks = np.zeros((n - 1, n), bool)
        for place in range(n - 1):
            masks[place:, ordering[place]] = True
        along = np.concatenate([[game.empty], game(masks), [game.grand]])
        gains = np.empty(n)
        gains[ordering] = np.diff(along)
        total += gains
        squares += gains**2
        if done & (done - 1) == 0:  # after 1, 2, 4, ... orderings
            game.partial(total / done)
    mean = total / orderings
    if orderings == 1:
        return mean
    variance = np.maximum(squares - orderings * mean**2, 0) / (orderings - 1)
    return mean, np.sqrt(variance / orderings)


if __name__ == "__main__":
    {{function}}.serve()
