"""The package opshap: kept processes, operators of files, references and comparisons."""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import opshap
from opshap import games
from opshap.kept import program_path

WEIGHTS = np.array([1.0, -2, 4, 0.5, 3, -1, 2, 0.25])
MODELS = ROOT / "reference_data" / "normalised_models"


def additive(masks):
    return masks @ WEIGHTS


def kept():
    return games._kept[program_path(None)]


class KeptProcessTest(unittest.TestCase):
    def setUp(self):
        self.exact = opshap.attribute(additive, 8, "exact")

    def test_calls_share_one_process(self):
        pid, starts = kept().pid, kept().starts
        seconds = []
        for _ in range(100):
            start = time.perf_counter()
            self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)
            seconds.append(time.perf_counter() - start)
        self.assertEqual((kept().pid, kept().starts), (pid, starts))
        print(f"\na call of 8 players: median {1e3 * np.median(seconds):.2f} ms", file=sys.stderr)

    def test_it_answers_as_the_command_line_does(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "game.json"
            masks = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(bool)
            path.write_text(json.dumps({"players": 8, "values": additive(masks).tolist()}))
            words = ["attribute", "--game", path, "--method", "permutation", "--budget", "64", "--seed", "3", "--json"]
            run = subprocess.run([program_path(None), *words], capture_output=True, check=True)
        found = opshap.attribute(additive, 8, "permutation", 64, seed=3)
        self.assertEqual(found.values.tolist(), json.loads(run.stdout)["values"])

    def test_a_dead_one_is_started_again(self):
        starts = kept().starts
        os.kill(kept().pid, signal.SIGKILL)
        while kept()._process.poll() is None:
            time.sleep(0.01)
        self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)
        self.assertEqual(kept().starts, starts + 1)

    def test_one_that_dies_during_a_call_is_an_error_and_the_next_call_is_right(self):
        def kills(masks):
            os.kill(kept().pid, signal.SIGKILL)
            return additive(masks)

        with self.assertRaises(opshap.OpshapError) as caught:
            opshap.attribute(kills, 8, "exact")
        self.assertEqual(caught.exception.code, -signal.SIGKILL)
        self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)

    def test_a_call_from_inside_a_game_gets_another_one(self):
        starts = kept().starts

        def nested(masks):
            return masks @ opshap.attribute(additive, 8, "exact").values

        for _ in range(2):
            np.testing.assert_allclose(opshap.attribute(nested, 8, "exact").values, WEIGHTS, rtol=0, atol=1e-12)
        self.assertEqual((kept().starts, kept()._inner.starts), (starts, 1))

    def test_threads_take_turns(self):
        starts, found = kept().starts, []

        def call(factor):
            found.append((factor, opshap.attribute(lambda masks: factor * additive(masks), 8, "exact").values))

        threads = [threading.Thread(target=call, args=(factor,)) for factor in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        for factor, values in found:
            np.testing.assert_allclose(values, factor * WEIGHTS, rtol=0, atol=1e-11)
        self.assertEqual(kept().starts, starts)

    def test_a_forked_child_starts_its_own(self):
        pid = kept().pid
        child = os.fork()
        if child == 0:
            try:
                right = opshap.attribute(additive, 8, "exact") == self.exact and kept().pid != pid
                kept().end()
                os._exit(0 if right else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)
        self.assertEqual(kept().pid, pid)

    def test_the_interpreters_exit_ends_it(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import opshap; from opshap import games;"
                   "opshap.attribute(lambda m: m @ [1, 2], 2, 'exact'); print(*[k.pid for k in games._kept.values()])")
        run = subprocess.run([sys.executable, "-c", program, str(ROOT / "python")], capture_output=True, check=True,
                             env={**os.environ, "OPSHAP": program_path(None)})
        with self.assertRaises(ProcessLookupError):
            os.kill(int(run.stdout), 0)

    def test_relative_paths_begin_where_the_caller_is(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "no_peer").mkdir()
            try:
                os.chdir(folder)
                with self.assertRaisesRegex(opshap.OpshapError, "no_peer/plugin.toml|plugin.toml"):
                    opshap.attribute(additive, 8, "peer:no_peer", 40)
                os.chdir("no_peer")
                with self.assertRaisesRegex(opshap.OpshapError, "no_peer"):
                    opshap.attribute(additive, 8, "peer:../no_peer", 40)
            finally:
                os.chdir(before)
        self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)

    def test_options_of_one_call_do_not_reach_the_next(self):
        one = opshap.attribute(additive, 8, "permutation", 40, seed=5, threads=1)
        self.assertEqual(one.seed, 5)
        self.assertEqual(opshap.attribute(additive, 8, "permutation", 40).seed, 42)
        with self.assertRaises(opshap.OpshapError) as caught:
            opshap.attribute(additive, 8, "permutation", 40, nonsense=1)
        self.assertEqual(caught.exception.code, 2)
        self.assertEqual(opshap.attribute(additive, 8, "exact"), self.exact)


