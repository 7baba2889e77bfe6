"""Tree models in XGBoost's JSON with the Shapley and Banzhaf values of what they predict on 0/1 inputs."""

import json

import numpy as np
import xgboost
from shapiq.tree.interventional.computer import InterventionalTreeSHAPIQ

from fixture import all_coalitions, close, require
from games import smooth_table
from oracles import banzhaf_values, shapley_values
from shapiq_rows import first_order
from xgboost_json import model, predictions, read_out, tree_table, base_score

about = ("Models by hand (depth 0 to 6; features repeated on a path; leaves that need only players in, or only players out; unreachable leaves; several trees), loaded by XGBoost to "
         "confirm that it predicts the same, and one model trained with tree_method=exact. `values` are predictions without the base score, index bit i = player i; `shapiq` is "
         "InterventionalTreeSHAPIQ's read-out with the empty coalition as reference and the grand coalition as explicand, null where it is not the Shapley value.")
packages = ["shapiq", "numpy", "xgboost-cpu"]


def chain(depth, right_first):
    """Asks for a new feature at each step; ends at the first answer of one kind."""
    tree = 1.5
    for feature in reversed(range(depth)):
        leaf = (feature + 1) / 8
        tree = (feature, 0.5, leaf, tree) if right_first else (feature, 0.5, tree, leaf)
    return tree


def full(depth, feature=0, value=1.0):
    if depth == 0:
        return value
    return (feature, 0.5, full(depth - 1, feature + 1, -value / 2), full(depth - 1, feature + 1, value + 0.25))


BY_HAND = {
    "a leaf alone": (3, [0.75]),
    "one split": (2, [(1, 0.5, -0.25, 1.5)]),
    "threshold 1": (2, [(0, 1.0, 0.5, 2.0)]),
    "only players in": (4, [chain(4, True)]),
    "only players out": (4, [chain(4, False)]),
    "repeated feature": (3, [(0, 0.5, (1, 0.5, (0, 0.5, 1.0, 64.0), 2.0), (0, 1.0, -64.0, (2, 0.5, (1, 0.5, 0.5, (2, 0.5, 3.0, 64.0)), -1.25)))]),
    "depth 6": (7, [full(6)]),
    "depth 6, unused player": (8, [(7, 0.5, full(5), (6, 0.5, 0.125, -3.0))]),
    "three trees": (5, [full(3), 0.5, (4, 0.5, (0, 0.5, 1.0, -1.0), (2, 0.25, 0.5, chain(2, True)))]),
}


def case(name, players, json_model, marked=False):
    values = tree_table(json_model, players)
    close(predictions(json_model, all_coalitions(players)) - base_score(json_model), values, 1e-6, "trees", name)
    expected = shapley_values(values)
    close(read_out(json_model, players), expected, 1e-12, "trees", name)
    booster = xgboost.XGBRegressor()
    booster.load_model(bytearray(json.dumps(json_model).encode()))
    explainer = InterventionalTreeSHAPIQ(booster, data=np.zeros((1, players)), index="SV", max_order=1)
    by_shapiq = first_order(explainer.explain_function(np.ones((1, players))), players)
    wrong = np.max(np.abs(by_shapiq - expected)) > 1e-5 * np.max(np.abs(values))
    require(marked or not wrong, "trees", name, "shapiq differs:", by_shapiq, expected)
    return {"name": name, "players": players, "values": values, "shapley_values": expected, "banzhaf_values": banzhaf_values(values), "shapiq": None if wrong else by_shapiq,
            "model": json_model}


def cases():
    for name, (players, trees) in BY_HAND.items():
        yield case(name, players, model(players, trees))
    players = 6
    regressor = xgboost.XGBRegressor(n_estimators=6, max_depth=4, tree_method="exact", n_jobs=1, base_score=0.0, gamma=0.01)
    regressor.fit(all_coalitions(players).astype(float), smooth_table(players))
    trained = json.loads(bytes(regressor.get_booster().save_raw("json")))
    leaves = [(tree["base_weights"][i], tree["split_conditions"][i]) for tree in trained["learner"]["gradient_booster"]["model"]["trees"]
              for i, left in enumerate(tree["left_children"]) if left == -1]
    differ = sum(abs(a - b) > 1e-6 for a, b in leaves)
    yield {**case("tree_method=exact", players, trained, True), "leaves": len(leaves), "base_weights_that_are_not_the_leaf": differ}
