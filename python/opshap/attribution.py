"""What opshap answers with."""

import dataclasses
import importlib
import math
from typing import Optional

import numpy as np

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
    """Shapley values of a game, or of several games that differ in their input or in what is explained.

    method           the name of the method; of several games the names of all that have answered, with commas
    values           [n]; [B, n], [K, n] or [B, K, n] of B inputs and K queries or targets
    standard_errors  as values, or None where the method has none
    empty, grand     v of no player, and of all players; arrays [B], [K] or [B, K] of several games, like all numbers
                     below but seed
    efficiency_gap   the sum of the values, less grand - empty
    distinct         different coalitions that were evaluated, the empty and the grand one among them
    evaluations      coalitions that were evaluated, repetitions included
    gradients        gradients that were evaluated
    exact            whether the values are exact by the method's nature, and no estimates
    seed             of the random numbers
    seconds          {"game": in the function, "estimator": in opshap}
    minimum_norm     {"rank", "needed_rank"} of a sample that did not determine the values, else None
    path             what computed the game
    targets          what is explained, where there are several: numbers of points, or texts
    method_chosen    whether opshap chose the method, because none was named
    steps            the methods that were tried, as {"method", "error_bar", "seconds", "forward_equivalents"}: where one
                     was chosen, or knows how far off it is. The last one has answered. Of several games all steps of a
                     method are one, with "measured" (how many error bars) and "answers"; else None
    told_error_bar   what the steps say of the error; of several games with NaN where they do not know it; else None
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
    targets: Optional[list] = None
    method_chosen: bool = False
    steps: Optional[list] = None
    told_error_bar: object = None
    repeated: int = 0
    noise: Optional[dict] = None

    def __eq__(self, other):
        if not isinstance(other, Attribution):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name))
                   for field in dataclasses.fields(self) if field.name not in ("seconds", "steps"))

    __hash__ = None

    def __repr__(self):
        if self.values.ndim > 1:
            return (f"Attribution({self.method}, {' x '.join(map(str, self.values.shape[:-1]))} games of "
                    f"{self.values.shape[-1]} players, {np.sum(self.evaluations)} evaluations)")
        order = np.argsort(-np.abs(self.values), kind="stable")[:3]
        largest = ", ".join(f"{i}: {self._number(i)}" for i in order)
        rest = ", ..." if len(self.values) > 3 else ""
        chosen = " (chosen)" if self.method_chosen else ""
        known = ", noisy" if self.noise else self._error_in_words()
        return (f"Attribution({self.method}{chosen}, {len(self.values)} players, {{{largest}{rest}}}{known}, "
                f"{self.evaluations} evaluations)")

    def _error_in_words(self):
        if self.exact or self.standard_errors is not None:
            return ""
        return ", error not known" if self.error_bar is None else f", relative error about {self.error_bar:.2g}"

    def _number(self, player):
        value = f"{self.values[player]:.3g}"
        return value if self.standard_errors is None else f"{value} ± {self.standard_errors[player]:.2g}"

    def _one(self, who):
        if self.values.ndim != 1:
            raise ValueError(f"{who}: values={self.values.shape} (are of several games). Take one: attribution[i].")

    def __getitem__(self, index):
        """The attribution of one of several games."""
        if self.values.ndim == 1:
            raise IndexError("attribution: index (there is one game). Its values are .values.")

        def part(name):
            found = getattr(self, name)
            return found[index] if isinstance(found, np.ndarray) else found

        parts = {field.name: part(field.name) for field in dataclasses.fields(self)}
        scalars = {name: found.item() for name, found in parts.items()
                   if isinstance(found, np.generic) and name not in ("values", "standard_errors")}
        return Attribution(**{**parts, **scalars})

    @property
    def error_bar(self):
        """The size of the error beside that of the values, in the 2-norm, as far as it is known.

        What the steps say, an array of several games, where there are some. Else |standard_errors| / |values|. 0 where
        the method is exact. None where nothing tells, and where the quotient is not defined: errors of values that are
        all zero. Where the errors are zero too it is 0.
        """
        told = self.told_error_bar
        if told is not None:
            return None if np.ndim(told) == 0 and math.isnan(told) else told
        if self.standard_errors is None:
            return 0.0 if np.all(self.exact) else None
        (error, of_errors), (size, of_values) = _norm(self.standard_errors), _norm(self.values)
        if error == 0:
            return 0.0
        bar = of_errors / of_values * (error / size) if size > 0 else math.nan
        return bar if math.isfinite(bar) else None

    def to_dict(self):
        """All of it as lists and numbers. xarray.DataArray.from_dict() takes this form, and json.dump() writes it."""
        dims = [*([] if self.values.ndim < 2 else ["game"] if self.values.ndim == 2 else ["input", "target"]), "player"]
        coordinates = {"player": {"dims": ["player"], "data": list(range(self.values.shape[-1]))}}
        if self.standard_errors is not None:
            coordinates["standard_error"] = {"dims": dims, "data": self.standard_errors.tolist()}
        rest = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)
                if field.name not in ("values", "standard_errors")}
        rest = {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in rest.items()}
        return {"name": "shapley_value", "dims": dims, "data": self.values.tolist(), "coords": coordinates,
                "attrs": rest}

    def plot(self, axes=None, names=None):
        """Draws the values of one game by matplotlib, with their standard errors where there are some.

        Returns the axes.


        axes    of matplotlib; those of a new figure where they are left out
        names   of the players, [n]
        """
        self._one("plot")
        pyplot = package("matplotlib.pyplot")
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
        shap = package("shap")
        return shap.Explanation(values=self.values.copy(), base_values=self.empty, data=data,
                                error_std=self.standard_errors, feature_names=feature_names)

    def to_shapiq(self):
        """A shapiq.InteractionValues of order 1, for the plots of shapiq."""
        self._one("to_shapiq")
        shapiq = package("shapiq")
        players = range(len(self.values))
        return shapiq.InteractionValues({(i,): float(self.values[i]) for i in players}, index="SV", max_order=1,
                                        min_order=1, n_players=len(players), baseline_value=self.empty,
                                        estimated=not self.exact, estimation_budget=self.distinct)


def attribution_of(found):
    """An Attribution of the JSON object that opshap has printed."""
    targets = found.get("targets", found.get("queries"))
    several = isinstance(found["empty"], list)
    numbers = {}
    for field in dataclasses.fields(Attribution):
        if field.name not in found:
            continue
        part = found[field.name]
        if field.name == "values" or (several and field.name in ("empty", "grand", "efficiency_gap", "distinct",
                                                                 "evaluations", "gradients", "exact")):
            part = np.array(part)
        elif field.name == "standard_errors":
            part = None if _none_in(part) else np.array(part, float)
        numbers[field.name] = part
    if several:  # a batch of one game each has its reasons game by game, and none is asked for here
        numbers["minimum_norm"] = None if _all_none(found.get("minimum_norm")) else found["minimum_norm"]
    numbers["values"] = np.asarray(numbers["values"], float)
    numbers["targets"] = targets if targets is not None and len(targets) > 1 else None
    numbers["method_chosen"] = found.get("chosen", False)
    if "steps" in found:
        numbers["told_error_bar"] = np.array(found["error_bar"], float) if several else found["error_bar"]
    return Attribution(**numbers)


def package(name):
    """The module. Raises ImportError with what installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        wanted = name.partition(".")[0]
        raise ImportError(f"attribution: package={wanted} (is not there). Do pip install {wanted}.") from error


def _none_in(part):
    return part is None or (isinstance(part, list) and any(map(_none_in, part)))


def _all_none(part):
    return part is None or (isinstance(part, list) and all(map(_all_none, part)))


def _same(one, other):
    """Whether two fields of results are equal: arrays by their entries, where both are some."""
    arrays = isinstance(one, np.ndarray) + isinstance(other, np.ndarray)
    return arrays != 1 and bool(np.array_equal(one, other, equal_nan=True) if arrays else one == other)


def _norm(numbers):
    """The 2-norm as (largest entry, norm beside it), so that no square is too large or too small for a float."""
    largest = float(np.abs(numbers).max(initial=0))
    return largest, float(np.linalg.norm(numbers / largest)) if largest > 0 else 0.0
