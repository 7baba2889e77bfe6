#!/usr/bin/env python3
"""The flows of reference_data/meshgraphnets/cylinder_flow as repackagings keep them: writes the folders beside it. Needs numpy and h5py.

The TFRecord files are read here by a reader of their own, so that tests compare two readers.
"""
import json
import pathlib
import shutil
import struct

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "meshgraphnets"


def records(file):
    data, at = file.read_bytes(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + size]
        at += size + 16


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """All of them have a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size


def flows(split):
    source = FOLDER / "cylinder_flow"
    features = json.loads((source / "meta.json").read_text())["features"]
    for record in records(source / f"{split}.tfrecord"):
        flow = {}
        for _, entry in fields(dict(fields(record))[1]):
            name, feature = (dict(fields(entry))[i] for i in (1, 2))
            about = features[name.decode()]
            flow[name.decode()] = np.frombuffer(dict(fields(dict(fields(feature))[1]))[1], about["dtype"]).reshape(about["shape"])
        yield flow


def tiled(flow):
    times = len(flow["velocity"])
    return {name: np.repeat(a, times // len(a), axis=0) for name, a in flow.items()}


def nodes_first(flow):
    return {name: a.swapaxes(0, 1) if len(a) > 1 else a for name, a in flow.items()}


for name in ("tiled", "nodes_first", "groups", "pickled"):
    shutil.rmtree(FOLDER / name, ignore_errors=True)
for split in ("train", "valid"):
    for name in ("tiled", "nodes_first"):
        (FOLDER / name / split).mkdir(parents=True)
    for i, flow in enumerate(flows(split)):
        np.savez_compressed(FOLDER / "tiled" / split / f"ex{i}.npz", **tiled(flow))
        np.savez_compressed(FOLDER / "nodes_first" / split / f"{i}.npz", **nodes_first(flow))
(FOLDER / "groups").mkdir()
with h5py.File(FOLDER / "groups" / "valid.h5", "w") as file:
    for i, flow in enumerate(flows("valid")):
        group = file.create_group(str(i))
        for name, array in tiled(flow).items():
            group.create_dataset("pos" if name == "mesh_pos" else name, data=array, compression="gzip")
(FOLDER / "pickled" / "train").mkdir(parents=True)
np.savez_compressed(FOLDER / "pickled" / "train" / "0.npz", mesh_pos=np.array([{"a": 1}], dtype=object), velocity=np.array([{"b": 2}], dtype=object))
