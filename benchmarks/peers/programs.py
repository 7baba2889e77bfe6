"""Estimators of other libraries as programs behind the two pipes. Which laws the six of python/examples keep, whether an FNO in its own process is explained
as its exported file is, how fast shapiq is through the pipes, and how long a new estimator takes to its row in a comparison.

    benchmarks/peers/run --programs --write reports/programs.md [NAME ...]

With names only these parts are measured again: an estimator, `fno`, `speed` or `newcomer`. The rows of the others come from the JSON file beside the
report, with the commit that they are of. The exit code is 1 when an attribution of the FNO differs by more than its limit. A check that fails is a
finding, and no error.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
FIXTURES = ROOT / "reference_data" / "end_to_end"
PACKAGES = ("shapiq", "captum", "torch", "neuraloperator", "numpy", "scikit-learn", "xgboost-cpu")
LIMIT = 1e-6  # of the largest value: two evaluations in float32, summed over the coalitions of a player
BACKBONE = ROOT / "reports" / "desk" / "burgers1d" / "backbone" / "model.safetensors"
FIELD, POINT = ROOT / "reports" / "compare" / "u64.npy", 32


def run(*command, folder=None, read=json.loads):
    """What the command prints, as `read` takes it, and its seconds."""
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        sys.exit(f"programs: {' '.join(map(str, command))} (exit code {done.returncode}): {done.stderr}")
    return read(done.stdout), seconds


def estimators():
    return sorted(path.parent.name for path in EXAMPLES.glob("*/plugin.toml") if 'role = "operator"' not in path.read_text())


def short(text):
    """A cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ").strip()


def conformance_lines(rows):
    names = list(rows)
    laws = list(dict.fromkeys(check["law"] for row in rows.values() for check in row["checks"]))
    marks = {"pass": "yes", "fail": "**no**", "not claimed": "–"}
    lines = ["| law | " + " | ".join(f"`{name}`" for name in names) + " |", "|---|" + ":-:|" * len(names)]
    for law in laws:
        cells = []
        for name in names:
            found = [check for check in rows[name]["checks"] if check["law"] == law]
            cells.append(marks[found[0]["outcome"]] if found else "not reached")
        lines.append(f"| {law} | " + " | ".join(cells) + " |")
    failed = [f"- `{name}`, *{check['law']}*: {short(check['detail'])}"
              for name in names for check in rows[name]["checks"] if check["outcome"] == "fail"]
    return [*lines, "", *(["What failed, in the words of the check:", "", *failed] if failed else ["Nothing failed."])]


def plugin_of(weights, folder):
    """The example's program with other weights, in a folder of its own."""
    text = (EXAMPLES / "neuralop_fno" / "plugin.toml").read_text()
    text = text.replace('"../../../reference_data/end_to_end/fno_1d.safetensors"', json.dumps(str(weights)))
    text = text.replace('"../.."', json.dumps(str(ROOT / "python")))
    text = text.replace('"model.py"', json.dumps(str(EXAMPLES / "neuralop_fno" / "model.py")))
    (folder / "plugin.toml").write_text(text)
    return f"peer:{folder}"


