#!/usr/bin/env python3
"""Small synthetic files in the layouts of PDEBench: writes the folder reference_data/pdebench. Needs numpy and h5py.

Nothing here is data of PDEBench. Every entry is a number that float32 holds exactly and that follows from its place alone (see entry()), so that a reader
can be checked entry by entry. Odd samples look like noise, which LZF cannot make smaller: h5py then stores their chunks as they are.
"""
import pathlib

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "pdebench"
SAMPLES, LINE, SIDE = 6, 16, 8


def entry(sample, time, row, point, channel):
    code = (((sample * 8 + time) * 16 + row) * 16 + point) * 2 + channel
    return code / 1024 if sample % 2 == 0 else (code * 2654435761 % 2**32 >> 8) / 2**24


def line(sample, times):
    return np.array([[entry(sample, t, 0, i, 0) for i in range(LINE)] for t in range(times)])


def plane(sample, times, channels):
    return np.array([[[[entry(sample, t, i, j, c) for c in range(channels)] for j in range(SIDE)] for i in range(SIDE)] for t in range(times)])


def middles(count, begin, end):
    return (begin + (np.arange(count) + 0.5) * (end - begin) / count).astype("f4")


def tensor(name, times, coordinate, attributes):
    """One array for all samples. The time coordinate of the published files has one entry more than there are times."""
    with h5py.File(FOLDER / name, "w") as file:
        file["tensor"] = np.array([line(s, times) for s in range(SAMPLES)], "f4")
        file["x-coordinate"] = middles(LINE, 0, 1)
        file["t-coordinate"] = np.array(coordinate, "f4")
        file.attrs.update(attributes)


def groups(name, fields, times, interval, config, **compression):
    """A group for each sample. `compression` is h5py's. The format of 2017 keeps small files small."""
    with h5py.File(FOLDER / name, "w", libver="v110") as file:
        for s in range(SAMPLES):
            group = file.create_group(f"{s:04}")
            data = fields(s).astype("f4")
            group.create_dataset("data", data=data, **compression)
            group["grid/t"] = np.array(times, "f4")
            for axis in "xy"[:data.ndim - 2]:
                group[f"grid/{axis}"] = middles(data.shape[1], *interval)
            group.attrs["config"] = config
        return {file[f"{s:04}/data"].id.get_chunk_info(0).filter_mask for s in range(SAMPLES)} if compression else {0}


FOLDER.mkdir(exist_ok=True)
tensor("1D_Advection_Sols_beta1.0.hdf5", 4, [0, 0.1, 0.2, 0.3, 0.4], {"beta": 1.0})
tensor("1D_Burgers_Sols_Nu0.01.hdf5", 3, [0, 0.25, 0.5, 0.75], {"Nu": 0.01})
stored = groups("1D_diff-sorp_NA_NA.h5", lambda s: line(s, 3)[..., None], [0, 125, 250], (0, 1), "sim:\n  D: 0.0005\n",
                chunks=(3, LINE, 1), compression="lzf")
assert stored == {0, 1}, "some chunks are compressed, and some are stored as they are"
with h5py.File(FOLDER / "2D_DarcyFlow_beta1.0_Train.hdf5", "w") as file:
    file["nu"] = np.array([plane(s, 1, 1)[0, :, :, 0] for s in range(SAMPLES)], "f4")
    file["tensor"] = np.array([plane(s, 2, 1)[1:, :, :, 0] for s in range(SAMPLES)], "f4")
    file["x-coordinate"] = file["y-coordinate"] = middles(SIDE, 0, 1)
    file.attrs["beta"] = 1.0
groups("2D_rdb_NA_NA.h5", lambda s: plane(s, 3, 1), [0, 0.125, 0.25], (-2.5, 2.5), "sim:\n  gravity: 1.0\n")
groups("2D_diff-react_NA_NA.h5", lambda s: plane(s, 5, 2), [0, 1.25, 2.5, 3.75, 5], (-1, 1), "sim:\n  k: 0.005\n",
       chunks=(2, SIDE, SIDE, 2), compression="lzf", shuffle=True)

# What published files also do: another axis of one entry, none where there was one, no attributes, no coordinates, other numbers, the oldest file format.
with h5py.File(FOLDER / "variant_tensor.hdf5", "w", libver=("earliest", "v108")) as file:
    file.create_dataset("tensor", data=np.array([line(s, 3)[:, None, :, None] for s in range(SAMPLES)], ">f8"), compression="gzip")
with h5py.File(FOLDER / "variant_groups.h5", "w", libver="v110") as file:
    for s in range(SAMPLES):
        file[f"{s:04}/data"] = plane(s, 3, 1)[..., 0]

# What is refused: coordinates that are not those of the fields, and the layout of another kind of problem.
tensor("wrong_grid.hdf5", 3, [0, 0.25, 0.5], {"Nu": 0.01})
with h5py.File(FOLDER / "wrong_grid.hdf5", "a") as file:
    del file["x-coordinate"]
    file["x-coordinate"] = middles(LINE - 1, 0, 1)
with h5py.File(FOLDER / "wrong_layout.hdf5", "w") as file:
    for field in ("Vx", "density", "pressure"):
        file[field] = np.zeros((2, 3, 4), "f4")
