"""A game as a program: the decorator, and the game of a torch module whose input is masked."""

import os

import numpy as np

from .frames import MOST_PLAYERS, checked_integer, checked_masks, checked_numbers, masks_of_bytes, numbers_of_bytes
from .questions import count_of, serve


class PeerGame:
    """A function masks -> values that a host can explain. Made by @game.

    function   [B, players] booleans -> [B]
    gradients  optional: nodes [T] -> [T, players], the gradients at (t, ..., t) of an extension to the unit cube

    Values and gradients are real numbers of any type. Raises ValueError for numbers of players or of rows that cannot
    be. A call checks its masks: they are booleans, or numbers that are all 0 or 1.
    """

    def __init__(self, function, players, gradients=None, max_batch=4096):
        self.function = function
        self.players = checked_integer("game: players", players, 1, MOST_PLAYERS)
        self.gradients = gradients
        self.max_batch = checked_integer("game: max_batch", max_batch, 1)

    def __call__(self, masks):
        return self.function(checked_masks("game: masks", masks, self.players))

    def serve(self, pipes=None):
        """Answers questions until the host says goodbye. An exception of the function fails its question."""
        serve({"eval": self._values, "grad": self._gradients},
              {"role": "game", "name": os.environ.get("OPSHAP_PEER_NAME", getattr(self.function, "__name__", "game")),
               "players": self.players, "gradients": self.gradients is not None, "max_batch": self.max_batch}, pipes)

    def answer(self, header, payload):
        """The type and the numbers of the answer to one question of a host. An exception of the function comes out."""
        return {"eval": self._values, "grad": self._gradients}[header["type"]](header, payload)

    def _values(self, header, payload):
        count = count_of(header)
        values = self.function(masks_of_bytes(payload, self.players, count))
        return "values", checked_numbers("game: values", values, [count],
                                         "Give one number for each row of the masks, [B], or [B, K] for K games.")

    def _gradients(self, header, payload):
        count = count_of(header)
        gradients = self.gradients(numbers_of_bytes(payload, count))
        return "gradients", checked_numbers("game: gradients", gradients, [count, self.players])


def game(players, gradients=None, max_batch=4096):
    """Makes a PeerGame of a function from masks [B, players] to values [B]."""
    return lambda function: PeerGame(function, players, gradients, max_batch)


def torch_game(module, field, query=None, baseline=None, players=None, channel=0, max_batch=256, device="cpu",
               target=None):
    """The game of a trained operator: v(S) is its output at `query` when the cells outside of S show the baseline.

    module    maps [B, C, n] to [B, C', n], or [B, C, nx, ny] to [B, C', nx, ny]
    field     the input, [C, n] or [C, nx, ny]
    query     indices of the output's point, one an axis
    target    weights of the output's shape in place of a query: v(S) is the weighted sum of all its numbers
    baseline  of the field's shape; zero where it is left out
    players   player of each point, an integer array of the grid's shape, or a number of contiguous groups of equal size
              of a line; one player a point where it is left out
    Gradients are those of the masked input in the size of its mask, so that integrated gradients work.
    """
    import torch

    field = torch.as_tensor(checked_numbers("game: field", field), dtype=torch.float32, device=device)
    baseline = torch.zeros_like(field) if baseline is None else torch.as_tensor(
        checked_numbers("game: baseline", baseline), dtype=torch.float32, device=device)
    grid = tuple(field.shape[1:])
    points = int(np.prod(grid))
    if players is None:
        players = points
    if np.ndim(players) == 0:
        players = checked_integer("game: players", players, 1, points)
        if len(grid) > 1 and players != points:
            raise ValueError(f"game: players={players} (groups of a plane have no one order). Give a label a point.")
        if points % players != 0:
            raise ValueError(f"game: players={players} (does not divide {points} points). Give a label a point.")
        players = np.arange(points) // (points // players)
    labels = checked_numbers("game: players", players).reshape(-1)
    if labels.size != points or (labels != np.clip(np.floor(labels), 0, MOST_PLAYERS - 1)).any():
        raise ValueError(f"game: players={labels.size} labels (needs a whole number from 0 on for each of {points} "
                         "points). Give such labels.")
    labels = torch.as_tensor(labels, dtype=torch.long, device=device)
    count = int(labels.max()) + 1
    module = module.to(device).eval()
    if (query is None) == (target is None):
        raise ValueError("game: query, target (one of them says what is explained). Give one.")
    if target is not None:
        target = torch.as_tensor(checked_numbers("game: target", target), dtype=torch.float64, device=device)
    place = None if query is None else (slice(None), channel, *np.atleast_1d(query).tolist())

    def outputs(shares):
        """Outputs where each player shows that share of its input, [B]."""
        shown = shares[:, labels].reshape(-1, 1, *grid)
        # Not baseline + shown * (field - baseline): this is exactly the field where it is shown.
        found = module((1 - shown) * baseline + shown * field)
        if place is not None:
            return found[place]
        if found.shape[1:] != target.shape:
            raise ValueError(f"game: target={list(target.shape)} (the output is {list(found.shape[1:])}). Give a weight "
                             "for each of its numbers.")
        return (found.double() * target).flatten(1).sum(1)

    def values(masks):
        with torch.no_grad():
            return outputs(torch.as_tensor(masks, dtype=torch.float32, device=device)).double().cpu().numpy()

    def gradients(nodes):
        rows = []
        for node in nodes:
            shares = torch.full((1, count), float(node), device=device, requires_grad=True)
            rows.append(torch.autograd.grad(outputs(shares).sum(), shares)[0][0].double().cpu().numpy())
        return np.stack(rows) if rows else np.zeros((0, count))

    return PeerGame(values, count, gradients, max_batch)
