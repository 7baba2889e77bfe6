"""Trained operators as functions of arrays."""

import functools
import json
import os
import re
import shutil
import threading
import weakref

import numpy as np

from opshap_peer.frames import checked_integer, checked_numbers

from .attribution import OpshapError, attribution_of
from .games import joined, with_arrays
from .kept import Kept, folder_of_files, program_path
from .results import Comparison, Reference
from .words import words_of


def _in_turn(method):
    """What a call writes for opshap is read before another thread writes."""
    @functools.wraps(method)
    def in_turn(self, *arguments, **options):
        if os.getpid() != self._owner:  # a forked child writes files of its own
            self._own_files()
        with self._turn:
            return method(self, *arguments, **options)
    return in_turn


def load(path, *, device=None, threads=None, program=None, sandbox=False, trust=False, engine=True):
    """A trained operator of a file: weights that `opshap` reads (.safetensors), a TorchScript archive, or peer:FOLDER.

    device   "cpu" or "cuda:0"
    threads  of opshap
    program  the path of opshap. Else the environment variable OPSHAP, the search path, and the build of this tree
    sandbox  runs a program or an archive by bubblewrap
    trust    no note where a file is code
    engine   False evaluates coalitions by LibTorch, not by the engine

    A process of opshap is kept for the operator, with the model in it. Raises FileNotFoundError where there is no such
    file or no opshap, and OpshapError where opshap refuses the file.
    """
    return Operator(path, device, threads, program, sandbox, trust, engine)