def explained(opshap):
    """Rows of the FNOs: (model, players, method, largest difference in units of the largest value, seconds there, seconds here)."""
    models = [(FIXTURES / f"{case['name']}.safetensors", FIXTURES / f"{case['name']}_input.npy",
               ["--partition", FIXTURES / f"{case['name']}_players.npy"], ",".join(map(str, case["query"])),
               ["exact", "integrated_gradients"])
              for case in json.loads((FIXTURES / "cases.json").read_text())["cases"] if case["name"].startswith("fno")]
    models.append((BACKBONE, FIELD, [], str(POINT),
                   ["permutation_antithetic --budget 2048", "kernel_shap_paired --budget 2048", "integrated_gradients"]))
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for number, (weights, field, players, query, methods) in enumerate(models):
            folder = pathlib.Path(temporary) / str(number)
            folder.mkdir()
            program = plugin_of(weights, folder)
            for method in methods:
                asked = ["--input", field, *players, "--query", query, "--json", "--method", *method.split()]
                here, seconds_here = run(opshap, "attribute", "--operator", weights, *asked)
                there, seconds_there = run(opshap, "attribute", "--operator", program, *asked)
                differences = np.abs(np.subtract(here["values"], there["values"]))
                scale = max(np.abs(here["values"]).max(), abs(here["grand"]), abs(here["empty"]))
                rows.append({"model": str(weights.relative_to(ROOT)), "players": here["players"], "method": method,
                             "evaluations": there["evaluations"], "gradients": there["gradients"],
                             "difference": float(differences.max() / scale), "seconds": seconds_there,
                             "seconds_exported": seconds_here})
                print(rows[-1], flush=True)
            if "exact" in methods:
                rows.append(two_level(opshap, program, weights, field, players, query))
                print(rows[-1], flush=True)
    return rows


def two_level(opshap, program, weights, field, players, query):
    """It knows a closure of the exported file and plain gradients of the program, so that the samples differ: against exact values."""
    asked = ["--operator", program, "--input", field, *players, "--query", query, "--json", "--method"]
    exact, _ = run(opshap, "attribute", *asked, "exact")
    found, seconds = run(opshap, "attribute", *asked, "two_level", "--budget", "400")
    errors = np.abs(np.subtract(exact["values"], found["values"]))
    return {"model": str(weights.relative_to(ROOT)), "players": exact["players"], "method": "two_level --budget 400",
            "evaluations": found["evaluations"], "gradients": found["gradients"], "seconds": seconds,
            "in_standard_errors": float((errors / np.maximum(found["standard_errors"], 1e-12)).max())}


def fno_lines(rows):
    lines = ["| model | players | method | evaluations | gradients | difference | seconds there | seconds exported |",
             "|---|--:|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        difference = (f"{row['difference']:.1e}" if "difference" in row
                      else f"{row['in_standard_errors']:.1f} standard errors from the exact values")
        exported = f"{row['seconds_exported']:.1f}" if "seconds_exported" in row else ""
        lines.append(f"| `{row['model']}` | {row['players']} | `{row['method']}` | {row['evaluations']} | {row['gradients']} | "
                     f"{difference} | {row['seconds']:.1f} | {exported} |")
    return lines


def speed(opshap, rounds=3, budget=4096, threads=2):
    """KernelSHAP of shapiq on our game through the pipes, and with neuraloperator in one Python process. In turn, so that both see the same machine."""
    def alone(batch, seed):
        return run(sys.executable, pathlib.Path(__file__).with_name("kernel_shap_alone.py"), BACKBONE, FIELD, "--point", POINT, "--budget", budget,
                   "--seed", seed, "--batch", batch, "--threads", threads)

    batch = min((16, 64, 256, 1024), key=lambda size: alone(size, 0)[0]["game_seconds"])
    rows = []
    for seed in range(1, rounds + 1):
        pipes, whole_pipes = run(opshap, "attribute", "--operator", BACKBONE, "--input", FIELD, "--query", POINT, "--method",
                                 f"peer:{EXAMPLES / 'shapiq_kernel_shap'}", "--budget", budget, "--seed", seed, "--threads", threads, "--json")
        python, whole_python = alone(batch, seed)
        scale = max(abs(python["empty"]), abs(python["grand"]))
        rows.append({"batch": batch, "budget": budget, "threads": threads,
                     "difference": max(abs(python[end] - pipes[end]) for end in ("empty", "grand")) / scale,
                     "pipes": {"game": pipes["seconds"]["game"], "all": sum(pipes["seconds"].values()), "command": whole_pipes,
                               "evaluations": pipes["evaluations"]},
                     "python": {"game": python["game_seconds"], "all": python["seconds"], "command": whole_python,
                                "evaluations": python["evaluations"]}})
        print(rows[-1], flush=True)
    return rows


