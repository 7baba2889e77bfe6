"""RegressionMSR taken apart: rows, model, predictions, the model's own Shapley values, and the correction."""

import json

import numpy as np
import shapiq
import xgboost
from shapiq.tree.interventional.computer import InterventionalTreeSHAPIQ

from fixture import all_coalitions, close
from games import from_table, smooth_table
from oracles import shapley_values
from shapiq_rows import first_order, rows_of
from xgboost_json import base_score, predictions, read_out, tree_table

about = ("shapiq.RegressionMSR (one fold). `tree`: XGBoost with tree_method=hist, 12 rounds, depth 4, one thread, on v(S) - v(∅) of all rows with ∅ and N; sizes ∝ 1/√(s(n-s)), paired. "
         "`predictions` are of the rows, `empty_prediction` and `grand_prediction` of ∅ and N, float32; `proxy` the Shapley values of the model, `correction` what the "
         "residuals add, `shapiq` the sum. `linear`: least squares with intercept, sizes uniform. `weights` are relative to the Shapley kernel. The proxy's values are re-derived "
         "from the model's JSON leaf by leaf (and for n <= 8 from its predictions on all coalitions), the correction by formula.")
packages = ["shapiq", "numpy", "scipy", "scikit-learn", "xgboost-cpu"]


def game_of(players):
    if players <= 12:
        return from_table(smooth_table(players))
    rng = np.random.default_rng(players)
    a, b = rng.integers(-16, 64, players) / (64 * players), rng.integers(-64, 64, players) / 128

    def game(coalitions):
        rows = np.atleast_2d(coalitions).astype(float)
        return (1 + rows @ a) ** 3 - 0.5 * (rows @ b) ** 2 + 1.25

    return game


def correction(matrix, rows, predicted, at_empty, at_grand):
    """(r(N) - r(∅))/n + n Σ w (r(S) - r(∅)) (1[i in S] - s/n) with residuals r."""
    players = matrix.shape[1]
    residuals = rows["values"] - rows["empty"] - (predicted - at_empty)
    centred = matrix - matrix.mean(axis=1, keepdims=True)
    return (rows["grand"] - rows["empty"] - (at_grand - at_empty)) / players + players * (rows["weights"] * residuals) @ centred


def tree_case(players, budget):
    game = game_of(players)
    proxy = xgboost.XGBRegressor(n_estimators=12, max_depth=4, tree_method="hist", n_jobs=1)
    approximator = shapiq.RegressionMSR(players, index="SV", proxy_model=proxy, random_state=players)
    values = first_order(approximator.approximate(budget=budget, game=game), players)
    rows, matrix = rows_of(approximator._sampler, game)
    json_model = json.loads(bytes(proxy.get_booster().save_raw("json")))
    explainer = InterventionalTreeSHAPIQ(proxy, data=np.zeros((1, players)), index="SV", max_order=1)
    own = first_order(explainer.explain_function(np.ones((1, players))), players)
    close(own, read_out(json_model, players), 1e-5, "regression_msr proxy", players)
    if players <= 8:
        close(predictions(json_model, all_coalitions(players)), tree_table(json_model, players) + base_score(json_model), 1e-5, "regression_msr predictions")
        close(own, shapley_values(tree_table(json_model, players)), 1e-5, "regression_msr brute force")
    ends = proxy.predict(np.vstack([np.zeros(players), np.ones(players)])).astype(float)
    predicted = proxy.predict(matrix).astype(float)
    added = correction(matrix, rows, predicted, *ends)
    close(values, own + added, 1e-5, "regression_msr", players, budget)
    return {"proxy_model": "tree", "players": players, "budget": budget, **rows, "predictions": predicted, "empty_prediction": ends[0], "grand_prediction": ends[1],
            "proxy": own, "correction": added, "shapiq": values, "model": json_model}


def linear_case(players, budget):
    game = game_of(players)
    approximator = shapiq.RegressionMSR(players, index="SV", proxy_model="linear", random_state=players)
    values = first_order(approximator.approximate(budget=budget, game=game), players)
    rows, matrix = rows_of(approximator._sampler, game)
    design = np.column_stack([np.vstack([matrix, np.zeros(players), np.ones(players)]).astype(float), np.ones(len(matrix) + 2)])
    targets = np.append(rows["values"], [rows["empty"], rows["grand"]]) - rows["empty"]
    solution = np.linalg.lstsq(design, targets, rcond=None)[0]
    slopes = solution[:-1]
    close(slopes, approximator.proxy_model.coef_, 1e-10, "regression_msr linear fit")
    added = correction(matrix, rows, matrix @ slopes, 0.0, slopes.sum())
    close(values, slopes + added, 1e-10, "regression_msr linear", players, budget)
    if budget >= 1 << players:
        close(values, shapley_values(smooth_table(players)), 1e-10, "regression_msr linear, full")
    return {"proxy_model": "linear", "players": players, "budget": budget, **rows, "proxy": slopes, "correction": added, "shapiq": values}


def cases():
    for players, budget in ((5, 32), (8, 64), (12, 64), (12, 256), (32, 256)):
        yield tree_case(players, budget)
    for players, budget in ((5, 32), (8, 64), (12, 128)):
        yield linear_case(players, budget)
