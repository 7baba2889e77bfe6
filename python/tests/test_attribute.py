"""Methods of opshap as functions. OPSHAP or the search path says where the program is."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from opshap_peer import OpshapError, PeerGame, attribute, game

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
        self.assertEqual(sum(sizes), 32)

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

    def test_a_game_of_a_wrong_shape_is_refused(self):
        with self.assertRaisesRegex(ValueError, "needs"):
            attribute(lambda masks: masks.astype(float), 5, "exact")

    def test_what_opshap_refuses_has_its_words_and_its_exit_code(self):
        for arguments, words, code in ((("permutatoin", 14), "Did you mean permutation", 2),
                                       (("permutation",), "--budget", 2),
                                       (("integrated_gradients",), "gradient", 2)):
            with self.assertRaisesRegex(OpshapError, words) as caught:
                attribute(additive, 5, *arguments)
            self.assertEqual(caught.exception.code, code)

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
            before = sorted(os.listdir("/proc/self/fd"))
            attribute(additive, 5, "exact")
            with self.assertRaises(OpshapError):
                attribute(additive, 5, "no_method")
            with self.assertRaises(ZeroDivisionError):
                attribute(lambda masks: 1 / 0, 5, "exact")
            with self.assertRaises(ChildProcessError):  # there is none any more
                os.waitpid(-1, os.WNOHANG)
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