def speed_lines(rows):
    def middle(numbers):
        return f"{statistics.median(numbers):.2f}"

    def ratio(key):
        ratios = [row["python"][key] / row["pipes"][key] for row in rows]
        return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

    lines = ["| seconds | Python alone | through the pipes | times as fast |", "|---|--:|--:|--:|"]
    for key, name in (("game", "the game's share"), ("all", "the explanation, without the start of programs and their imports"), ("command", "the whole command")):
        lines.append(f"| {name} | {middle([row['python'][key] for row in rows])} | {middle([row['pipes'][key] for row in rows])} | {ratio(key)} |")
    return lines


def newcomer(opshap):
    """The way of a new estimator from nothing to its row in a comparison: commands, with their seconds, its checks, and the comparison's errors."""
    body, steps = pathlib.Path(__file__).with_name("reversed_orderings.py"), []
    with tempfile.TemporaryDirectory() as folder:
        def step(*words, read=json.loads):
            found, seconds = run(opshap.resolve(), *words, folder=folder, read=read)
            steps.append({"step": f"`{' '.join(['opshap', *words])}`", "seconds": seconds})
            return found

        step("peer", "new", body.stem, read=str)
        template = pathlib.Path(folder) / body.stem / "estimator.py"
        before, after = template.read_text().splitlines(), [line for line in body.read_text().splitlines() if line]
        template.write_text(body.read_text())
        kept = sum(line in before for line in after)
        steps.append({"step": f"another body in `estimator.py`: {len(after)} lines, of which {kept} stood there before", "seconds": None})
        checks = step("peer", "check", body.stem, "--json")["checks"]
        found = step("compare", "--game", "unanimity_sum", "--players", "16", "--methods", f"peer:{body.stem},permutation,permutation_antithetic",
                     "--budgets", "4n,8n,16n", "--json")
    errors = {}
    for row in found["rows"]:
        errors.setdefault(row["method"], {}).setdefault(str(row["budget"]), []).append(row["nrmse"])
    return {"steps": steps, "checks": len(checks), "failed": [check["law"] for check in checks if check["outcome"] == "fail"],
            "nrmse": {method: {budget: statistics.median(of_budget) for budget, of_budget in of.items()} for method, of in errors.items()}}


def newcomer_lines(found):
    lines = ["| step | seconds |", "|---|--:|"]
    for step in found["steps"]:
        lines.append(f"| {step['step']} | {'by hand' if step['seconds'] is None else format(step['seconds'], '.2f')} |")
    failed = ", ".join(f"*{law}*" for law in found["failed"]) or "none"
    budgets = list(next(iter(found["nrmse"].values())))
    lines += ["", f"Of {found['checks']} checks failed: {failed}. Its row, and those of its neighbours: median NRMSE of ten repeats.", "",
              "| method | " + " | ".join(budgets) + " |", "|---|" + "--:|" * len(budgets)]
    lines += [f"| `{method}` | " + " | ".join(f"{of[budget]:.3f}" for budget in budgets) + " |" for method, of in found["nrmse"].items()]
    return lines


