"""Prints the report of a run of benchmarks/gpu/run: report.py FOLDER > reports/gpu.md. Numbers are those of rows.jsonl there; each was measured once."""

import json
import pathlib
import subprocess
import sys


def number(value):
    return "" if value is None else f"{value:.3g}"


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)] + ["| " + " | ".join(row) + " |" for row in rows]


def best(rows):
    """The fastest of rows with a rate; None without any."""
    rated = [row for row in rows if row.get("rate")]
    return max(rated, key=lambda row: row["rate"]) if rated else None


def coalitions(rows):
    games = list(dict.fromkeys((row["game"], row["n"]) for row in rows))
    for precision, ours in (("float32", ("float32", "tf32x3")), ("tf32", ("tf32",)), ("bf16", ("bf16",))):
        lines = []
        for game, n in sorted(games):
            of = [row for row in rows if (row["game"], row["n"]) == (game, n)]
            peer = best(row for row in of if row["who"] == "peer" and row["precision"] == precision)
            mine = best(row for row in of if row["who"] == "ours" and row["precision"] in ours)
            ratio = number(mine["rate"] / peer["rate"]) if mine and peer else ""
            side = f"{n} x {n}" if game.endswith("2D") else f"n = {n}"
            lines.append([f"{game}, {side}"] + [text for row in (peer, mine) for text in ((row["form"], number(row["rate"]), number(row["error"])) if row else ("", "", ""))] + [ratio])
        yield f"In {precision}" + (", or ours in tf32x3:" if precision == "float32" else ":")
        yield ""
        yield from table(["game", "peer's best form", "coalitions/s", "error", "our best form", "coalitions/s", "error", "ours / peer"], lines)
        yield ""


def main():
    if len(sys.argv) != 2:
        sys.exit("report: arguments (needs the folder of a run). Give one.")
    folder = pathlib.Path(sys.argv[1])
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    environment = json.loads((folder / "environment.json").read_text())
    of = {part: [row for row in rows if row["part"] == part] for part in ("correctness", "coalitions", "training", "profile")}
    print("# An FNO of the paper's size on a GPU, ours and neuraloperator's\n")
    print("64 channels, 16 modes per axis, 4 layers, padding 0.5. Coalitions are of a game in which each point is a player, asked at the centre. *error* is the largest difference to")
    print("double precision over the standard deviation of v. A peer's form is eager, compiled or a CUDA graph; each row has the fastest.\n")
    print("## Coalitions per second\n")
    print("\n".join(coalitions(of["coalitions"])))
    print("## Training\n")
    print("Samples per second of steps of FastSHAP (64 fields, 128 coalitions each) and of their labels.\n")
    kinds = sorted({(row["what"], row["n"]) for row in of["training"]})
    rate = {(row["who"], row["what"], row["n"]): row["samples_per_second"] for row in of["training"]}
    lines = []
    for what, n in kinds:
        peer, mine = rate.get(("peer", what, n)), rate.get(("ours", what, n))
        lines.append([f"{what.replace('_', ' ')}, n = {n}", number(peer), number(mine), number(mine / peer) if mine and peer else ""])
    print("\n".join(table(["what", "peer, samples/s", "ours, samples/s", "ours / peer"], lines)) + "\n")
    for row in of["profile"]:
        print(f"`opshap {row['command']}` ended with {row['exit_code']}: " + "; ".join(f"{stage['name']} {stage['seconds']:.0f} s on {stage['device']}" for stage in row["stages"]) + ("." if row["stages"] else "no stage was finished.") + "\n")
    print("## Correctness\n")
    print("\n".join(table(["what", "error", "most", "holds"], [[row["check"], number(row["error"]), number(row["most"]), "yes" if row["holds"] else "**no**"] for row in of["correctness"]])) + "\n")
    print(subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("roofline.py"))], capture_output=True, text=True).stdout)
    print("## How it was run\n")
    print("`benchmarks/gpu/run`, each row once. " + "; ".join(f"{key}: {value if isinstance(value, str) else number(value)}" for key, value in environment.items()) + ".")


if __name__ == "__main__":
    main()
