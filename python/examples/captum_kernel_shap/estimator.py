"""Captum's KernelShap: the mask is its input, all ones the point to explain, and zeros the baseline.

The samples are as many as the budget allows. Captum draws them with replacement, so that it asks for fewer different
coalitions than it may. It computes in float32.
"""

import captum
import torch
from captum.attr import KernelShap

from opshap_peer import estimator


@estimator(version=captum.__version__)
def kernel_shap(game, rng):
    def values(shown):
        return torch.from_numpy(game(shown.numpy() > 0.5))

    torch.manual_seed(game.seed)
    shown, hidden = torch.ones(1, game.players), torch.zeros(1, game.players)
    found = KernelShap(values).attribute(shown, hidden, n_samples=game.budget, perturbations_per_eval=1024)
    return found[0].double().numpy()


if __name__ == "__main__":
    kernel_shap.serve()
