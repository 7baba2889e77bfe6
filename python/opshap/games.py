"""Functions of this process as games."""

import contextlib
import json
import os
import threading

import numpy as np

from opshap_peer.frames import MOST_PLAYERS, checked_integer, checked_numbers
from opshap_peer.game import PeerGame

from .attribution import Attribution, attribution_of, package
from .kept import Kept, program_path
from .results import Comparison, Reference
from .words import words_of

_kept = {}  # by the path of opshap
_making = threading.Lock()


def attribute(game, n, method=None, budget=None, *, seed=42, gradients=None, max_batch=None, threads=None,
              program=None, progress=False, **options):
    """Shapley values of a function of this process by a method of opshap.

        found = attribute(lambda masks: masks @ weights, 64, "permutation", 1024, seed=1)

    game       maps [B, n] booleans, true where a player is in, to [B] real numbers of any type; or to [B, K] for K
               games at once, whose values are [K, n]; or a PeerGame, as torch_game() makes it
    n          the number of players, 1 to 65536
    method     a name of `opshap list estimators`, or "peer:FOLDER"; left out, opshap chooses one: the answer's
               `steps`
    budget     the most distinct coalitions to evaluate, the empty and the grand one among them, or a text as "8n".
               Methods that sample need one; "exact" and "integrated_gradients" take none
    seed       0 to 2^64 - 1; another one gives other random numbers. 42 is that of the command, too
    gradients  maps nodes [T] to [T, n], the gradients at (t, ..., t) of an extension to the unit cube. For
               integrated_gradients
    max_batch  the most coalitions in one call of the game; 4096 where it is left out
    threads    of opshap. The game runs in the thread that calls this function
    program    the path of opshap. Else the environment variable OPSHAP, the search path, and the build of this tree
    progress   whether to show a bar of tqdm, which must be installed
    options    of `opshap attribute`, with _ for -: nodes=16, rule="midpoint", minimum_norm=True

    A process of opshap is kept from call to call. The cost beyond the game is about a millisecond for a small one. An
    exception of the game or of its gradients comes out as the object that it is, and the next call is right. Raises
    OpshapError where opshap refuses, FileNotFoundError where there is no opshap, ImportError where there is no tqdm to
    show, and ValueError or TypeError for numbers that cannot be and for values that are no real numbers.
    """
    columns = _Columns(_game("attribute", game, n, gradients, max_batch))
    if not isinstance(method, (str, os.PathLike, type(None))):
        raise TypeError(f"attribute: method={method!r} (is no name). Give one of `opshap list estimators`.")
    if options.get("nodes") is not None:
        options["nodes"] = checked_integer("attribute: nodes", options["nodes"], 1, 2**31 - 1)
    threads = None if threads is None else checked_integer("attribute: threads", threads, 1)
    if budget is not None and not isinstance(budget, str):
        budget = checked_integer("attribute: budget", budget, most=2**63 - 1)
    words = ["attribute", "--game=caller", *words_of("attribute", method=method, budget=budget, **options)]
    general = words_of("attribute", seed=checked_integer("attribute: seed", seed, 0, 2**64 - 1), threads=threads)
    words = ["--json", "--quiet", *general, *words]
    with contextlib.ExitStack() as opened:
        if progress:
            total = 2**columns.players if method == "exact" else budget if isinstance(budget, int) else None
            columns.bar = opened.enter_context(package("tqdm.auto").tqdm(total=total, unit=" evaluations"))
        return columns.attributions(lambda one: attribution_of(json.loads(_games(program).run(words, one))))


def methods(program=None):
    """What opshap can attribute with: a list of {"name", "summary", "access", "bias", ...} as `opshap list estimators`
    has it. `access` says what a method sees: values of coalitions, or gradients.
    """
    return json.loads(_games(program).run(["--json", "list", "estimators"]))["entries"]


def reference(game, n, *, relative_error=None, max_evaluations=None, seed=42, gradients=None, max_batch=None,
              threads=None, program=None, **options):
    """Shapley values with an error that two independent estimates vouch for: the JSON of `opshap reference`, a Reference.

    Its keys `values` and `standard_errors` are arrays. The arguments are those of attribute() and of the command, with
    _ for -. `reached` is False where the error was not reached, and `cross_check` says whether the two estimates agree.
    Raises as attribute().
    """
    game = _game("reference", game, n, gradients, max_batch)
    general = words_of("reference", seed=checked_integer("reference: seed", seed, 0, 2**64 - 1), threads=threads)
    words = words_of("reference", relative_error=relative_error, max_evaluations=max_evaluations, **options)
    found = json.loads(_games(program).run(["--json", "--quiet", *general, "reference", "--game=caller", *words], game,
                                           also=(1,)))
    return Reference(with_arrays(found))


