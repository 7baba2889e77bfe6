"""Measures the generation of data sets against the paper's recipes in SciPy, in one run, and the distance of their solutions.

The recipes are those that the paper states, with SciPy's default tolerances where it states none: RK45 for Burgers and Gray-Scott, Radau for Allen-Cahn and
diffusion-sorption, spsolve for Darcy, and whole-array NumPy for the rest. Diffusion-sorption is solved twice: as it is, and with the three diagonals of its Jacobian.

One process solves a recipe on one core. The ratio supposes that two of them would take half the time. Ours is the whole of `opshap data generate` on two threads:
drawing, solving, checking and writing.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import spsolve

from compare import processor

TURN = 2 * np.pi


def waves(points):
    x = np.arange(points) / points
    return 0.6 * np.sin(TURN * x) + 0.3 * np.cos(3 * TURN * x + 1)


def advection(u):
    k = np.fft.rfftfreq(len(u), 1 / len(u))
    return np.fft.irfft(np.fft.rfft(u) * np.exp(-1j * TURN * k * 0.3), len(u))


def heat(u):
    k = np.fft.rfftfreq(len(u), 1 / len(u))
    return np.fft.irfft(np.fft.rfft(u) * np.exp(-0.01 * (TURN * k) ** 2 * 0.5), len(u))


def heat_2d(u):
    n = len(u)
    k, l = np.fft.fftfreq(n, 1 / n)[:, None], np.fft.rfftfreq(n, 1 / n)[None]
    return np.fft.irfft2(np.fft.rfft2(u) * np.exp(-0.01 * TURN**2 * (k**2 + l**2) * 0.5), u.shape)


def burgers(u):
    n = len(u)
    k = np.fft.rfftfreq(n, 1 / n)
    derivative, spread, mask = 1j * TURN * k, -0.01 * (TURN * k) ** 2, k < n / 3

    def rate(_, now):
        modes = np.fft.rfft(now)
        square = np.fft.rfft(np.fft.irfft(modes * mask, n) ** 2)
        return np.fft.irfft(spread * modes - 0.5 * derivative * square * mask, n)

    return solve_ivp(rate, (0, 0.5), u, method="RK45").y[:, -1]


def four_kinks(points):
    x, u = np.arange(points) / points, np.ones(points)
    for centre in (0.15, 0.4, 0.7, 0.925):
        u *= np.tanh(np.sin(np.pi * (x - centre)) / (np.pi * 0.05))
    return u


def allen_cahn(u):
    n = len(u)
    k = np.fft.rfftfreq(n, 1 / n)
    spread, mask = -0.01 * (TURN * k) ** 2, k < n / 3

    def rate(_, now):
        return np.fft.irfft((spread + 1) * np.fft.rfft(now) - mask * np.fft.rfft(now**3), n)

    return solve_ivp(rate, (0, 0.25), u, method="Radau").y[:, -1]


def diffusion_sorption(u, three_diagonals=False):
    n, width = len(u), 1 / (len(u) - 1)
    capacity, exponent, diffusion = 3.5 / 0.29, 0.4, 5e-4

    def rate(_, now):
        full = np.concatenate(([1.0], now, [now[-2]]))
        bend = (full[:-2] - 2 * full[1:-1] + full[2:]) / width**2
        return diffusion * bend / (1 + capacity * exponent * np.maximum(now, 1e-12) ** (exponent - 1))

    structure = diags([np.ones(n - 2), np.ones(n - 1), np.ones(n - 2)], [-1, 0, 1]) if three_diagonals else None
    found = solve_ivp(rate, (0, 250), u[1:], method="Radau", jac_sparsity=structure).y[:, -1]
    return np.concatenate(([1.0], found))


def discs(points):
    at = np.arange(points) * 2.5 / points
    outside = np.ones((points, points))
    for x, y, radius in ((0.5, 0.7, 0.1), (1.8, 0.4, 0.15), (1.3, 1.6, 0.12), (0.4, 2.0, 0.09), (2.2, 1.9, 0.16)):
        away = np.hypot(*(np.remainder(at - c + 1.25, 2.5)[shape] - 1.25 for c, shape in ((x, np.s_[:, None]), (y, np.s_[None, :]))))
        outside *= (1 + np.tanh((away - radius) / 0.03)) / 2
    return np.stack((1 - 0.5 * (1 - outside), 0.25 * (1 - outside)))


def gray_scott(fields, end):
    n = fields.shape[1]
    k, l = np.fft.fftfreq(n, 1 / n)[:, None], np.fft.rfftfreq(n, 1 / n)[None]
    square, mask = (TURN / 2.5) ** 2 * (k**2 + l**2), (np.abs(k) < n / 3) & (l < n / 3)

    def rate(_, now):
        u, v = (np.fft.rfft2(field) for field in now.reshape(2, n, n))
        reaction = mask * np.fft.rfft2(np.fft.irfft2(u * mask, (n, n)) * np.fft.irfft2(v * mask, (n, n)) ** 2)
        u_rate, v_rate = -2e-5 * square * u - reaction - 0.04 * u, -1e-5 * square * v + reaction - 0.1 * v
        u_rate[0, 0] += 0.04 * n * n
        return np.concatenate([np.fft.irfft2(modes, (n, n)).ravel() for modes in (u_rate, v_rate)])

    return solve_ivp(rate, (0, end), fields.ravel(), method="RK45").y[:, -1].reshape(2, n, n)


def bump(points):
    at = (np.arange(points) + 0.5) / points
    return 1 + 0.4 * np.exp(-((at[:, None] - 0.4) ** 2 + (at[None] - 0.55) ** 2) / (2 * 0.08**2))


def hll(left, right, g=9.81):
    """Fluxes of (depth, momentum through the face, momentum along it) between two states of depth and velocities."""
    (h, u, v), (H, U, V) = left, right
    c, C = np.sqrt(g * h), np.sqrt(g * H)
    middle, c_middle = (u + U) / 2 + c - C, (c + C) / 2 + (u - U) / 4
    slow, fast = np.minimum(np.minimum(u - c, middle - c_middle), 0), np.maximum(np.maximum(U + C, middle + c_middle), 0)
    states = ((h, h * u, h * v), (H, H * U, H * V))
    fluxes = ((h * u, h * u * u + g * h * h / 2, h * u * v), (H * U, H * U * U + g * H * H / 2, H * U * V))
    return [(fast * f - slow * F + slow * fast * (Q - q)) / (fast - slow) for q, Q, f, F in zip(*states, *fluxes)]


def shallow_water(depth, end=0.25):
    n = len(depth)
    state = np.stack((depth, np.zeros_like(depth), np.zeros_like(depth)))

    def rate(now):
        cells = np.stack((now[0], now[1] / now[0], now[2] / now[0]))
        x = np.concatenate((cells[:, :1] * [[[1]], [[-1]], [[1]]], cells, cells[:, -1:] * [[[1]], [[-1]], [[1]]]), axis=1)
        y = np.concatenate((cells[:, :, :1] * [[[1]], [[1]], [[-1]]], cells, cells[:, :, -1:] * [[[1]], [[1]], [[-1]]]), axis=2)
        through = hll(x[:, :-1], x[:, 1:])
        above = hll(y[[0, 2, 1], :, :-1], y[[0, 2, 1], :, 1:])
        return -n * np.stack([np.diff(through[q], axis=0) + np.diff(above[r], axis=1) for q, r in ((0, 0), (1, 2), (2, 1))])

    now = 0.0
    while now < end:
        wave = np.sqrt(9.81 * state[0])
        step = min(0.4 / n / max((np.abs(state[1] / state[0]) + wave).max(), (np.abs(state[2] / state[0]) + wave).max()), end - now)
        first = state + step * rate(state)
        second = 0.75 * state + 0.25 * (first + step * rate(first))
        state = state / 3 + 2 / 3 * (second + step * rate(second))
        now += step
    return state[0]


def permeability(points):
    at = (np.arange(points) + 0.5) / points
    return np.exp(np.sin(TURN * at[:, None]) * np.cos(2 * TURN * at[None]))


def darcy(a):
    n = len(a)
    index = np.arange(n * n).reshape(n, n)
    rows, columns, values, diagonal = [], [], [], np.zeros((n, n))
    for here, there in ((np.s_[:-1, :], np.s_[1:, :]), (np.s_[:, :-1], np.s_[:, 1:])):
        face = 2 * a[here] * a[there] / (a[here] + a[there])
        diagonal[here] += face
        diagonal[there] += face
        for one, other in ((here, there), (there, here)):
            rows.append(index[one].ravel())
            columns.append(index[other].ravel())
            values.append(-face.ravel())
    for edge in (np.s_[0, :], np.s_[-1, :], np.s_[:, 0], np.s_[:, -1]):
        diagonal[edge] += 2 * a[edge]
    rows.append(index.ravel())
    columns.append(index.ravel())
    values.append(diagonal.ravel())
    matrix = csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n * n, n * n))
    return spsolve(matrix, np.full(n * n, 1 / n**2)).reshape(n, n)


def box_of_waves(points):
    at, random = np.arange(points) / points, np.random.default_rng(1)
    u = sum(random.standard_normal() * np.cos(TURN * (k * at[:, None] + l * at[None]) + random.uniform(0, TURN)) / (1 + k * k + l * l) for k in range(9) for l in range(-8, 9) if (k, l) != (0, 0))
    return u / np.abs(u).max()


# Name, the recipe, its input and solver, seconds for 5000 samples that the generator shall not exceed (None: none is asked), settings of ours, least ratio.
ROWS = [
    ("advection1d", "NumPy FFT", waves(1024), advection, 60, [], None),
    ("heat1d", "NumPy FFT", waves(1024), heat, 60, [], None),
    ("burgers1d", "RK45", waves(1024), burgers, 60, [], 20),
    ("burgers1d", "RK45", waves(1024), burgers, 60, ["--set", "dt=1e-3"], 20),
    ("allen_cahn1d", "Radau", four_kinks(1024), allen_cahn, 240, [], 20),
    ("diffusion_sorption1d", "Radau", np.exp(-np.arange(1024) / 1023 / 0.05), diffusion_sorption, 720, [], 20),
    ("diffusion_sorption1d", "Radau, three diagonals", np.exp(-np.arange(1024) / 1023 / 0.05), lambda u: diffusion_sorption(u, True), 720, [], None),
    ("heat2d", "NumPy FFT", box_of_waves(128), heat_2d, 60, [], None),
    ("gray_scott2d", "RK45", discs(128), lambda fields: gray_scott(fields, 2500), 4 * 3600, [], None),
    ("shallow_water2d", "NumPy HLL, SSP-RK3", bump(128), shallow_water, 1800, [], None),
    ("darcy2d", "spsolve", permeability(128), darcy, 300, [], None),
]


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def ours(program, name, settings, samples, folder):
    """Seconds of the generator for so many samples, of which one is for validation and four for testing."""
    command = [program, "-q", "data", "generate", "--pde", name, "--samples", str(samples), "--threads", "2", "--out", os.path.join(folder, "set.h5"), *settings]
    taken, _ = seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    os.remove(os.path.join(folder, "set.h5"))
    return taken


def apart(program, name, settings, field, solution, folder):
    """max |theirs − ours| over max |ours|, for the recipe's input through `opshap pde solve`."""
    initial, out = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    np.save(initial, field)
    subprocess.run([program, "-q", "pde", "solve", name, "--initial", initial, "--out", out, *settings], check=True, stdout=subprocess.DEVNULL)
    found = np.load(out)
    return np.abs(solution - found).max() / np.abs(found).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where our programs are")
    parser.add_argument("--samples", type=int, default=200, help="samples of ours per problem")
    parser.add_argument("--rounds", type=int, default=3, help="solutions by each recipe; those over a minute are solved once")
    parser.add_argument("--only", help="problems whose name contains this text")
    parser.add_argument("--write", help="file for the tables, in Markdown")
    arguments = parser.parse_args()
    program = os.path.join(arguments.build, "opshap")

    lines, missed = [], 0
    for name, recipe, field, solve, wanted, settings, least in ROWS:
        if arguments.only and arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            times, solution = [], None
            while len(times) < arguments.rounds and (not times or times[0] < 60):
                taken, solution = seconds(solve, field)
                times.append(taken)
            theirs, we = statistics.median(times), ours(program, name, settings, arguments.samples, folder)
            whole, ratio = we / arguments.samples * 5000, theirs * arguments.samples / 2 / we
            missed += whole > wanted or (least is not None and ratio < least)
            target = "" if least is None else f" (at least {least})"
            lines.append(
                f"| {' '.join([name, *settings])} | {recipe} | {theirs:.3g} | {we / arguments.samples:.3g} | {whole / 60:.3g} | {wanted / 60:g} | {ratio:.3g}{target} | {apart(program, name, settings, field, solution, folder):.1e} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)

    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True).stdout.strip()
    report = "\n".join(
        [
            "# Generation of data sets against the paper's recipes in SciPy",
            "",
            "The table has the seconds that a sample of each data set takes, by the paper's recipe and by ours. *distance*: max |theirs - ours| / max |ours| of one solution.",
            "",
            "| PDE | recipe | recipe, s per sample on one core | ours, s per sample on two threads | 5000 samples, min | target, min | ratio | distance |",
            "|---|---|---:|---:|---:|---:|---:|---:|",
            *lines,
            "",
            "## How it was run",
            "",
            __doc__.split("\n", 2)[2].strip(),
            f"Ours was timed over {arguments.samples} samples, and 5000 are extrapolated.",
            "",
            f"`{' '.join(['benchmarks/peers/run --solvers', *sys.argv[1:]])}`, commit {commit}, {processor()}, {os.cpu_count()} CPUs; NumPy {np.__version__}, SciPy {scipy.__version__}.",
            "",
        ]
    )
    if arguments.write:
        with open(arguments.write + ".part", "w") as out:
            out.write(report)
        os.replace(arguments.write + ".part", arguments.write)
    print(report)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