class Operator:
    """A trained operator. Made by load().

    Inputs are arrays of any real type: [n] or [C, n], [nx, ny] or [C, nx, ny]. [B, C, n] or [B, C, nx, ny] are several,
    and so are [B, n] or [B, nx, ny] where the operator takes one channel and B is not 1.

    Threads may share one; they take turns. `facts` is the JSON of `opshap operator inspect`.
    """

    def __init__(self, path, device, threads, program, sandbox, trust, engine):
        name = os.fspath(path)
        self.path = name if name.startswith("peer:") else os.path.abspath(name)
        if not name.startswith("peer:") and not os.path.exists(self.path):
            raise FileNotFoundError(f"load: path={name} (is not there). Give a file of weights.")
        if name.startswith("peer:"):
            self.path = "peer:" + os.path.abspath(name[len("peer:"):])
        self._general = ["--quiet", *words_of("load", device=device, threads=threads, sandbox=sandbox, trust=trust,
                                              no_engine=not engine)]
        self._kept = Kept([program_path(program), "serve"])
        self._own_files()
        self.facts = {}
        if not name.startswith("peer:"):
            shown = [word for word in self._general if word.startswith(("--device", "--trust", "--quiet"))]
            self.facts = json.loads(self._kept.run(["--json", *shown, "operator", "inspect", self.path]))

    @property
    def in_channels(self):
        """Of the input; None where the file does not say."""
        return self.facts.get("in_channels")

    @property
    def out_channels(self):
        """Of the output; None where the file does not say."""
        return self.facts.get("out_channels")

    @property
    def dimension(self):
        """Axes of the grid; None where the file does not say."""
        return self.facts.get("dimension")

    def __repr__(self):
        channels = "" if self.in_channels is None else f", {self.in_channels} channels to {self.out_channels}"
        return f"Operator({self.facts.get('operator', self.path)}{channels})"

    @_in_turn
    def __call__(self, u):
        """The prediction: [n] or [C, n] of one input, [B, C, n] of several; two axes alike.

        The axis of one channel is left out where the input has left it out.
        """
        given = self._input("operator", u)
        out = os.path.join(self._files, "out.npy")
        general = [word for word in self._general if not word.startswith("--no-engine")]
        self._run([*general, f"--out={out}", "operator", "run", self.path, f"--input={self._file('u', given)}"])
        found = np.load(out)  # [B, C, ...]
        axes = found.ndim - 2
        if given.ndim == axes + 2:
            return found
        return found[0, 0] if given.ndim == axes and found.shape[1] == 1 else found[0]

    @_in_turn
    def attribute(self, u, query=None, target=None, method=None, budget=None, baseline=0, players=None,
                  partition=None, seed=42, **options):
        """Shapley values of the prediction at a query, for the points of the input or groups of them.

        query      an index of the grid, or one for each axis, or "all". For some points give targets: weights that are
                   1 at the point
        target     in place of a query: "mean:20..40", "mean:0.2..0.4@x", a file, an array of weights of the output's
                   shape, or a list of these
        method     a name of opshap.methods(); left out, opshap tries some until one is within `tolerance`, .05 of the
                   values: the answer's `steps`
        budget     the most distinct coalitions to evaluate, or a text as "8n"
        baseline   0, a number for each channel, "rest:gray_scott2d" (the state at rest of a problem), "blur" or
                   "blur:0.1" (the input smoothed), or an array of one input's shape
        players    how many contiguous groups; partition: the player of each point, integers; else every point
        options    of `opshap attribute`, with _ for -: explainer="E.safetensors", nodes=8, tolerance=0.02, masked_channels=[0]

        The attribution's values are [n]; [B, n] of several inputs, [K, n] of several queries or targets, [B, K, n] of
        both. Raises OpshapError where opshap refuses.
        """
        words = self._question("attribute", u, query, target, baseline, players, partition, options)
        words += words_of("attribute", method=method, budget=_number(budget), **options)
        batched = self._input("attribute", u).ndim == self._axes(u) + 2
        found = attribution_of(json.loads(self._run(["--json", *self._seeded(seed), "attribute", *words])))
        if found.targets is not None:
            found.targets[:] = [self._without_files(one) if isinstance(one, str) else one for one in found.targets]
        return found[0] if found.targets is not None and not batched else found

    @_in_turn
    def reference(self, u, query=None, target=None, *, relative_error=None, max_evaluations=None, baseline=0,
                  players=None, partition=None, seed=42, **options):
        """Shapley values to a wanted error, checked by two independent methods: the JSON of `opshap reference`.

        Its keys `values` and `standard_errors` are arrays. The arguments are those of attribute() and of the command.
        `reached` is False where the error was not reached, and `cross_check` says whether the two estimates agree.
        """
        words = self._question("reference", u, query, target, baseline, players, partition, options)
        words += words_of("reference", relative_error=relative_error, max_evaluations=_number(max_evaluations),
                          **options)
        return Reference(with_arrays(json.loads(
            self._run(["--json", *self._seeded(seed), "reference", *words], also=(1,)))))

    @_in_turn
    def compare(self, u, methods, budgets, query=None, target=None, *, repeats=None, baseline=0, players=None,
                partition=None, seed=42, **options):
        """Errors, costs and ranks of methods at equal budgets: the JSON of `opshap compare`.

        methods    a list of names, also "explainer:FILE", or "all"; budgets: a list of numbers, or of texts as "8n"
        The other arguments are those of attribute() and of the command.
        """
        words = self._question("compare", u, query, target, baseline, players, partition, options)
        words += words_of("compare", methods=joined(methods), budgets=joined(budgets), repeats=repeats, **options)
        return Comparison(json.loads(self._run(["--json", *self._seeded(seed), "compare", *words], also=(1,))))

    def _seeded(self, seed):
        return [*self._general, *words_of("operator", seed=checked_integer("operator: seed", seed, 0, 2**64 - 1))]

    def _run(self, words, also=()):
        try:
            return self._kept.run(words, also=also)
        except OpshapError as error:
            raise OpshapError(self._without_files(str(error)), error.code) from None

    def _without_files(self, text):
        """Names arrays, and not the files that they became."""
        text = re.sub(re.escape(self._files + os.sep) + r"target(\d+)\.npy", r"weights \1", text)
        return re.sub(re.escape(self._files + os.sep) + r"(\w+)\.npy", r"\1", text)

    def _input(self, who, u):
        given = checked_numbers(f"{who}: u", u)
        one = self.facts.get("in_channels") == 1 and given.ndim == self._axes(u) + 1 and given.shape[0] != 1
        return given[:, None] if one else given

    def _axes(self, u):
        """Axes of the grid of an input, by what the file says of its operator."""
        return int(self.facts.get("dimension") or (2 if np.ndim(u) == 4 else 1))

    def _question(self, who, u, query, target, baseline, players, partition, options):
        words = [f"--operator={self.path}", f"--input={self._file('u', self._input(who, u))}"]
        words += self._baseline(f"{who}: baseline", baseline)
        if partition is not None:
            labels = checked_numbers(f"{who}: partition", partition)
            if (labels != np.floor(labels)).any():
                raise ValueError(f"{who}: partition (has a label that is no whole number). Give integers.")
            words.append(f"--partition={self._file('partition', labels.astype(np.int64))}")
        if players is not None:
            words.append(f"--players={checked_integer(f'{who}: players', players, 1)}")
        if query is not None:
            words.append(f"--query={joined(query)}")
        if target is not None:
            several = target if isinstance(target, (list, tuple)) and any(
                isinstance(one, (str, os.PathLike, np.ndarray)) for one in target) else [target]
            for number, one in enumerate(several):
                text = os.fspath(one) if isinstance(one, (str, os.PathLike)) else self._file(
                    f"target{number}", checked_numbers(f"{who}: target", one))
                words.append(f"--target={text}")
        for name in ("masked_channels", "query_at"):
            if name in options:
                options[name] = joined(options[name])
        for name in ("explainer", "mesh"):
            if isinstance(options.get(name), (str, os.PathLike)):
                options[name] = os.path.abspath(options[name])
        return words

    def _baseline(self, who, given):
        if isinstance(given, str):
            return [f"--baseline={given}"]
        numbers = checked_numbers(who, given)
        if numbers.ndim == 0 and numbers == 0:
            return []
        if numbers.ndim == 0 or numbers.shape == (self.facts.get("in_channels"),):
            return [f"--baseline={joined(repr(float(number)) for number in numbers.ravel())}"]
        return [f"--baseline={self._file('baseline', numbers)}"]

    def _own_files(self):
        self._files, held = folder_of_files()
        self._owner, self._turn = os.getpid(), threading.RLock()
        weakref.finalize(self, _remove, self._files, self._owner, held)

    def _file(self, name, array):
        path = os.path.join(self._files, f"{name}.npy")
        np.save(path, array)
        return path


def _number(given):
    return given if given is None or isinstance(given, str) else checked_integer("operator: budget", given)


def _remove(folder, owner, held):
    held.close()
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
