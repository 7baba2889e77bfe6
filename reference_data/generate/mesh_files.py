#!/usr/bin/env python3
"""Mesh files as Gmsh and NumPy write them, for properties/mesh_files.cpp. See reference_data/meshes.md.

    pip install gmsh==4.15.2 numpy
    python3 mesh_files.py reference_data/meshes
"""

import json
import pathlib
import sys

import gmsh
import numpy


def plate():
    """The rectangle [0, 2] x [0, 1] without a disc of radius 0.2 around (0.6, 0.5); its surface is in two groups."""
    geometry = gmsh.model.geo
    corners = [geometry.addPoint(x, y, 0, 0.3) for x, y in [(0, 0), (2, 0), (2, 1), (0, 1)]]
    around = [geometry.addPoint(0.6 + x, 0.5 + y, 0, 0.15) for x, y in [(0.2, 0), (0, 0.2), (-0.2, 0), (0, -0.2)]]
    centre = geometry.addPoint(0.6, 0.5, 0, 0.15)
    outer = [geometry.addLine(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    inner = [geometry.addCircleArc(around[i], centre, around[(i + 1) % 4]) for i in range(4)]
    surface = geometry.addPlaneSurface([geometry.addCurveLoop(outer), geometry.addCurveLoop(inner)])
    geometry.synchronize()
    gmsh.model.addPhysicalGroup(1, inner, name="hole")
    gmsh.model.addPhysicalGroup(2, [surface], name="plate")
    gmsh.model.addPhysicalGroup(2, [surface], name="metal")


def interval():
    """The interval [-1, 3] on the line y = 2."""
    ends = [gmsh.model.geo.addPoint(x, 2, 0, 0.5) for x in (-1, 3)]
    gmsh.model.geo.addLine(*ends)
    gmsh.model.geo.synchronize()


def facts(folder, name):
    """What the mesh is by Gmsh's own account."""
    dimension = 1 if name == "interval" else 2
    tags, places, _ = gmsh.model.mesh.getNodes()
    of_tag = dict(zip(tags, places.reshape(-1, 3)))
    corners = gmsh.model.mesh.getElementsByType(dimension)[1].reshape(-1, dimension + 1)
    used = [tag for tag in tags if tag in set(corners.ravel())]
    points = numpy.array([of_tag[tag][:dimension] for tag in used])
    number = {tag: i for i, tag in enumerate(used)}
    cells = numpy.array([[number[tag] for tag in cell] for cell in corners])
    sides = points[cells[:, 1:]] - points[cells[:, :1]]
    sizes = numpy.abs(numpy.linalg.det(sides)) / dimension
    volumes = numpy.bincount(cells.ravel(), numpy.repeat(sizes / (dimension + 1), dimension + 1))
    if name == "plate":
        numpy.savez_compressed(folder / "plate.npz", points=points, cells=cells, note=numpy.array(["not numbers"]))
        numpy.savez(folder / "plate_volumes.npz", points=points.astype("f4"), volumes=volumes)
        numpy.save(folder / "plate.npy", points)
    return {"points": len(points), "cells": len(cells), "volume": sizes.sum()}


def main():
    folder = pathlib.Path(sys.argv[1])
    found = {}
    for name, model in [("plate", plate), ("interval", interval)]:
        gmsh.initialize()
        gmsh.option.setNumber("General.Verbosity", 1)
        model()
        gmsh.model.mesh.generate(2 if name == "plate" else 1)
        found[name] = facts(folder, name)
        for version in (2.2, 4.1):
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.write(str(folder / f"{name}_{str(version).replace('.', '_')}.msh"))
        if name == "plate":
            gmsh.option.setNumber("Mesh.SaveParametric", 1)
            gmsh.write(str(folder / "plate_parametric.msh"))
            gmsh.option.setNumber("Mesh.SaveParametric", 0)
            gmsh.option.setNumber("Mesh.SaveAll", 1)
            gmsh.write(str(folder / "plate_with_centre.msh"))
            gmsh.option.setNumber("Mesh.SaveAll", 0)
            gmsh.option.setNumber("Mesh.Binary", 1)
            gmsh.write(str(folder / "plate_binary.msh"))
            gmsh.option.setNumber("Mesh.Binary", 0)
            gmsh.model.mesh.setOrder(2)
            gmsh.write(str(folder / "plate_second_order.msh"))
            gmsh.model.mesh.setOrder(1)
            gmsh.model.mesh.recombine()
            gmsh.write(str(folder / "plate_quadrangles.msh"))
        gmsh.finalize()
    print(json.dumps(found))


main()
