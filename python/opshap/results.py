"""References and comparisons: the JSON of opshap, which prints as a person reads it."""

import statistics


class Reference(dict):
    """The JSON of `opshap reference`: values [n], standard_errors [n], relative_error, reached, method, cross_check,
    estimates, witness.
    """

    def __repr__(self):
        error = "exact" if self["relative_error"] == 0 else f"known to {_percent(self['relative_error'])}"
        reached = "" if self.get("reached", True) else ", which is less than was asked for"
        return f"Reference({self.get('method', 'reference')}, {len(self['values'])} players, {error}{reached})"


class Comparison(dict):
    """The JSON of `opshap compare`: rows (a run each), ranks, not_ranked, truth, and what was exact or refused.

    print() shows medians().
    """

    def medians(self):
        """The median NRMSE of each method at each of its budgets: {method: {budget: NRMSE, or None where it has none}}.

        The budget of a method that takes none is None.
        """
        found = {}
        for row in self["rows"]:
            value = row["nrmse"] if isinstance(row["nrmse"], (int, float)) else None
            found.setdefault(row["method"], {}).setdefault(row.get("budget"), []).append(value)
        return {method: {budget: statistics.median(values) if None not in values else None
                         for budget, values in budgets.items()} for method, budgets in found.items()}

    def __repr__(self):
        medians = self.medians()
        budgets = sorted({budget for found in medians.values() for budget in found if budget is not None})
        width = max(len(method) for method in ["method", *medians])
        lines = ["Median NRMSE at equal budgets:",
                 " ".join([f"{'method':{width}}", *(f"{budget:>10}" for budget in budgets), f"{'no budget':>10}"])]
        for method, found in medians.items():
            cells = [_short(found.get(budget), budget in found) for budget in [*budgets, None]]
            lines.append(" ".join([f"{method:{width}}", *(f"{cell:>10}" for cell in cells)]))
        error = self["truth"].get("error")
        lines.append(f"The truth is known to {_percent(error)}." if error else "The truth is exact.")
        return "\n".join(lines)

    __str__ = __repr__


def _short(value, is_there):
    return "-" if not is_there else "none" if value is None else f"{value:.3g}"


def _percent(error):
    return "an unknown error" if not isinstance(error, (int, float)) else f"{100 * error:.2g} %"
