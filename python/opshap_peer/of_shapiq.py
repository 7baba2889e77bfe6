"""Any approximator of shapiq as an estimator that opshap asks. With shapiq installed, plugin.toml is all that it needs:

    name = "kernel-shap"
    command = ["python3", "-m", "opshap_peer.of_shapiq", "KernelSHAP"]
    [parameters]             # of its constructor
    pairing_trick = true
"""

import inspect
import sys

import numpy as np

from .estimator import Estimator


def of_shapiq(approximator, **options):
    """The Estimator of an approximator: a class, or the name of one in shapiq.approximator.

    options   of its constructor; the table [parameters] of plugin.toml comes on top of them. `n` and `random_state` are
              those of the task. An approximator that knows several indices is asked for the Shapley value ("SV"), and
              for order 1
    The budget of approximate() is the task's. What the approximator asks for beyond it is refused, and the task fails.
    """
    import shapiq

    made = approximator
    if isinstance(approximator, str):
        made = getattr(shapiq.approximator, approximator, None)
        if made is None:
            names = ", ".join(sorted(shapiq.approximator.__all__))
            raise ValueError(f"of_shapiq: approximator={approximator} (shapiq {shapiq.__version__} has none of that "
                             f"name). It has {names}.")
    known = inspect.signature(made).parameters
    defaults = {key: value for key, value in {"index": "SV", "max_order": 1}.items() if key in known}

    def estimate(game, rng):
        def values(masks):  # some approximators ask for a coalition as one row without a batch
            return game(np.atleast_2d(masks))

        settings = {**defaults, **options, **game.parameters, "random_state": game.seed % 2**32}
        found = made(n=game.players, **settings).approximate(game.budget, values)
        return np.array([found[(player,)] for player in range(game.players)])

    estimate.__name__ = made.__name__
    return Estimator(estimate, version=shapiq.__version__)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("of_shapiq: arguments (needs the name of an approximator). "
                 "Write python3 -m opshap_peer.of_shapiq KernelSHAP.")
    of_shapiq(sys.argv[1]).serve()
