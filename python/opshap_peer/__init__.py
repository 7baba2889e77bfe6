"""Programs that explain games of opshap, or are games that it explains, by the protocol opshap-peer/1 over two pipes.

    import numpy as np
    from opshap_peer import estimator

    @estimator
    def my_shap(game, rng):
        masks = rng.random((game.left, game.players)) < 0.5   # True where a player is in
        values = game(masks)                                  # v(S), one number a row
        ...
        return shapley_values                                 # [players]

    if __name__ == "__main__":
        my_shap.serve()

`opshap peer new NAME` writes such a program with its plugin.toml, and `opshap peer check NAME` tests it. The other way
round, a function of masks is a game that opshap explains, and a torch module an operator that it makes games of:

    from opshap_peer import game, torch_game, torch_operator

    torch_operator(module, dimension=1).serve()          # opshap attribute --operator peer:FOLDER --input u.npy ...
    torch_game(module, field, query=512).serve()         # opshap attribute --game peer:FOLDER ...

And any method of opshap is a function, for a game of this very process: that is opshap.attribute of the package opshap
beside this one, which is also found here.

Masks are booleans, or numbers that are all 0 or 1. Values are real numbers of any type.
"""

from .estimator import BudgetExceeded, Estimator, Game, Refused, estimator
from .frames import ProtocolError
from .game import PeerGame, game, torch_game
from .operator import PeerOperator, operator, torch_operator

__version__ = "0.1.0"
_OF_OPSHAP = ("Attribution", "OpshapError", "attribute")
__all__ = ["Attribution", "BudgetExceeded", "Estimator", "Game", "OpshapError", "PeerGame", "PeerOperator",
           "ProtocolError", "Refused", "attribute", "estimator", "game", "operator", "torch_game", "torch_operator"]


def __getattr__(name):  # a copy of this package in a program's folder has no opshap beside it, and needs none
    if name in _OF_OPSHAP:
        import opshap
        return getattr(opshap, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
