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

And any method of opshap is a function, for a game of this very process:

    from opshap_peer import attribute

    found = attribute(lambda masks: masks @ weights, 64, "permutation", 1024)
    found.values, found.standard_errors, found.error_bar, found.plot(), found.to_dict(), found.to_shapiq()

Masks are booleans, or numbers that are all 0 or 1. Values are real numbers of any type.
"""

from .attribute import Attribution, OpshapError, attribute
from .estimator import BudgetExceeded, Estimator, Game, Refused, estimator
from .frames import ProtocolError
from .game import PeerGame, game, torch_game
from .operator import PeerOperator, operator, torch_operator

__version__ = "0.1.0"
__all__ = ["Attribution", "BudgetExceeded", "Estimator", "Game", "OpshapError", "PeerGame", "PeerOperator",
           "ProtocolError", "Refused", "attribute", "estimator", "game", "operator", "torch_game", "torch_operator"]
