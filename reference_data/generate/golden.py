"""Writes the golden values of reference_data/shapiq/, one JSON file a subject.

    python3.12 -m venv .venv-golden && .venv-golden/bin/pip install -r reference_data/generate/requirements.txt
    .venv-golden/bin/python reference_data/generate/golden.py [--only SUBJECT ...]

A subject is a module beside this file with `about`, `packages` and `cases()`; cases() raises when its values disagree with the oracles. Nothing random is left
to a C++ reader: coalitions, orderings, weights and models are stored.
"""

import argparse
import importlib
import os
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums in one order, so that the files come out the same again

from fixture import write  # noqa: E402

SUBJECTS = ["exact", "closed_forms", "kernel_shap", "enumerated_sizes", "monte_carlo", "permutation", "leverage_shap", "odd_shap", "trees", "regression_msr",
            "large_n", "fastshap_loss", "integrated_gradients", "metrics", "operator_games"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=SUBJECTS)
    warnings.simplefilter("ignore")  # shapiq warns of budgets near 2^n, which are wanted here
    for subject in parser.parse_args().only:
        module = importlib.import_module(f"subject_{subject}")
        size = write(subject, module.about, module.packages, module.cases())
        print(f"{subject}: {size / 1024:.0f} KiB", flush=True)


if __name__ == "__main__":
    main()