class GamesTest(unittest.TestCase):
    def test_several_columns_are_several_games_of_the_same_evaluations(self):
        rows = []

        def columns(masks):
            rows.extend(map(bytes, masks))
            return np.stack([additive(masks), -2 * additive(masks), masks[:, 0] * masks[:, 1]], 1)

        found = opshap.attribute(columns, 8, "permutation_antithetic", 60, seed=1)
        self.assertEqual(found.values.shape, (3, 8))
        np.testing.assert_allclose(found.values[:2], [WEIGHTS, -2 * WEIGHTS], rtol=0, atol=1e-12)
        alone = opshap.attribute(lambda masks: masks[:, 0] * masks[:, 1], 8, "permutation_antithetic", 60, seed=1)
        np.testing.assert_array_equal(found.values[2], alone.values)
        np.testing.assert_array_equal(found[2].values, alone.values)
        self.assertLessEqual(len(rows), found.distinct[0] + 1)  # and the one that is asked again
        self.assertEqual(len(set(rows)), len(rows) - 1)
        self.assertEqual(found.to_dict()["dims"], ["game", "player"])
        self.assertIn("3 games of 8 players", repr(found))

    def test_methods_are_listed(self):
        names = {method["name"]: method["access"] for method in opshap.methods()}
        self.assertEqual((names["permutation"], names["integrated_gradients"]), ("values", "gradient"))

    def test_what_is_no_opshap_is_named(self):
        with self.assertRaisesRegex(opshap.OpshapError, "program=/bin/ls .does not answer as opshap does"):
            opshap.attribute(additive, 8, program="/bin/ls")
        self.assertEqual(program_path(os.path.dirname(program_path())), program_path(), "a folder has the program")
        with self.assertRaisesRegex(FileNotFoundError, "is not there, or no program"):
            program_path("/nowhere/opshap")

    def test_without_a_method_there_is_an_answer(self):
        found = opshap.attribute(additive, 8)
        self.assertEqual((found.method, found.method_chosen), ("exact", True))

    def test_references_and_comparisons(self):
        found = opshap.reference(additive, 8, relative_error=0.1)
        np.testing.assert_allclose(found["values"], WEIGHTS, rtol=0, atol=1e-12)
        compared = opshap.compare(additive, 8, ["permutation", "msr"], [40, "8n"], repeats=2)
        self.assertEqual(compared["budgets"], [40, 64])
        self.assertEqual({row["method"] for row in compared["rows"]}, {"permutation", "msr"})
        missed = opshap.reference(lambda masks: (masks @ np.linspace(-1, 2, 30)) ** 3, 30, relative_error=1e-6,
                                  max_evaluations=2000)
        self.assertFalse(missed["reached"])
        self.assertIn("less than was asked for", repr(missed))
        self.assertIn("8 players", repr(found))
        self.assertEqual(set(compared.medians()["msr"]), {40, 64})
        self.assertRegex(str(compared), r"(?s)method +40 +64.*msr +[0-9].*truth is exact")
        boom = ZeroDivisionError("mine")

        def raising(masks):
            raise boom

        for call in (lambda: opshap.reference(raising, 8), lambda: opshap.compare(raising, 8, "msr", [40])):
            with self.assertRaises(ZeroDivisionError) as caught:
                call()
            self.assertIs(caught.exception, boom)


