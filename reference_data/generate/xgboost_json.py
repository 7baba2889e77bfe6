"""Regression trees as XGBoost writes them: models made by hand, and what any model predicts and attributes."""

import json
import struct
from math import comb

import numpy as np
import xgboost

from fixture import all_coalitions

NONE = 2147483647


def model(players, trees):
    """XGBoost's JSON for trees given as numbers (leaves) and tuples (feature, threshold, left, right): below the threshold goes left."""
    return {
        "learner": {
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
            "gradient_booster": {
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
                    "iteration_indptr": list(range(len(trees) + 1)),
                    "tree_info": [0] * len(trees),
                    "trees": [tree_json(index, players, tree) for index, tree in enumerate(trees)],
                },
                "name": "gbtree",
            },
            "learner_model_param": {"base_score": "0E0", "boost_from_average": "1", "num_class": "0", "num_feature": str(players), "num_target": "1"},
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        },
        "version": [1, 7, 4],
    }


def tree_json(index, players, tree):
    nodes = []  # feature, value, left, right, parent

    def add(node, parent):
        place = len(nodes)
        if isinstance(node, tuple):
            feature, threshold, left, right = node
            nodes.append([feature, threshold, 0, 0, parent])
            nodes[place][2] = add(left, place)
            nodes[place][3] = add(right, place)
        else:
            nodes.append([0, node, -1, -1, parent])
        return place

    add(tree, NONE)
    count = len(nodes)
    features, values, left, right, parents = (list(column) for column in zip(*nodes))
    return {
        "base_weights": [0.0 if l != -1 else v for v, l in zip(values, left)],
        "categories": [], "categories_nodes": [], "categories_segments": [], "categories_sizes": [],
        "default_left": [0] * count,
        "id": index,
        "left_children": left,
        "loss_changes": [0.0] * count,
        "parents": parents,
        "right_children": right,
        "split_conditions": values,
        "split_indices": features,
        "split_type": [0] * count,
        "sum_hessian": [1.0] * count,
        "tree_param": {"num_deleted": "0", "num_feature": str(players), "num_nodes": str(count), "size_leaf_vector": "0"},
    }


def loaded(json_model):
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(json_model).encode()))
    return booster


def predictions(json_model, rows):
    """By XGBoost itself, float32."""
    return loaded(json_model).predict(xgboost.DMatrix(np.asarray(rows, np.float32)), output_margin=True)


def base_score(json_model):
    return float(json_model["learner"]["learner_model_param"]["base_score"].strip("[]"))


def trees_of(json_model):
    return json_model["learner"]["gradient_booster"]["model"]["trees"]


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def tree_table(json_model, players):
    """Sum of the trees on all coalitions, by walking down: a feature is 1 for players in the coalition. Without the base score, in double precision."""
    table = np.zeros(1 << players)
    for coalition, row in enumerate(all_coalitions(players)):
        for tree in trees_of(json_model):
            node = 0
            while tree["left_children"][node] != -1:
                below = float(row[tree["split_indices"][node]]) < float32(tree["split_conditions"][node])
                node = tree["left_children" if below else "right_children"][node]
            table[coalition] += float32(tree["split_conditions"][node])
    return table


def read_out(json_model, players):
    """Shapley values of the sum of the trees: a leaf of value c that needs e players in and r out gives c/(e C(e+r, e)) to the former and -c/(r C(e+r, e)) to the latter."""
    values = np.zeros(players)
    for tree in trees_of(json_model):
        paths = [(0, frozenset(), frozenset())]
        while paths:
            node, inside, outside = paths.pop()
            left, right, feature = (tree[key][node] for key in ("left_children", "right_children", "split_indices"))
            if left == -1:
                if not inside & outside:
                    e, r = len(inside), len(outside)
                    c = float32(tree["split_conditions"][node])
                    values[list(inside)] += c / (e * comb(e + r, e)) if e else 0
                    values[list(outside)] -= c / (r * comb(e + r, e)) if r else 0
                continue
            paths.append((left, inside, outside | {feature}))
            paths.append((right, inside | {feature}, outside))
    return values
