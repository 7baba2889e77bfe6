"""An estimator as a program: the decorator, and the game that it explains."""

import os
import sys
import traceback

import numpy as np

from .frames import (Pipes, ProtocolError, bytes_of_masks, bytes_of_numbers, checked_masks, checked_numbers,
                     numbers_of_bytes)
from .questions import reason_of


class BudgetExceeded(Exception):
    """The host has refused a request whole, because it would have exceeded the budget. Ask for less."""


class Refused(Exception):
    """Raise it, with the reason, where the budget or the game is not one for your estimator. Comparisons then show no
    result with that reason. Any other exception is a failure: a run that did not finish (DNF)."""


class StopRequested(BaseException):
    """Time is over. Not an Exception, so that an estimator does not catch it by accident."""


class Game:
    """The game to explain. The host counts: `budget` is one of distinct coalitions, and repetitions cost nothing.

    players      n
    budget       distinct coalitions that may be asked for, the empty and the grand one among them
    left         what is left of it; both of them are paid already
    empty        v of no player
    grand        v of all players
    seed         of this task; `rng` is made from it
    parameters   the table [parameters] of plugin.toml
    checkpoints  budgets at which partial() is worth a call
    volumes      of the players where they are cells of a field, [n], else None
    """

    def __init__(self, task, pipes):
        self._pipes = pipes
        self.last_partial = None
        try:
            self._id = task["id"]
            self.players = int(task["n"])
            self.budget = int(task["budget"])
            self.left = self.budget - 2
            self.empty = float(task["v_empty"])
            self.grand = float(task["v_full"])
            self.seed = int(task["seed"])
            self.parameters = dict(task.get("parameters", {}))
            self.checkpoints = list(task.get("checkpoints", []))
            volumes = task.get("volumes")
            self.volumes = None if volumes is None else np.asarray(volumes, float)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ProtocolError(f"frame: type='task' ({type(error).__name__}: {error}). Check the host.") from error
        if self.players < 1 or self.seed < 0:
            raise ProtocolError(f"frame: n={self.players}, seed={self.seed} (one is too small). Check the host.")

    def __call__(self, masks):
        """v(S) for each row of `masks`, [B, players], true where a player is in. Returns [B].

        Masks are booleans, or numbers that are all 0 or 1. Others raise ValueError, and what is no number TypeError.
        Raises BudgetExceeded when the new ones among them are more than `left`; then none is evaluated.
        """
        masks = checked_masks("game: masks", masks, self.players)
        count = len(masks)
        reply, payload = self._ask({"type": "eval", "count": count}, bytes_of_masks(masks), "values")
        left = reply.get("left")
        if not isinstance(left, int):
            raise ProtocolError(f"frame: left={left!r} (is no whole number). Check the host.")
        self.left = left
        return numbers_of_bytes(payload, count)

    def gradients(self, nodes):
        """Gradients on the diagonal at each t of `nodes`, [T, players]. plugin.toml needs "gradients" for that."""
        nodes = np.atleast_1d(checked_numbers("game: nodes", nodes))
        _, payload = self._ask({"type": "grad", "count": len(nodes)}, bytes_of_numbers(nodes), "gradients")
        return numbers_of_bytes(payload, len(nodes) * self.players).reshape(len(nodes), self.players)

    def partial(self, values):
        """Tells the host what the values would be if the time were over now, [players]."""
        self.last_partial = checked_numbers("game: values", values, [self.players])
        self._pipes.write({"type": "partial", "id": self._id}, bytes_of_numbers(self.last_partial))

    def _ask(self, header, payload, wanted):
        self._pipes.write({**header, "id": self._id}, payload)
        while True:
            reply, answer = self._pipes.read()
            if reply is None:
                raise ProtocolError("frame: nothing (the host has closed its pipe in the middle of a task).")
            kind = reply.get("type")
            if reply.get("id") != self._id and kind == "stop":
                continue  # of a task before, whose result has crossed it
            if kind == "stop":
                raise StopRequested
            if kind == "error" and reply.get("code") == "budget":
                raise BudgetExceeded(reply.get("detail", ""))
            if kind != wanted or reply.get("id") != self._id:
                raise ProtocolError(f"frame: type={kind!r} ({wanted!r} is awaited): {reply.get('detail', '')}")
            return reply, answer


class Estimator:
    """A function (game, rng) -> values, or (values, standard_errors), that a host can ask. Made by @estimator."""

    def __init__(self, function, version="0.1"):
        self.function = function
        self.version = version

    def __call__(self, game, rng):
        return self.function(game, rng)

    def serve(self, pipes=None):
        """Answers tasks until the host says goodbye."""
        pipes = pipes or Pipes.of_environment()
        pipes.write({"type": "hello", "protocol": 1, "name": os.environ.get("OPSHAP_PEER_NAME", self.function.__name__),
                     "version": self.version, "caps": ["anytime", "batch"],
                     "needs": os.environ.get("OPSHAP_PEER_NEEDS", "values").split(",")})
        while True:
            header, _ = pipes.read()
            if header is None or header.get("type") == "bye":
                return
            if header.get("type") == "task":
                self._solve(header, pipes)
            elif header.get("type") != "stop":  # one that has crossed the result of its task
                raise ProtocolError(f"frame: type={header.get('type')!r} (a task is awaited): "
                                    f"{header.get('detail', '')}")

    def _solve(self, task, pipes):
        game = Game(task, pipes)
        try:
            found = self.function(game, np.random.default_rng(game.seed))
            values, errors = found if isinstance(found, tuple) else (found, None)
            header = {"type": "result", "id": task["id"]}
            payload = bytes_of_numbers(checked_numbers("game: values", values, [game.players]))
            if errors is not None:
                header["standard_errors"] = True
                payload += bytes_of_numbers(checked_numbers("game: standard errors", errors, [game.players]))
        except StopRequested:
            header = {"type": "fail", "id": task["id"], "reason": "stopped before the first partial values"}
            payload = b""
            if game.last_partial is not None:
                header = {"type": "result", "id": task["id"]}
                payload = bytes_of_numbers(game.last_partial)
        except (ProtocolError, MemoryError):
            raise
        except Refused as why:
            header = {"type": "fail", "id": task["id"], "reason": "; ".join(str(why).split("\n")), "refused": True}
            payload = b""
        except Exception as error:  # the estimator's own: this task fails, and the next one may not
            traceback.print_exc(file=sys.stderr)
            header = {"type": "fail", "id": task["id"], "reason": reason_of(error)}
            payload = b""
        pipes.write(header, payload)


def estimator(function=None, *, version="0.1"):
    """Makes an Estimator of a function (game, rng), where rng is a numpy.random.Generator made from the task's seed."""
    if function is None:
        return lambda decorated: Estimator(decorated, version)
    return Estimator(function, version)