def compare(game, n, methods, budgets, *, repeats=None, seed=42, gradients=None, max_batch=None, threads=None,
            program=None, **options):
    """Errors, costs and ranks of methods at equal budgets: the JSON of `opshap compare`, a Comparison.

    methods   a list of names, or "all"; budgets: a list of numbers, or of texts as "8n"
    The other arguments are those of attribute() and of the command, with _ for -. Raises as attribute().
    """
    game = _game("compare", game, n, gradients, max_batch)
    general = words_of("compare", seed=checked_integer("compare: seed", seed, 0, 2**64 - 1), threads=threads)
    words = words_of("compare", methods=joined(methods), budgets=joined(budgets), repeats=repeats, **options)
    return Comparison(json.loads(_games(program).run(["--json", "--quiet", *general, "compare", "--game=caller", *words],
                                                     game, also=(1,))))


def joined(given):
    """A list as the command line has it."""
    return given if isinstance(given, str) or not np.iterable(given) else ",".join(map(str, given))


def with_arrays(found):
    """The object with its values and standard errors as arrays."""
    return {**found, **{key: None if found[key] is None else np.array(found[key], float)
                        for key in ("values", "standard_errors")}}


def _games(program):
    path = program_path(program)
    with _making:
        if path not in _kept:
            _kept[path] = Kept([path, "serve"])
        return _kept[path]


def _game(who, game, n, gradients, max_batch):
    n = checked_integer(f"{who}: n", n, 1, MOST_PLAYERS)
    if not isinstance(game, PeerGame):
        for name, function in (("game", game), ("gradients", gradients)):
            if not callable(function) and not (name == "gradients" and function is None):
                raise TypeError(f"{who}: {name}={type(function).__name__} (is no function). Give one of an array.")
        return PeerGame(game, n, gradients,
                        4096 if max_batch is None else checked_integer(f"{who}: max_batch", max_batch, 1))
    if gradients is not None or max_batch is not None:
        name = "max_batch" if gradients is None else "gradients"
        raise ValueError(f"{who}: {name} (a PeerGame brings its own). Leave it out.")
    if game.players != n:
        raise ValueError(f"{who}: n={n} (the game has {game.players} players). Give its number.")
    return game


class _Columns:
    """A game whose function may give several numbers for each coalition: several games of the same coalitions.

    The games are explained one after the other. What the function gave for a coalition of the first game is kept, so
    that a method which asks all games for the same coalitions costs one evaluation each.
    """

    def __init__(self, game):
        self.game = game
        self.players = game.players
        self.bar = None
        self._count = None  # columns; None until the function has answered
        self._column = 0
        self._known = {}    # rows of masks -> numbers
        self._done = 0

    def attributions(self, run):
        """The attribution of the one column, or of all of them, by run(game)."""
        one = PeerGame(self._values, self.players, self.game.gradients and self._gradients, self.game.max_batch)
        found = [run(one)]
        for self._column in range(1, self._count or 1):
            found.append(run(one))
        return found[0] if self._count in (None, 1) else _stacked(found)

    def _values(self, masks):
        if self._column > 0:
            keys = [row.tobytes() for row in np.packbits(masks, axis=1)]
            fresh = [i for i, key in enumerate(keys) if key not in self._known]
            if fresh:
                for i, numbers in zip(fresh, self._asked(masks[fresh])):
                    self._known[keys[i]] = numbers
            return np.array([self._known[key][self._column] for key in keys])
        found = self._asked(masks)
        if self._count == 1:
            return found
        for row, numbers in zip(np.packbits(masks, axis=1), found):
            self._known[row.tobytes()] = numbers
        return found[:, 0]

    def _asked(self, masks):
        found = self.game.function(masks)
        self._show(len(masks))
        if self._count is None:
            self._count = _columns_of(found, len(masks))
        if self._count == 1:
            return found  # its shape and type are checked by who asked
        return checked_numbers("game: values", found, [len(masks), self._count])

    def _gradients(self, nodes):
        found = self.game.gradients(nodes)
        self._show(len(nodes))
        return found

    def _show(self, rows):
        if self.bar is None:
            return
        fresh = rows if self.bar.total is None else min(rows, self.bar.total - self._done)
        self._done += fresh
        self.bar.update(fresh)


def _columns_of(found, rows):
    """K of an answer [rows, K] with K above 1; 1 of any other."""
    if isinstance(found, (list, tuple)) and len(found) == rows and rows > 0:
        kinds = (list, tuple, np.ndarray)
        return len(found[0]) if isinstance(found[0], kinds) and np.ndim(found[0]) == 1 and len(found[0]) > 1 else 1
    shape = getattr(found, "shape", ())
    return shape[1] if len(shape) == 2 and shape[0] == rows and shape[1] > 1 else 1


def _stacked(found):
    """Attributions of K games as one, [K, n]."""
    names = ("values", "empty", "grand", "efficiency_gap", "distinct", "evaluations", "gradients", "exact")
    parts = {name: np.array([getattr(one, name) for one in found]) for name in names}
    errors = [one.standard_errors for one in found]
    parts["standard_errors"] = None if any(error is None for error in errors) else np.array(errors)
    first = found[0]
    return Attribution(**parts, method=first.method, seed=first.seed, path=first.path, repeated=first.repeated,
                       method_chosen=first.method_chosen, minimum_norm=first.minimum_norm,
                       noise=next((one.noise for one in found if one.noise), None),
                       seconds={key: sum(one.seconds[key] for one in found) for key in first.seconds})
