"""Methods of opshap as functions. OPSHAP or the search path says where the program is."""

import json
import os
import pathlib
import pickle
import signal
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from opshap import Attribution, OpshapError, attribute
from opshap_peer import PeerGame, ProtocolError, game
from opshap.kept import program_path

WEIGHTS = np.array([1.0, -2, 4, 0.5, 3])
ROUNDING = 1e-12  # a few hundred roundings of numbers below 10


def additive(masks):
    return 0.5 + masks @ WEIGHTS


def square(masks):
    return (masks @ WEIGHTS) ** 2


def square_gradients(nodes):
    return 2 * np.outer(nodes * WEIGHTS.sum(), WEIGHTS)


class AttributeTest(unittest.TestCase):
    def test_a_closure_gets_its_exact_values(self):
        found = attribute(lambda masks: square(masks), 5, "exact")
        # The Shapley value of a square of a sum is w_i times the sum.
        np.testing.assert_allclose(found.values, WEIGHTS * WEIGHTS.sum(), rtol=0, atol=ROUNDING * 50)
        self.assertTrue(found.exact)
        self.assertIsNone(found.standard_errors)
        self.assertEqual((found.method, found.distinct, found.empty), ("exact", 32, 0))
        self.assertAlmostEqual(found.grand, WEIGHTS.sum() ** 2, delta=ROUNDING * 50)

    def test_a_budget_is_kept_and_counted_in_distinct_coalitions(self):
        asked = set()

        def counted(masks):
            asked.update(map(bytes, masks))
            return square(masks)

        found = attribute(counted, 5, "permutation", 14, seed=3)
        self.assertEqual(len(asked), found.distinct)
        self.assertLessEqual(found.distinct, 14)
        self.assertEqual(found.standard_errors.shape, (5,))
        self.assertAlmostEqual(found.values.sum(), found.grand - found.empty, delta=ROUNDING * 50)

    def test_the_seed_makes_the_random_numbers(self):
        first, second, other = (attribute(square, 5, "permutation", 14, seed=seed).values for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, second)
        self.assertFalse(np.array_equal(first, other))

    def test_gradients_go_to_methods_that_want_them(self):
        found = attribute(square, 5, "integrated_gradients", gradients=square_gradients)
        # The diagonal formula of a square is its Shapley value: the integrand is linear and the rule a midpoint one.
        np.testing.assert_allclose(found.values, WEIGHTS * WEIGHTS.sum(), rtol=0, atol=ROUNDING * 50)
        self.assertGreater(found.gradients, 0)

    def test_batches_are_as_small_as_asked_for(self):
        sizes = []

        def noted(masks):
            sizes.append(len(masks))
            return additive(masks)

        attribute(noted, 5, "exact", max_batch=7)
        self.assertEqual(max(sizes), 7)
        self.assertEqual(sum(sizes), 32 + 1, "one coalition is asked again, so that noise is found out")

    def test_noise_is_found_out_and_nothing_is_called_exact(self):
        rng = np.random.default_rng(1)
        quiet = attribute(additive, 5, "exact")
        self.assertEqual((quiet.exact, quiet.repeated, quiet.noise, quiet.evaluations), (True, 1, None, 32))
        noisy = attribute(lambda masks: additive(masks) + rng.normal(size=len(masks)), 5, "exact")
        self.assertFalse(noisy.exact)
        self.assertGreater(noisy.noise["relative"], 1e-6)

    def test_a_decorated_game_knows_its_players(self):
        made = game(5)(additive)
        self.assertIsInstance(made, PeerGame)
        np.testing.assert_allclose(attribute(made, 5, "exact").values, WEIGHTS, rtol=0, atol=ROUNDING)
        with self.assertRaisesRegex(ValueError, "n=6"):
            attribute(made, 6, "exact")

    def test_an_exception_of_the_game_comes_out(self):
        calls = []

        def moody(masks):
            calls.append(len(masks))
            if len(calls) == 2:
                raise ZeroDivisionError("the model is gone")
            return additive(masks)

        with self.assertRaisesRegex(ZeroDivisionError, "the model is gone"):
            attribute(moody, 5, "exact", max_batch=4)
        self.assertEqual(len(calls), 2)

    def test_what_a_function_raises_is_the_same_object_and_the_next_call_is_right(self):
        class Own(BaseException):
            pass

        def raising(error):
            def function(asked):
                raise error
            return function

        kinds = (BrokenPipeError, ProtocolError, Own, KeyboardInterrupt, StopIteration, MemoryError)
        for error in map(lambda kind: kind("mine"), kinds):
            with self.subTest(repr(error)), self.assertRaises(BaseException) as caught:
                attribute(raising(error), 5, "exact")
            self.assertIs(caught.exception, error)
        for error in (BrokenPipeError("mine"), ProtocolError("mine"), Own("mine")):
            with self.subTest(repr(error), of="gradients"), self.assertRaises(BaseException) as caught:
                attribute(square, 5, "integrated_gradients", gradients=raising(error))
            self.assertIs(caught.exception, error)
        np.testing.assert_allclose(attribute(additive, 5, "exact").values, WEIGHTS, rtol=0, atol=ROUNDING)

    def test_a_program_that_dies_under_the_function_is_no_exception_of_the_function(self):
        with tempfile.TemporaryDirectory() as folder:
            killed = pathlib.Path(folder) / "killed"
            # The program writes its number down before it becomes opshap.
            killed.write_text(f'#!/bin/sh\necho $$ > {folder}/number\nexec {program_path(None)} "$@"\n')
            killed.chmod(0o700)

            def kills(masks):
                os.kill(int((pathlib.Path(folder) / "number").read_text()), signal.SIGKILL)
                return np.zeros(len(masks))

            with self.assertRaises(OpshapError) as caught:
                attribute(kills, 5, "exact", program=killed)
        self.assertEqual(caught.exception.code, -signal.SIGKILL)

    def test_a_game_of_a_wrong_shape_is_refused(self):
        for wrong in (lambda masks: np.zeros((len(masks), 2, 2)), lambda masks: np.zeros(len(masks) + 1)):
            with self.assertRaisesRegex(ValueError, "needs"):
                attribute(wrong, 5, "exact")

    def test_values_are_real_numbers_of_any_type(self):
        whole = np.array([1, 2, 4, 5, 3])
        for name, values in (("float32", lambda masks: (masks @ whole).astype(np.float32)),
                             ("float16", lambda masks: (masks @ whole).astype(np.float16)),
                             ("list", lambda masks: (masks @ whole).tolist()), ("int", lambda masks: masks @ whole),
                             ("column", lambda masks: (masks @ whole)[:, None]),
                             ("objects", lambda masks: (masks @ whole).astype(object)),
                             ("no imaginary part", lambda masks: masks @ whole + 0j),
                             ("nothing hidden", lambda masks: np.ma.array(masks @ whole))):
            with self.subTest(name):
                np.testing.assert_allclose(attribute(values, 5, "exact").values, whole, rtol=0, atol=ROUNDING)
        found = attribute(lambda masks: masks[:, 1], 5, "exact")
        np.testing.assert_allclose(found.values, [0, 1, 0, 0, 0], rtol=0, atol=ROUNDING)

    def test_values_that_would_lose_something_are_refused_by_name(self):
        for kind, words, values in (
                (ValueError, "imaginary", lambda masks: masks @ WEIGHTS + 1j),
                (ValueError, "hides", lambda masks: np.ma.array(masks @ WEIGHTS, mask=masks[:, 0] >= 0)),
                (ValueError, "hides", lambda masks: [np.ma.masked] * len(masks)),
                (ValueError, "beyond", lambda masks: [10**400] * len(masks)),
                (ValueError, "needs", lambda masks: np.zeros((len(masks) + 1, 3))),
                (TypeError, "'1'", lambda masks: ["1"] * len(masks)),
                (TypeError, "no number", lambda masks: np.full(len(masks), "1", object)),
                (TypeError, "None", lambda masks: None)):
            with self.assertRaisesRegex(kind, f"game: values.*{words}"):
                attribute(values, 5, "exact")

    def test_numbers_of_numpy_are_numbers(self):
        found = attribute(square, np.int64(5), "permutation", np.int32(14), seed=np.uint64(3), max_batch=np.int16(7),
                          threads=np.int8(1))
        self.assertEqual(found, attribute(square, 5, "permutation", 14.0, seed=3, max_batch=7, threads=1))
        made = game(np.int64(5), max_batch=np.int64(4))(additive)
        np.testing.assert_allclose(attribute(made, 5, "exact").values, WEIGHTS, rtol=0, atol=ROUNDING)

    def test_numbers_that_cannot_be_are_refused_before_anything_starts(self):
        for options, name in (({"n": 0}, "n=0"), ({"n": 65537}, "n=65537"), ({"max_batch": 0}, "max_batch=0"),
                              ({"n": 2.5}, "n=2.5"), ({"n": 10**5000}, "n=an integer of"),
                              ({"threads": 0}, "threads=0"), ({"nodes": 0}, "nodes=0"),
                              ({"seed": -1}, "seed=-1"), ({"seed": 2**64}, f"seed={2**64}"),
                              ({"seed": float("nan")}, "seed=nan"), ({"budget": 2**63}, "budget=")):
            # An interpreter that ends without a word would give another exception.
            with self.assertRaisesRegex(ValueError, rf"attribute: {name}.*\(.*\)\. Give"):
                attribute(additive, **{"n": 5, "method": "exact", "program": "/bin/false", **options})
        for options, name in (({"n": "5"}, "n='5'"), ({"n": True}, "n=True"), ({"seed": None}, "seed=None"),
                              ({"game": 3}, "game=int"), ({"method": 7}, "method=7"),
                              ({"gradients": 3}, "gradients=int")):
            with self.assertRaisesRegex(TypeError, f"attribute: {name}"):
                attribute(**{"game": additive, "n": 5, "method": "exact", "program": "/bin/false", **options})

    def test_each_seed_up_to_the_largest_is_another_one(self):
        largest, before = (attribute(square, 5, "permutation", 14, seed=2**64 - k) for k in (1, 2))
        self.assertEqual((largest.seed, before.seed), (2**64 - 1, 2**64 - 2))
        self.assertFalse(np.array_equal(largest.values, before.values))

    def test_options_have_the_names_of_the_command_line(self):
        found = attribute(lambda masks: np.linspace(-1, 2, 20) @ masks.T, 20, "kernel_shap", 12, minimum_norm=True)
        self.assertEqual(found.minimum_norm["needed_rank"], 19)
        self.assertLess(found.minimum_norm["rank"], 19)
        self.assertIsNone(attribute(additive, 5, "exact").minimum_norm)
        quadrature = attribute(square, 5, "integrated_gradients", gradients=square_gradients, nodes=3,
                               rule="gauss_legendre")
        self.assertEqual(quadrature.gradients, 3)
        np.testing.assert_allclose(quadrature.values, WEIGHTS * WEIGHTS.sum(), rtol=0, atol=ROUNDING * 50)
        with self.assertRaisesRegex(OpshapError, "--minimal-norm"):
            attribute(additive, 5, "exact", minimal_norm=True)
        with self.assertRaisesRegex(OpshapError, "--minimum-norm"):
            attribute(additive, 5, "exact", minimum_norm=True)
        made = game(5)(additive)
        for option in ({"gradients": square_gradients}, {"max_batch": 7}):
            with self.assertRaisesRegex(ValueError, f"attribute: {next(iter(option))}"):
                attribute(made, 5, "exact", **option)

    def test_a_program_that_does_not_greet_is_heard(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "slow"
            program.write_text('#!/bin/sh\necho "opshap: a=1 (why). What to do." >&2\nexit 2\n')
            program.chmod(0o700)
            with self.assertRaises(OpshapError) as caught:
                attribute(additive, 5, "exact", program=program)
        self.assertEqual((str(caught.exception), caught.exception.code), ("opshap: a=1 (why). What to do.", 2))

    def test_progress_is_a_bar_where_it_is_asked_for(self):
        counts = []

        class Bar:  # of tqdm, which need not be installed
            def __init__(self, total, unit):
                self.total = total
                counts.append(self)
                self.rows, self.closed = 0, False

            def update(self, rows):
                self.rows += rows

            def __enter__(self):
                return self

            def __exit__(self, *why):
                self.closed = True

        named = {name: types.SimpleNamespace(tqdm=Bar) for name in ("tqdm", "tqdm.auto")}
        with unittest.mock.patch.dict(sys.modules, named):
            attribute(additive, 5, "exact", progress=True)
            attribute(square, 5, "integrated_gradients", gradients=square_gradients, nodes=3, progress=True)
            with self.assertRaises(ZeroDivisionError):
                attribute(lambda masks: 1 / 0, 5, "permutation", 14, progress=True)
            attribute(additive, 5, "exact")
        self.assertEqual([(bar.total, bar.rows, bar.closed) for bar in counts],
                         [(32, 32, True), (None, 2 + 3, True), (14, 0, True)])
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            with self.assertRaisesRegex(ImportError, "pip install tqdm"):
                attribute(additive, 5, "exact", progress=True)

    def test_results_compare_print_and_turn_into_lists(self):
        one, same, other = (attribute(square, 5, "permutation", 14, seed=seed) for seed in (1, 1, 2))
        exact = attribute(square, 5, "exact")
        self.assertIs(one == same, True)
        self.assertIs(one == other, False)
        self.assertIs(one != exact, True)
        self.assertIs(one == 3, False)
        with self.assertRaisesRegex(TypeError, "unhashable type: 'Attribution'"):
            hash(one)
        self.assertAlmostEqual(one.efficiency_gap, one.values.sum() - (one.grand - one.empty), delta=ROUNDING * 50)
        self.assertEqual(one.path, "peer:caller")
        self.assertEqual(exact.error_bar, 0)
        self.assertAlmostEqual(one.error_bar, np.linalg.norm(one.standard_errors) / np.linalg.norm(one.values),
                               delta=ROUNDING)
        self.assertLess(len(repr(one)), 200)
        self.assertRegex(repr(one), r"^Attribution\(permutation, 5 players, \{1: -30 ± 0, .* ± .*, \.\.\.\}, "
                                    r"\d+ evaluations\)$")
        self.assertRegex(repr(exact), r"\{2: 26, 4: 19.5, 1: -13, \.\.\.\}, 32 evaluations")
        as_dict = json.loads(json.dumps(one.to_dict()))
        self.assertEqual((as_dict["dims"], as_dict["data"]), (["player"], one.values.tolist()))
        self.assertEqual(as_dict["coords"]["standard_error"]["data"], one.standard_errors.tolist())
        self.assertEqual(as_dict["attrs"]["method"], "permutation")
        self.assertEqual(json.loads(json.dumps(exact.to_dict()))["coords"].keys(), {"player"})

    def test_an_error_bar_needs_no_squares(self):
        def bar(values, errors):
            return Attribution("m", np.array(values), np.array(errors), 0, 1, 0, 2, 2, 0, False, 0, {}).error_bar

        for scale in (2.0**-900, 1.0, 2.0**900):  # whose squares are 0, 1 and infinite
            self.assertAlmostEqual(bar([3 * scale, 4 * scale], [0.6 * scale, 0.8 * scale]), 0.2, delta=1e-15)
        self.assertEqual(bar([0.0, 0.0], [0.0, 0.0]), 0)
        self.assertIsNone(bar([0.0, 0.0], [0.0, 1.0]))

    def test_a_result_is_an_array_of_xarray_and_a_plot_of_matplotlib(self):
        found = attribute(square, 5, "permutation", 14)
        try:
            import xarray
        except ImportError:
            pass
        else:
            made = xarray.DataArray.from_dict(found.to_dict())
            np.testing.assert_array_equal(made.values, found.values)
            np.testing.assert_array_equal(made.standard_error, found.standard_errors)
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(ImportError, "pip install matplotlib"):
                found.plot()
            return
        matplotlib.use("Agg")
        axes = found.plot(names=list("abcde"))
        self.assertEqual([patch.get_height() for patch in axes.patches], found.values.tolist())
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()], list("abcde"))
        many = attribute(lambda masks: masks.sum(1), 101, "permutation", 300)
        self.assertIs(many.plot(axes), axes)
        axes.figure.savefig(os.devnull, format="png")

    def test_what_opshap_refuses_has_its_words_and_its_exit_code(self):
        for arguments, words, code in ((("permutatoin", 14), "Did you mean permutation", 2),
                                       (("permutation",), "--budget", 2),
                                       (("integrated_gradients",), "gradient", 2)):
            with self.assertRaisesRegex(OpshapError, words) as caught:
                attribute(additive, 5, *arguments)
            self.assertEqual(caught.exception.code, code)
            copied = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(copied), copied.code), (str(caught.exception), code))

    def test_without_the_program_it_says_what_is_missing(self):
        with self.assertRaisesRegex(FileNotFoundError, "OPSHAP"):
            attribute(additive, 5, "exact", program="/nowhere/opshap")

    def in_folder(self, folder):
        """Temporary files go there until the end of the test."""
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(folder)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            self.in_folder(folder)
            attribute(additive, 5, "exact")  # starts what is kept
            before = sorted(os.listdir("/proc/self/fd"))
            attribute(additive, 5, "exact")
            with self.assertRaises(OpshapError):
                attribute(additive, 5, "no_method")
            with self.assertRaises(ZeroDivisionError):
                attribute(lambda masks: 1 / 0, 5, "exact")
            self.assertEqual(os.waitpid(-1, os.WNOHANG), (0, 0))  # nothing has ended that was not waited for
            self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)
            self.assertEqual(os.listdir(folder), [])

    def test_an_interrupt_ends_the_program(self):
        def endless(masks):
            time.sleep(60)

        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            attribute(endless, 5, "exact")
        self.assertLess(time.monotonic() - start, 20)  # patience of a busy machine; the game would take 60 s

    def test_a_long_temporary_folder_is_no_obstacle(self):
        with tempfile.TemporaryDirectory() as folder:
            long = pathlib.Path(folder) / ("long" * 40)
            long.mkdir()
            self.in_folder(long)
            np.testing.assert_allclose(attribute(additive, 5, "exact").values, WEIGHTS, rtol=0, atol=ROUNDING)

    def test_a_result_turns_into_the_types_of_shap_and_shapiq(self):
        found = attribute(additive, 5, "exact")
        for package, convert in (("shap", found.to_shap), ("shapiq", found.to_shapiq)):
            try:
                __import__(package)
            except ImportError:
                with self.assertRaisesRegex(ImportError, f"pip install {package}"):
                    convert()
                continue
            with self.subTest(package):
                made = convert()
                values = made.values if package == "shap" else [made[(i,)] for i in range(5)]
                np.testing.assert_array_equal(values, found.values)
                self.assertEqual(made.base_values if package == "shap" else made.baseline_value, found.empty)


if __name__ == "__main__":
    unittest.main()
