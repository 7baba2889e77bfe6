"""Shapley attributions for neural operators and for functions, by opshap.

    import numpy as np
    import opshap

    op = opshap.load("fno.safetensors")              # a trained operator; op(u) is its prediction
    a = op.attribute(u, query=32)                    # arrays in and out
    a.values, a.standard_errors, a.error_bar, a.plot(), a.to_dict(), a.to_shap(), a.to_shapiq()
    op.attribute(u, target="mean:20..40"), op.reference(u, query=32), op.compare(u, ["permutation"], [256], query=32)

    a = opshap.attribute(lambda masks: masks @ weights, 64, "permutation", 1024)   # any function of this process
    opshap.reference(game, 64), opshap.compare(game, 64, ["permutation", "kernel_shap_paired"], [1024])
    opshap.methods()                                 # what there is

A process of opshap is kept for games, and one for each operator, so a call costs no start. Threads take turns. Programs that opshap starts
are made by the package opshap_peer.
"""

from .attribution import Attribution, OpshapError
from .games import attribute, compare, methods, reference
from .operators import Operator, load
from .results import Comparison, Reference

__version__ = "0.1.0"
__all__ = ["Attribution", "Comparison", "Operator", "OpshapError", "Reference", "attribute", "compare", "load", "methods",
           "reference"]
