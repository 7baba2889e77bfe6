"""Any method of opshap as a function: the game is a function of this process, which answers it itself."""

import contextlib
import dataclasses
import importlib
import json
import math
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from typing import Optional

import numpy as np

from .frames import MOST_PLAYERS, Pipes, ProtocolError, checked_integer
from .game import PeerGame

MOST_BARS = 100  # of a plot; more are a line


class OpshapError(RuntimeError):
    """opshap has refused or failed. Its message says why, and `code` is its exit code (2 usage, 4 environment, ...)."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __reduce__(self):  # so that it comes back from another process
        return OpshapError, (str(self), self.code)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """Shapley values of a game, and what they cost.

    method           the name of the method
    values           [n]
    standard_errors  [n], or None where the method has none
    empty, grand     v of no player, and of all players
    efficiency_gap   the sum of the values, less grand - empty
    distinct         different coalitions that were evaluated, the empty and the grand one among them
    evaluations      coalitions that were evaluated, repetitions included
    gradients        gradients that were evaluated
    exact            whether the values are exact by the method's nature, and no estimates
    seed             of the random numbers
    seconds          {"game": in the function, "estimator": in opshap}
    minimum_norm     {"rank", "needed_rank"} of a sample that did not determine the values, else None
    path             what computed the game
    repeated         coalitions that were asked again at the end to find out noise; no evaluations of the method
    noise            None, or {"coalition", "first", "second", "relative"} where the two values of one differ by more
                     than a millionth of the largest value. Then `exact` is False

    Two of them are equal where all but their times is equal. They hold arrays, so they are no keys of a dictionary.
    """

    method: str
    values: np.ndarray
    standard_errors: Optional[np.ndarray]
    empty: float
    grand: float
    efficiency_gap: float
    distinct: int
    evaluations: int
    gradients: int
    exact: bool
    seed: int
    seconds: dict
    minimum_norm: Optional[dict] = None
    path: str = ""
    repeated: int = 0
    noise: Optional[dict] = None

    def __eq__(self, other):
        if not isinstance(other, Attribution):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name))
                   for field in dataclasses.fields(self) if field.name != "seconds")

    __hash__ = None

    def __repr__(self):
        order = np.argsort(-np.abs(self.values), kind="stable")[:3]
        largest = ", ".join(f"{i}: {self._number(i)}" for i in order)
        rest = ", ..." if len(self.values) > 3 else ""
        return (f"Attribution({self.method}, {len(self.values)} players, {{{largest}{rest}}}, "
                f"{self.evaluations} evaluations)")

    def _number(self, player):
        value = f"{self.values[player]:.3g}"
        return value if self.standard_errors is None else f"{value} ± {self.standard_errors[player]:.2g}"

    @property
    def error_bar(self):
        """The size of the standard errors beside that of the values, |standard_errors| / |values| in the 2-norm.

        None where the method has no standard errors, and where the quotient is not defined: errors of values that are
        all zero. Where the errors are zero too it is 0.
        """
        if self.standard_errors is None:
            return None
        (error, of_errors), (size, of_values) = _norm(self.standard_errors), _norm(self.values)
        if error == 0:
            return 0.0
        bar = of_errors / of_values * (error / size) if size > 0 else math.nan
        return bar if math.isfinite(bar) else None

    def to_dict(self):
        """All of it as lists and numbers. xarray.DataArray.from_dict() takes this form, and json.dump() writes it."""
        players = list(range(len(self.values)))
        coordinates = {"player": {"dims": ["player"], "data": players}}
        if self.standard_errors is not None:
            coordinates["standard_error"] = {"dims": ["player"], "data": self.standard_errors.tolist()}
        rest = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)
                if field.name not in ("values", "standard_errors")}
        return {"name": "shapley_value", "dims": ["player"], "data": self.values.tolist(), "coords": coordinates,
                "attrs": rest}

    def plot(self, axes=None, names=None):
        """Draws the values by matplotlib, with their standard errors where there are some. Returns the axes.

        axes    of matplotlib; those of a new figure where they are left out
        names   of the players, [n]
        """
        pyplot = _package("matplotlib.pyplot")
        axes = pyplot.subplots()[1] if axes is None else axes
        players, errors = np.arange(len(self.values)), self.standard_errors
        if len(players) <= MOST_BARS:
            axes.bar(players, self.values, yerr=errors, capsize=0 if errors is None else 2)
        else:
            axes.plot(players, self.values, linewidth=1)
            if errors is not None:
                axes.fill_between(players, self.values - errors, self.values + errors, alpha=0.3, linewidth=0)
        axes.axhline(0, color="black", linewidth=0.8)
        if names is not None:
            axes.set_xticks(players, names)
        axes.set_xlabel("player")
        axes.set_ylabel("Shapley value" if errors is None else "Shapley value ± standard error")
        return axes

    def to_shap(self, data=None, feature_names=None):
        """A shap.Explanation, for the plots of shap: base value v(empty), `data` [n] for what the players show."""
        shap = _package("shap")
        return shap.Explanation(values=self.values.copy(), base_values=self.empty, data=data,
                                error_std=self.standard_errors, feature_names=feature_names)

    def to_shapiq(self):
        """A shapiq.InteractionValues of order 1, for the plots of shapiq."""
        shapiq = _package("shapiq")
        players = range(len(self.values))
        return shapiq.InteractionValues({(i,): float(self.values[i]) for i in players}, index="SV", max_order=1,
                                        min_order=1, n_players=len(players), baseline_value=self.empty,
                                        estimated=not self.exact, estimation_budget=self.distinct)


def attribute(game, n, method, budget=None, *, seed=0, gradients=None, max_batch=None, threads=None, program=None,
              minimum_norm=False, nodes=None, rule=None, progress=False):
    """Shapley values of a function of this process by a method of opshap.

        found = attribute(lambda masks: masks @ weights, 64, "permutation", 1024, seed=1)

    game          maps [B, n] booleans, true where a player is in, to [B] real numbers of any type; or a PeerGame, as
                  torch_game() makes it
    n             the number of players, 1 to 65536
    method        a name of `opshap list estimators`, or "peer:FOLDER"
    budget        the most distinct coalitions to evaluate, the empty and the grand one among them. Methods that sample
                  need one, and "exact" and "integrated_gradients" take none
    seed          0 to 2^64 - 1; another one gives other random numbers
    gradients     maps nodes [T] to [T, n], the gradients at (t, ..., t) of an extension to the unit cube. For
                  integrated_gradients
    max_batch     the most coalitions in one call of the game; 4096 where it is left out
    threads       of opshap. The game runs in the thread that calls this function
    program       the path of opshap. Else the environment variable OPSHAP, the search path, and the build of this tree
    minimum_norm  where the sample does not determine a regression, whether to give its minimum-norm solution instead of
                  refusing it
    nodes, rule   of the quadrature of integrated_gradients: a number, and "midpoint" or "gauss_legendre"
    progress      whether to show a bar of tqdm, which must be installed

    The cost beyond the game is a start of opshap and of a Python that imports next to nothing. An exception of the game
    or of its gradients comes out as the object that it is, and ends opshap. Raises OpshapError where opshap refuses,
    FileNotFoundError where there is no opshap, ImportError where there is no tqdm to show, and ValueError or TypeError
    for numbers that cannot be and for values that are no real numbers [B].
    """
    n = checked_integer("attribute: n", n, 1, MOST_PLAYERS)
    if not isinstance(game, PeerGame):
        game = PeerGame(_callable("game", game), n, None if gradients is None else _callable("gradients", gradients),
                        4096 if max_batch is None else checked_integer("attribute: max_batch", max_batch, 1))
    elif gradients is not None or max_batch is not None:
        name = "max_batch" if gradients is None else "gradients"
        raise ValueError(f"attribute: {name} (a PeerGame brings its own). Leave it out.")
    if game.players != n:
        raise ValueError(f"attribute: n={n} (the game has {game.players} players). Give its number.")
    if not isinstance(method, (str, os.PathLike)):
        raise TypeError(f"attribute: method={method!r} (is no name). Give one of `opshap list estimators`.")
    words = [_program(program), "--json", "--quiet",
             f"--seed={checked_integer('attribute: seed', seed, 0, 2**64 - 1)}"]
    if threads is not None:
        words.append(f"--threads={checked_integer('attribute: threads', threads, 1)}")
    words += ["attribute", f"--method={os.fspath(method)}"]
    if budget is not None:
        budget = checked_integer("attribute: budget", budget, most=2**63 - 1)
        words.append(f"--budget={budget}")
    if nodes is not None:
        words.append(f"--nodes={checked_integer('attribute: nodes', nodes, 1, 2**31 - 1)}")
    if rule is not None:
        words.append(f"--rule={rule}")
    if minimum_norm:
        words.append("--minimum-norm")
    with contextlib.ExitStack() as opened:
        if progress:
            bar = opened.enter_context(_package("tqdm.auto").tqdm(total=2**n if method == "exact" else budget,
                                                                  unit=" evaluations"))
            slopes = None if game.gradients is None else _counted(game.gradients, bar)
            game = PeerGame(_counted(game.function, bar), n, slopes, game.max_batch)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="opshap-"))
        _write_plugin(pathlib.Path(folder))
        return _attribution(json.loads(_answered(game, [*words, f"--game=peer:{folder}"], pathlib.Path(folder))))


def _same(one, other):
    """Whether two fields of results are equal: arrays by their entries, where both are some."""
    arrays = isinstance(one, np.ndarray) + isinstance(other, np.ndarray)
    return arrays != 1 and bool(np.array_equal(one, other, equal_nan=True) if arrays else one == other)


def _callable(name, function):
    if not callable(function):
        raise TypeError(f"attribute: {name}={type(function).__name__} (is no function). Give one of an array.")
    return function


def _counted(function, bar):
    """The function, whose rows the bar counts, but for the one that is asked again at the end."""
    done = 0

    def counted(rows):
        nonlocal done
        found = function(rows)
        fresh = len(rows) if bar.total is None else min(len(rows), bar.total - done)
        done += fresh
        bar.update(fresh)
        return found

    return counted


def _norm(numbers):
    """The 2-norm as (largest entry, norm beside it), so that no square is too large or too small for a float."""
    largest = float(np.abs(numbers).max(initial=0))
    return largest, float(np.linalg.norm(numbers / largest)) if largest > 0 else 0.0


def _program(program):
    build = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "opshap"
    wanted = program or os.environ.get("OPSHAP") or shutil.which("opshap") or build
    found = shutil.which(wanted)
    if found is None:
        raise FileNotFoundError(f"attribute: program={wanted} (is not there). Build opshap, and give its path as "
                                "program= or in the environment variable OPSHAP.")
    return os.path.abspath(found)


def _write_plugin(folder):
    command = [sys.executable, "-I", "-S", str(pathlib.Path(__file__).resolve().parent / "handover.py")]
    # The function may take as long as it likes: whoever waits for it can interrupt this process.
    text = f'name = "caller"\nrole = "game"\ncommand = {json.dumps(command)}\n[limits]\nseconds = 1e7\n'
    (folder / "plugin.toml").write_text(text, encoding="utf-8")


def _answered(game, words, folder):
    """Runs opshap and answers its questions. Returns what it printed."""
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(socket.socket(socket.AF_UNIX))
        here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        opened.callback(os.close, here)
        listener.bind(f"/proc/self/fd/{here}/caller")  # the folder's own path may be too long for a socket
        listener.listen(1)
        output = opened.enter_context(open(folder / "output", "w+", encoding="utf-8"))
        errors = opened.enter_context(open(folder / "errors", "w+", encoding="utf-8"))
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        opened.callback(_end, process)
        _serve(game, listener, process)
        code = process.wait()
        output.seek(0)
        errors.seek(0)
        if code != 0:
            raise OpshapError(errors.read().strip() or f"attribute: code={code} (opshap ended without a word).", code)
        return output.read()


def _serve(game, listener, process):
    """Answers until the program says goodbye or ends. An exception of the game comes out."""
    ended = os.pidfd_open(process.pid)
    try:
        waiting = select.poll()
        for number in (listener.fileno(), ended):
            waiting.register(number, select.POLLIN)
        ready = dict(waiting.poll())
    finally:
        os.close(ended)
    if listener.fileno() not in ready:
        return
    caller, _ = listener.accept()
    with caller:
        _, numbers, _, _ = socket.recv_fds(caller, 16, 2)
        if len(numbers) != 2:
            return  # the program was ended before it could hand them over
        for number in numbers:
            os.set_inheritable(number, False)
        source, sink = open(numbers[0], "rb"), open(numbers[1], "wb")
        try:
            game.serve(_PipesOfProgram(source, sink), name="caller", raises=True)
        finally:
            source.close()
            with contextlib.suppress(BrokenPipeError):  # what was not sent has no reader any more
                sink.close()


class _PipesOfProgram(Pipes):
    """Pipes to a program that may end in the middle of a frame, and then says itself why. That is a goodbye.

    Only failures of the pipes end here, so that those of the game cannot be taken for them.
    """

    def read(self):
        try:
            return super().read()
        except ProtocolError:
            return None, b""

    def write(self, header, payload=b""):
        with contextlib.suppress(ProtocolError):
            super().write(header, payload)


def _end(process):
    """Ends the program where it still runs, because an exception is on its way."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _attribution(found):
    errors = found["standard_errors"]
    found = {"path": "", "repeated": 0, "noise": None, **found, "values": np.array(found["values"], float),
             "standard_errors": None if errors is None else np.array(errors, float)}
    return Attribution(**{field.name: found[field.name] for field in dataclasses.fields(Attribution)})


def _package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"attribution: package={package} (is not there). Do pip install {package}.") from error