def report(rows):
    versions, parts_of = rows["versions"], {}
    for part, commit in rows["commits"].items():
        parts_of.setdefault(commit, []).append(f"`{part}`")
    commits = "; ".join(f"{', '.join(parts)} at commit {commit}" for commit, parts in parts_of.items())
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return "\n".join([
        "# Programs behind two pipes",
        "",
        "The program `opshap` asks an estimator or an operator in another process for its answers, over two pipes. This page has six estimators of other libraries,",
        "and an FNO of neuraloperator. The numbers are in [programs.json](programs.json).",
        "",
        "## Six estimators of other libraries",
        "",
        "`opshap peer check python/examples/NAME`. *yes*: the law holds. *no*: it does not, and the reason is below. –: `plugin.toml` does not claim it.",
        "The authors of these libraries made no claim here: we wrote each `plugin.toml`, from the method's paper or documentation. Where a claimed law fails, our `plugin.toml`",
        "promised too much. Five of the six have no line of code: their `plugin.toml` names an approximator of shapiq.",
        "",
        *conformance_lines(rows["conformance"]),
        "",
        "## An FNO that stays in its own process",
        "",
        "`opshap attribute --operator peer:python/examples/neuralop_fno --input U.npy --query I --method NAME`. The model is neuraloperator's, on its own PyTorch.",
        "The exported file is explained by the same command with the file in place of the program.",
        "",
        "*difference*: the largest of all players, in units of the",
        f"game's largest value; at most {LIMIT:g}. The field goes there once, and coalitions go as bits. Integrated gradients and `two_level` ask for gradients.",
        "Seconds are those of the whole command, with the start of both programs.",
        "",
        *fno_lines(rows["fno"]),
        "",
        "## KernelSHAP of shapiq, through the pipes and alone",
        "",
        *speed_lines(rows["speed"]),
        "",
        f"`{BACKBONE.relative_to(ROOT)}` at 64 points, budget {rows['speed'][0]['budget']}, {rows['speed'][0]['threads']} threads, medians of {len(rows['speed'])} seeds, "
        "the ratio with its least and largest value. Python",
        "alone is `benchmarks/peers/kernel_shap_alone.py`: the same approximator and neuraloperator's model in one process, in batches of "
        f"{rows['speed'][0]['batch']}, the best of 16, 64, 256 and 1024.",
        f"v(∅) and v(N) agree to {max(row['difference'] for row in rows['speed']):.1e} of the larger one. The approximator asked for "
        f"{rows['speed'][0]['python']['evaluations']} coalitions in Python; {rows['speed'][0]['pipes']['evaluations']} were evaluated through the pipes.",
        "",
        "## From nothing to a row in a comparison",
        "",
        "The estimator is `benchmarks/peers/reversed_orderings.py`. The commands are timed. The time in which a newcomer thinks and types is not.",
        "",
        *newcomer_lines(rows["newcomer"]),
        "",
        "## How it was run",
        "",
        f"`benchmarks/peers/run --programs --write reports/programs.md`, with Python {rows['python']}, {packages}. {commits}.",
        ""])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", required=True, help="build folder of opshap")
    arguments.add_argument("--write", required=True, type=pathlib.Path)
    arguments.add_argument("names", nargs="*", help="these parts alone: an estimator, fno, speed or newcomer")
    asked = arguments.parse_args()
    # The programs find this Python first.
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    opshap = pathlib.Path(asked.build) / "opshap"
    numbers = asked.write.with_suffix(".json")
    rows = json.loads(numbers.read_text()) if numbers.exists() and asked.names else {"conformance": {}, "commits": {}}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    rows["python"] = ".".join(map(str, sys.version_info[:3]))
    rows["versions"] = {name: importlib.metadata.version(name) for name in PACKAGES}
    parts = {"fno": explained, "speed": speed, "newcomer": newcomer}
    for name in asked.names or [*estimators(), *parts]:
        if name in parts:
            rows[name] = parts[name](opshap)
        else:
            found, seconds = run(opshap, "peer", "check", "--json", EXAMPLES / name)
            rows["conformance"][name] = {**found, "seconds": round(seconds, 1)}
            failed = sum(check["outcome"] == "fail" for check in found["checks"])
            print(f"{name}: {failed} of {len(found['checks'])} checks failed, {seconds:.0f} s", flush=True)
        rows["conformance"] = dict(sorted(rows["conformance"].items()))
        rows["commits"][name] = commit
        numbers.write_text(json.dumps(rows, indent=1) + "\n")
    asked.write.write_text(report(rows))
    if any(row.get("difference", 0) > LIMIT for row in rows["fno"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