class OperatorTest(unittest.TestCase):
    def setUp(self):
        try:
            self.op = opshap.load(MODELS / "line_channels.safetensors")
        except opshap.OpshapError as error:
            if error.code == 4:
                self.skipTest("built without LibTorch")
            raise
        self.u, self.baseline, self.exact = (np.load(MODELS / f"line_channels.{name}.npy")
                                             for name in ("u", "b", "exact"))
        self.asked = {"query": 13, "players": 5, "baseline": self.baseline, "method": "exact"}

    def test_models_of_neuraloperator_have_pythons_own_exact_values(self):
        for case in json.loads((MODELS / "cases.json").read_text()):
            op = opshap.load(MODELS / f"{case['name']}.safetensors")
            u, baseline, exact, y = (np.load(MODELS / f"{case['name']}.{name}.npy")
                                     for name in ("u", "b", "exact", "y"))
            found = op.attribute(u, query=case["query"], players=case["players"], baseline=baseline, method="exact")
            # Python's values are of float32 evaluations: 5e-5 of the largest is what users may rely on.
            self.assertLess(np.abs(found.values - exact).max(), 5e-5 * np.abs(exact).max(), case["name"])
            self.assertEqual(op(u).shape, y.shape)
            np.testing.assert_allclose(op(u), y, rtol=0, atol=5e-5 * np.abs(y).max())
            self.assertIn("fno", repr(op))

    def test_one_process_keeps_the_model(self):
        first = self.op.attribute(self.u, **self.asked)
        for _ in range(5):
            self.assertEqual(self.op.attribute(self.u, **self.asked), first)
        self.assertEqual(self.op._kept.starts, 1)

    def test_a_model_whose_file_has_changed_is_loaded_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            path.write_bytes((MODELS / "line_channels.safetensors").read_bytes())
            op = opshap.load(path)
            before = op(self.u)
            content = bytearray(path.read_bytes())
            content[-2] ^= 1  # a digit of the last tensor
            path.with_suffix(".new").write_bytes(content)
            path.with_suffix(".new").rename(path)
            self.assertFalse(np.array_equal(op(self.u), before))

    def test_batches_queries_and_targets_have_their_axes(self):
        asked = {"players": 5, "baseline": self.baseline, "method": "exact"}
        one = self.op.attribute(self.u, query=3, **asked)
        both = self.op.attribute(np.stack([self.u, self.u]), query=3, **asked)
        np.testing.assert_array_equal(both.values, [one.values, one.values])
        self.assertEqual(both[1].values.tolist(), one.values.tolist())
        everywhere = self.op.attribute(self.u, query="all", **asked)
        self.assertEqual(everywhere.values.shape, (20, 5))
        np.testing.assert_array_equal(everywhere.values[3], one.values)
        weights = np.zeros(20)
        weights[3] = 1
        found = self.op.attribute(self.u, target=[weights, "mean:2..6"], **asked)
        np.testing.assert_allclose(found.values[0], one.values, rtol=0, atol=5e-5 * np.abs(one.values).max())
        np.testing.assert_allclose(found.values[1], everywhere.values[2:6].mean(0), rtol=0,
                                   atol=5e-5 * np.abs(everywhere.values).max())
        self.assertEqual(self.op.attribute(self.u, target=weights, **asked).values.shape, (5,))

    def test_players_may_have_labels_and_inputs_any_real_type(self):
        labels = np.arange(20) // 4
        self.assertEqual(self.op.attribute(self.u, query=13, partition=labels, baseline=self.baseline).values.tolist(),
                         self.op.attribute(self.u, **self.asked).values.tolist())
        self.op.attribute(self.u.astype(np.float32).tolist(), query=np.int64(3), players=np.int8(5))

    def test_a_baseline_is_a_word_numbers_or_a_field(self):
        def values(baseline):
            return self.op.attribute(self.u, query=13, players=5, method="exact", baseline=baseline).values.tolist()

        constants = np.ones_like(self.u) * [[-0.5], [2]]
        self.assertEqual(values([-0.5, 2]), values(constants))
        self.assertEqual(values(np.float32([-0.5, 2])), values(constants))
        self.assertEqual(values("rest:gray_scott2d"), values([1, 0]))
        self.assertEqual(values([0, 0]), values(0))
        self.assertNotEqual(values("blur"), values("blur:0.4"))
        for bad, words in ((1, "channels of the input: 2"), ("rest", "rest:NAME"), ("blur:3", "blur:3")):
            with self.assertRaisesRegex(opshap.OpshapError, words):
                values(bad)

    def test_references_and_comparisons(self):
        asked = {"query": 13, "players": 5, "baseline": self.baseline}
        found = self.op.reference(self.u, **asked)
        np.testing.assert_allclose(found["values"], self.exact, rtol=0, atol=5e-5 * np.abs(self.exact).max())
        self.assertEqual(self.op.compare(self.u, ["permutation"], [16], repeats=1, **asked)["players"], 5)

    def test_without_a_method_the_answer_says_how_far_off_it_is(self):
        found = self.op.attribute(self.u, query=13, tolerance=0.2)
        self.assertTrue(found.method_chosen)
        self.assertEqual((found.method, found.error_bar), (found.steps[-1]["method"], found.steps[-1]["error_bar"]))
        self.assertIn("(chosen)", repr(found))
        self.assertEqual(self.op.attribute(self.u, query=13, tolerance=0.2), found)
        several = self.op.attribute(self.u, query="all", tolerance=0.2)
        self.assertEqual((several.error_bar.shape, several[13].error_bar), ((20,), found.error_bar))
        self.assertEqual(sum(step["answers"] for step in several.steps), 20)
        second = self.op.attribute(self.u, query=13, method="diagonal_second_order")
        self.assertFalse(second.method_chosen)
        self.assertIn("relative error about", repr(second))

    def test_threads_share_an_operator_and_each_gets_its_own_answer(self):
        inputs = [np.random.default_rng(i).normal(size=self.u.shape) for i in range(8)]
        right = [(self.op(u), self.op.attribute(u, query=3, method="mean_field").values) for u in inputs]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda u: (self.op(u), self.op.attribute(u, query=3, method="mean_field").values),
                                    inputs * 5))
        for number, found in enumerate(answers):
            for one, other in zip(found, right[number % 8]):
                np.testing.assert_array_equal(one, other)

    def test_what_is_not_known_is_said(self):
        self.assertIn("error not known", repr(self.op.attribute(self.u, query=13, method="mean_field")))
        self.assertNotIn("not known", repr(self.op.attribute(self.u, **self.asked)))
        self.assertIn("2 channels to 1", repr(self.op))
        self.assertEqual((self.op.in_channels, self.op.out_channels, self.op.dimension), (2, 1, 1))
        weights = np.zeros(20)
        weights[3] = 1
        self.assertEqual(self.op.attribute(self.u, target=["mean:2..6", weights], players=5).targets,
                         ["mean:2..6", "weights 1"])
        # On two arrays it is `compare` that says who has no rank, and why.
        compared = self.op.compare(self.u, ["permutation", "mean_field"], ["4n"], query=13, repeats=1)
        self.assertEqual([one["method"] for one in compared["not_ranked"]], ["mean_field"])
        self.assertRegex(str(compared), r"mean_field +- +[0-9]")

    def test_files_of_a_killed_process_are_removed_by_the_next_one(self):
        program = "import opshap, os, sys; op = opshap.load(sys.argv[1]); print(op._files, flush=True); os._exit(0)"
        left = subprocess.run([sys.executable, "-c", program, str(MODELS / "line_channels.safetensors")], check=True,
                              capture_output=True, text=True, cwd=ROOT / "python").stdout.strip()
        self.assertTrue(os.path.isdir(left))
        ours = opshap.load(MODELS / "line_channels.safetensors")
        self.assertFalse(os.path.exists(left))
        self.assertTrue(os.path.isdir(self.op._files) and os.path.isdir(ours._files), "those of the living stay")

    def test_refusals_name_the_argument(self):
        for words, call in (("u: shape", lambda: self.op(np.zeros((3, 3, 20)))),
                            ("baseline: ", lambda: self.op.attribute(self.u, query=3, baseline=np.zeros((7, 20)))),
                            ("0..19", lambda: self.op.attribute(self.u, target="mean:5..99"))):
            with self.assertRaisesRegex(opshap.OpshapError, words):
                call()
        with self.assertRaises(FileNotFoundError):
            opshap.load("nowhere.safetensors")
        self.assertEqual(self.op.attribute(self.u, **self.asked), self.op.attribute(self.u, **self.asked))


if __name__ == "__main__":
    unittest.main()
