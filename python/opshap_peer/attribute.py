"""Any method of opshap as a function: the game is a function of this process, which answers it itself."""

import contextlib
import dataclasses
import json
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

from .frames import Pipes, ProtocolError
from .game import PeerGame


class OpshapError(RuntimeError):
    """opshap has refused or failed. Its message says why, and `code` is its exit code (2 usage, 4 environment, ...)."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Shapley values of a game, and what they cost.

    method           the name of the method
    values           [n]
    standard_errors  [n], or None where the method has none
    empty, grand     v of no player, and of all players
    distinct         different coalitions that were evaluated, the empty and the grand one among them
    evaluations      coalitions that were evaluated, repetitions included
    gradients        gradients that were evaluated
    exact            whether the values are exact by the method's nature, and no estimates
    seed             of the random numbers
    seconds          {"game": in the function, "estimator": in opshap}
    """

    method: str
    values: np.ndarray
    standard_errors: Optional[np.ndarray]
    empty: float
    grand: float
    distinct: int
    evaluations: int
    gradients: int
    exact: bool
    seed: int
    seconds: dict

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


def attribute(game, n, method, budget=None, *, seed=0, gradients=None, max_batch=4096, threads=None, program=None):
    """Shapley values of a function of this process by a method of opshap.

        found = attribute(lambda masks: masks @ weights, 64, "permutation", 1024, seed=1)

    game       maps [B, n] booleans, true where a player is in, to [B] numbers; or a PeerGame, as torch_game() makes it
    n          the number of players
    method     a name of `opshap list estimators`, or "peer:FOLDER"
    budget     the most distinct coalitions to evaluate, the empty and the grand one among them. Methods that sample
               need one, and "exact" and "integrated_gradients" take none
    seed       another one gives other random numbers
    gradients  maps nodes [T] to [T, n], the gradients at (t, ..., t) of an extension to the unit cube. For
               integrated_gradients
    max_batch  the most coalitions in one call of the game
    threads    of opshap. The game runs in the thread that calls this function
    program    the path of opshap. Else the environment variable OPSHAP, the search path, and the build of this tree

    The cost beyond the game is a start of opshap and of a Python that imports next to nothing. An exception of the game
    comes out as it is, and ends opshap. Raises OpshapError where opshap refuses, FileNotFoundError where there is no
    opshap, ValueError where `n` is not that of the PeerGame.
    """
    if not isinstance(game, PeerGame):
        game = PeerGame(game, int(n), gradients, max_batch)
    if game.players != n:
        raise ValueError(f"attribute: n={n} (the game has {game.players} players). Give its number.")
    words = [_program(program), "--json", "--seed", str(int(seed))]
    if threads is not None:
        words += ["--threads", str(int(threads))]
    with tempfile.TemporaryDirectory(prefix="opshap-") as folder:
        _write_plugin(pathlib.Path(folder))
        words += ["attribute", "--game", f"peer:{folder}", "--method", method]
        if budget is not None:
            words += ["--budget", str(int(budget))]
        return _attribution(json.loads(_answered(game, words, pathlib.Path(folder))))


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
        with contextlib.suppress(BrokenPipeError, ProtocolError):  # the program has ended, and says why
            with open(numbers[0], "rb") as source, open(numbers[1], "wb") as sink:
                game.serve(Pipes(source, sink), name="caller", raises=True)


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
    return Attribution(
        method=found["method"], values=np.array(found["values"], float),
        standard_errors=None if errors is None else np.array(errors, float),
        **{key: found[key] for key in ("empty", "grand", "distinct", "evaluations", "gradients", "exact", "seed", "seconds")})


def _package(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise ImportError(f"attribution: package={name} (is not there). Do pip install {name}.") from error
