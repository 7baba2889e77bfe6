"""The package against a host of a few lines: frames, budgets, stops and failures."""

import contextlib
import io
import json
import os
import pathlib
import sys
import threading
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from opshap_peer import BudgetExceeded, ProtocolError, Refused, estimator, game, operator, torch_game, torch_operator
from opshap_peer.frames import Pipes, bytes_of_masks, bytes_of_numbers, masks_of_bytes, numbers_of_bytes
from opshap_peer.of_shapiq import of_shapiq


class Host:
    """The other end of a served estimator, which runs in a thread."""

    def __init__(self, served):
        to_peer, from_host = os.pipe()
        to_host, from_peer = os.pipe()
        peer = Pipes(os.fdopen(to_peer, "rb"), os.fdopen(from_peer, "wb"))
        self.files = [os.fdopen(to_host, "rb"), os.fdopen(from_host, "wb"), peer._source, peer._sink]
        self.pipes = Pipes(self.files[0], self.files[1])
        self.error = None

        def run():
            try:
                served.serve(peer)
            except Exception as error:
                self.error = error
            with contextlib.suppress(BrokenPipeError):  # of what nobody has read
                peer._sink.close()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        self.hello, _ = self.pipes.read()

    def close(self):
        self.files[1].close()
        self.thread.join(10)
        for file in self.files:
            file.close()

    def task(self, players, budget, seed=1, **more):
        self.pipes.write({"type": "task", "id": 7, "n": players, "budget": budget, "seed": seed, "v_empty": 0.0,
                          "v_full": float(players), **more})

    def answer_until_the_end(self, players, budget, value):
        """Serves evals of v = value(masks), and returns the last frame and all coalitions that were asked for."""
        known = {bytes_of_masks(np.zeros((1, players), bool)), bytes_of_masks(np.ones((1, players), bool))}
        while True:
            header, payload = self.pipes.read()
            if header is None or header["type"] in ("result", "fail"):
                return header, payload, known
            if header["type"] != "eval":
                continue
            masks = masks_of_bytes(payload, players, header["count"])
            fresh = {bytes_of_masks(row[None]) for row in masks} - known
            if len(known) + len(fresh) > budget:
                self.pipes.write({"type": "error", "id": 7, "code": "budget", "detail": "too many"})
                continue
            known |= fresh
            self.pipes.write({"type": "values", "id": 7, "count": len(masks), "charged": len(fresh),
                              "left": budget - len(known)}, bytes_of_numbers(value(masks)))


class PeerTest(unittest.TestCase):
    def host(self, function):
        host = Host(estimator(function))
        self.addCleanup(host.close)
        return host

    def test_masks_are_packed_player_by_player_from_the_lowest_bit(self):
        masks = np.zeros((2, 10), bool)
        masks[0, [0, 9]] = True
        self.assertEqual(bytes_of_masks(masks), bytes([1, 2, 0, 0]))
        rng = np.random.default_rng(0)
        for players in (1, 7, 8, 9, 64, 1000):
            masks = rng.random((5, players)) < 0.5
            np.testing.assert_array_equal(masks_of_bytes(bytes_of_masks(masks), players, 5), masks)

    def test_an_estimator_answers_with_its_values_and_spends_its_budget(self):
        def leave_one_out(game, rng):
            self.assertEqual(game.left, 6)
            values = game.grand - game(~np.eye(game.players, dtype=bool))
            self.assertEqual(game.left, 2)
            return values

        host = self.host(leave_one_out)
        self.assertEqual(host.hello["protocol"], 1)
        self.assertEqual(host.hello["name"], "leave_one_out")
        host.task(4, 8)
        header, payload, known = host.answer_until_the_end(4, 8, lambda masks: masks @ np.array([1.0, -2, 3, 2]))
        self.assertEqual(header["type"], "result")
        # v(N) = n here, and the weights add up to 4 = n, so each is what its player adds.
        np.testing.assert_array_equal(numbers_of_bytes(payload, 4), [1, -2, 3, 2])
        self.assertEqual(len(known), 6)

    def test_standard_errors_go_behind_the_values(self):
        host = self.host(lambda game, rng: (np.ones(game.players), np.zeros(game.players)))
        host.task(3, 2)
        header, payload, _ = host.answer_until_the_end(3, 2, None)
        self.assertTrue(header["standard_errors"])
        np.testing.assert_array_equal(numbers_of_bytes(payload, 6), [1, 1, 1, 0, 0, 0])

    def test_a_refused_request_raises_and_the_task_can_go_on(self):
        def greedy(game, rng):
            with self.assertRaises(BudgetExceeded):
                game(np.eye(4, dtype=bool))
            return game(np.eye(4, dtype=bool)[:1]).repeat(4)

        host = self.host(greedy)
        host.task(4, 3)
        header, payload, _ = host.answer_until_the_end(4, 3, lambda masks: masks.sum(1).astype(float))
        self.assertEqual(header["type"], "result")

    def test_an_exception_fails_its_task_and_not_the_next(self):
        def fails_first(game, rng):
            if game.seed == 1:
                raise ValueError("budget=2 (needs more)")
            return np.zeros(game.players)

        host = self.host(fails_first)
        for seed, kind in ((1, "fail"), (2, "result")):
            host.task(2, 2, seed)
            header, _, _ = host.answer_until_the_end(2, 2, None)
            self.assertEqual(header["type"], kind)
            self.assertNotIn("refused", header)
        self.assertIsNone(host.error)

    def test_a_refusal_says_so_and_prints_nothing(self):
        def refuses(game, rng):
            raise Refused("budget=2 (needs 3)")

        host = self.host(refuses)
        host.task(2, 2)
        header, _, _ = host.answer_until_the_end(2, 2, None)
        self.assertEqual((header["type"], header["refused"], header["reason"]), ("fail", True, "budget=2 (needs 3)"))

    def test_masks_are_booleans_or_numbers_that_are_all_0_or_1(self):
        rows = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
        good = (rows == 1, rows, rows.tolist(), rows.astype(float), rows.astype(np.uint8), rows.astype(object),
                (rows == 1).tolist(), np.ma.array(rows == 1))
        bad = ((ValueError, r".0, 1\]=-1", [[1, -1, -1, 1]]), (ValueError, r".0, 0\]=2", [[2, 0, 3, 1]]),
               (ValueError, "0.5", [[1, 0.5, 0, 0]]), (ValueError, "nan", [[1, np.nan, 0, 0]]),
               (ValueError, "hides", np.ma.array(rows, mask=rows == 1)), (ValueError, "imaginary", rows * 1j),
               (ValueError, "needs", rows[0]), (ValueError, "needs", rows[:, :3]),
               (TypeError, "'0'", np.array([["0", "1", "0", "1"]])), (TypeError, "None", [[None, 1, 0, 1]]),
               (TypeError, "datetime64", np.zeros((1, 4), "datetime64[D]")), (ValueError, "needs", "0101"))
        seen = []

        def asks(game, rng):
            for given in good:
                np.testing.assert_array_equal(game(given), rows @ [8, 4, 2, 1])
            for kind, words, given in bad:
                with self.assertRaisesRegex(kind, f"game: masks.*{words}"):
                    game(given)
                with self.assertRaisesRegex(kind, f"game: masks.*{words}"):
                    made(given)
            return np.zeros(4)

        made = game(4)(lambda masks: seen.append(masks.dtype) or masks.sum(1))
        for given in good:
            np.testing.assert_array_equal(made(given), [2, 2])
        host = self.host(asks)
        host.task(4, 16)
        header, _, known = host.answer_until_the_end(4, 16, lambda masks: masks @ np.array([8.0, 4, 2, 1]))
        self.assertEqual(header["type"], "result", header)
        self.assertEqual(len(known), 4)  # those that were refused reached no host
        self.assertEqual(set(seen), {np.dtype(bool)})

    def test_a_reason_names_the_line_that_failed_and_every_line_of_the_message(self):
        def nested(game, rng):
            def inner():
                np.linalg.inv(np.zeros((2, 2)))  # the frames inside of numpy are not the person's own
            inner()

        line = nested.__code__.co_firstlineno + 2
        place = rf"^\S*test_peer\.py:{line}: "
        told = self.reason(nested)
        self.assertRegex(told, place + "numpy.*LinAlgError: Singular matrix$")

        def several(game, rng):
            raise RuntimeError("first\n  second\n\nthird\n")

        told = self.reason(several)
        self.assertRegex(told, r"test_peer\.py:\d+: RuntimeError: first; second; third$")

        def refuses(game, rng):
            raise Refused("budget=2\n(needs 3)")

        self.assertEqual(self.reason(refuses), "budget=2; (needs 3)")

        def wrong_masks(game, rng):
            return game(np.full((1, game.players), 2))

        line = wrong_masks.__code__.co_firstlineno + 1
        self.assertRegex(self.reason(wrong_masks), rf"test_peer\.py:{line}: ValueError: game: masks")

    def reason(self, function):
        host = self.host(function)
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            host.task(2, 2)
            header, _, _ = host.answer_until_the_end(2, 2, None)
        self.assertEqual(header["type"], "fail")
        self.assertEqual("Traceback" in printed.getvalue(), "refused" not in header)
        return header["reason"]

    def test_a_broken_pipe_of_its_own_fails_a_task_and_a_gone_host_ends_the_program(self):
        def own(game, rng):
            if game.seed == 1:
                raise BrokenPipeError("of a program that it has started")
            return np.zeros(game.players)

        self.assertIn("of a program that it has started", self.reason(own))
        host = self.host(own)
        host.task(2, 2, 1)
        self.assertEqual(host.pipes.read()[0]["type"], "fail")
        host.task(2, 2, 2)
        self.assertEqual(host.pipes.read()[0]["type"], "result")
        gone = Host(estimator(lambda game, rng: game(np.ones((1, 2), bool))[[0, 0]]))
        gone.files[0].close()
        gone.task(2, 2)
        gone.close()
        self.assertIsInstance(gone.error, ProtocolError)

    def test_results_that_are_no_real_numbers_fail_by_name(self):
        for words, found in (("imaginary", np.ones(2) * 1j), ("no number", np.array(["1", "2"], object)),
                             ("hides", np.ma.array(np.ones(2), mask=[True, False])),
                             ("standard errors.*imaginary", (np.ones(2), np.ones(2) * 1j))):
            self.assertRegex(self.reason(lambda game, rng: found), f"Error: game: .*{words}")

    def test_values_of_a_wrong_shape_fail(self):
        host = self.host(lambda game, rng: np.zeros(game.players + 1))
        host.task(2, 2)
        header, _, _ = host.answer_until_the_end(2, 2, None)
        self.assertIn("needs (2,)", header["reason"])

    def test_a_stop_gives_the_last_partial_values(self):
        def endless(game, rng):
            while True:
                game.partial(game(np.ones((1, game.players), bool)).repeat(game.players))

        host = self.host(endless)
        host.task(2, 2)
        header, _ = host.pipes.read()
        host.pipes.write({"type": "values", "id": 7, "count": 1, "left": 0}, bytes_of_numbers([5.0]))
        host.pipes.read()  # the partial values
        host.pipes.read()  # the next eval
        host.pipes.write({"type": "stop", "id": 7, "why": "soft_deadline"})
        header, payload = host.pipes.read()
        self.assertEqual(header["type"], "result")
        np.testing.assert_array_equal(numbers_of_bytes(payload, 2), [5, 5])
        # A second stop that crosses the result is not taken for one of the next task.
        host.pipes.write({"type": "stop", "id": 7, "why": "soft_deadline"})
        host.pipes.write({"type": "bye"})
        host.thread.join(10)
        self.assertIsNone(host.error)

    def test_the_seed_makes_the_random_numbers(self):
        host = self.host(lambda game, rng: rng.random(game.players))
        found = []
        for seed in (3, 3, 4):
            host.task(2, 2, seed)
            found.append(host.answer_until_the_end(2, 2, None)[1])
        self.assertEqual(found[0], found[1])
        self.assertNotEqual(found[0], found[2])

    def test_what_is_no_frame_ends_the_program_with_an_error(self):
        for bytes_sent in (b"hello\n", b"[1]\n", b'{"type":"task","nbytes":-1}\n', b'{"type":"task","nbytes":8}\n1234',
                           b'{"type":"values","id":1}\n', b"{" * 100000 + b"\n", b'{"type":"task"'):
            host = Host(estimator(lambda game, rng: np.zeros(game.players)))
            host.files[1].write(bytes_sent)
            host.close()
            self.assertIsInstance(host.error, ProtocolError, bytes_sent[:40])

    def served_game(self, served):
        host = Host(served)
        self.addCleanup(host.close)
        return host

    def asked(self, host, masks):
        host.pipes.write({"type": "eval", "id": 3, "count": len(masks)}, bytes_of_masks(masks))
        header, payload = host.pipes.read()
        self.assertEqual(header["id"], 3)
        return header, payload

    def test_a_game_answers_coalitions_with_values(self):
        host = self.served_game(game(10)(lambda masks: masks @ np.arange(10.0)))
        self.assertEqual((host.hello["role"], host.hello["players"], host.hello["gradients"]), ("game", 10, False))
        masks = np.random.default_rng(0).random((5, 10)) < 0.5
        header, payload = self.asked(host, masks)
        self.assertEqual(header["type"], "values")
        np.testing.assert_array_equal(numbers_of_bytes(payload, 5), masks @ np.arange(10.0))

    def test_a_question_that_fails_is_not_the_last(self):
        def moody(masks):
            if masks.all():
                raise ValueError("not all of them")
            return np.zeros(len(masks) + masks[0, 0])

        host = self.served_game(game(3)(moody))
        self.assertIn("not all", self.asked(host, np.ones((2, 3), bool))[0]["reason"])
        self.assertIn("needs (1,)", self.asked(host, np.array([[True, False, False]]))[0]["reason"])
        self.assertEqual(self.asked(host, np.zeros((1, 3), bool))[0]["type"], "values")

    def test_numbers_of_a_game_and_an_operator_may_be_those_of_numpy(self):
        host = self.served_game(game(np.int64(3), max_batch=np.int32(7))(lambda masks: masks[:, 0]))
        self.assertEqual((host.hello["players"], host.hello["max_batch"]), (3, 7))
        host = self.served_game(operator(np.int64(1), np.int8(1), np.uint16(1), max_batch=np.int32(7))(
            lambda fields: fields.astype(np.float32)))
        self.assertEqual([host.hello[key] for key in ("dimension", "input_channels", "output_channels", "max_batch")],
                         [1, 1, 1, 7])
        header, found = self.question(host, {"type": "apply", "count": 1, "shape": [4]}, np.arange(4.0))
        np.testing.assert_array_equal(found, np.arange(4))
        for make, name in ((lambda: game(0), "players=0"), (lambda: game(65537), "players=65537"),
                           (lambda: game(3, max_batch=0), "max_batch=0"), (lambda: operator(3), "dimension=3"),
                           (lambda: operator(1, 0), "input_channels=0"), (lambda: operator(1, 1, -1), "channels=-1"),
                           (lambda: operator(1, max_batch=0), "max_batch=0"), (lambda: game(2.5), "players=2.5")):
            with self.assertRaisesRegex(ValueError, name):
                make()(np.abs)

    def test_fields_that_are_no_real_numbers_fail_by_name(self):
        for words, spoiled in (("imaginary", lambda fields: fields * 1j), ("hides", np.ma.masked_less_equal)):
            function = spoiled if words == "imaginary" else lambda fields: spoiled(fields, 1e9)
            host = self.served_game(operator(1)(function))
            with contextlib.redirect_stderr(io.StringIO()):
                header, _ = self.question(host, {"type": "apply", "count": 1, "shape": [4]}, np.ones(4))
                self.assertRegex(header["reason"], f"operator: fields.*{words}")
                scenario = {"type": "scenario", "shape": [4], "players": 2, "point": 2, "channel": 0}
                self.question(host, scenario, np.concatenate([np.ones(4), np.zeros(4), [0, 0, 1, 1]]))
                header, _ = self.question(host, {"type": "eval", "count": 1}, masks=np.ones((1, 2), bool))
                self.assertRegex(header["reason"], f"operator: fields.*{words}")

    def test_a_torch_module_is_a_game_of_its_masked_input(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not there")

        class Square(torch.nn.Module):
            def forward(self, x):
                return x.sum(-1, keepdim=True) ** 2 + 0 * x

        field = np.array([[1.0, 2, 3, 4]])
        host = self.served_game(torch_game(Square(), field, query=2, players=2))
        masks = np.array([[False, False], [True, False], [False, True], [True, True]])
        _, payload = self.asked(host, masks)
        np.testing.assert_allclose(numbers_of_bytes(payload, 4), [0, 9, 49, 100], rtol=1e-6)  # float32
        host.pipes.write({"type": "grad", "id": 3, "count": 1}, bytes_of_numbers([0.5]))
        _, payload = host.pipes.read()
        # The derivative of (3a + 7b)^2 at a = b = 1/2.
        np.testing.assert_allclose(numbers_of_bytes(payload, 2), [30, 70], rtol=1e-6)
        made = torch_game(Square(), field, query=2, players=np.array([1.0, 1, 0, 0]))
        np.testing.assert_allclose(made([[1, 0]]), [49], rtol=1e-6)
        weighted = torch_game(Square(), field, players=2, target=[[1, 0, 0, -0.5]])
        np.testing.assert_allclose(weighted(masks), [0, 4.5, 24.5, 50], rtol=1e-6)
        with self.assertRaisesRegex(ValueError, "game: target="):
            torch_game(Square(), field, players=2, target=[1, 2])(masks)
        for wrong in ({}, {"query": 2, "target": [[1, 0, 0, 0]]}):
            with self.assertRaisesRegex(ValueError, "game: query, target"):
                torch_game(Square(), field, **wrong)
        for players in ([0, 0, 1, -1], [0, 0.5, 1, 1], [0, 1], [0, 0, np.nan, 1], 0):
            with self.assertRaisesRegex(ValueError, "game: players="):
                torch_game(Square(), field, query=2, players=players)
        for name, arrays in (("field", {"field": field + 1j}), ("baseline", {"field": field, "baseline": field + 1j})):
            with self.assertRaisesRegex(ValueError, f"game: {name}="):
                torch_game(Square(), query=2, **arrays)

    def question(self, host, keys, numbers=(), masks=None):
        payload = bytes_of_numbers(numbers) if masks is None else bytes_of_masks(masks)
        host.pipes.write({"id": 4, **keys}, payload)
        header, payload = host.pipes.read()
        self.assertEqual(header["id"], 4)
        return header, np.frombuffer(payload)

    def test_an_operator_gets_its_scenario_once_and_then_masks(self):
        def shifted_square(fields):  # of both channels, at the point before
            return np.roll(fields[:, :1] * fields[:, 1:], 1, axis=-1)

        made = operator(2, input_channels=2)(shifted_square)
        host = self.served_game(made)
        self.assertEqual([host.hello[key] for key in ("role", "dimension", "input_channels", "output_channels",
                                                      "gradients")], ["operator", 2, 2, 1, False])
        fields = np.random.default_rng(0).random((3, 2, 2, 4))
        header, found = self.question(host, {"type": "apply", "count": 3, "shape": [2, 4]}, fields)
        self.assertEqual(header["type"], "fields")
        np.testing.assert_array_equal(found.reshape(3, 1, 2, 4), shifted_square(fields))
        field, baseline = fields[0], fields[1]
        players = np.array([[0, 0, 1, 1], [2, 2, 3, 3]])
        scenario = {"type": "scenario", "shape": [2, 4], "players": 4, "point": 5, "channel": 0}
        numbers = np.concatenate([field.ravel(), baseline.ravel(), players.ravel()])
        self.assertEqual(self.question(host, scenario, numbers)[0]["type"], "ready")
        masks = np.array([[False, False, True, False], [True, True, False, True]])
        _, found = self.question(host, {"type": "eval", "count": 2}, masks=masks)
        # Point 5 is (1, 1), which gets the product at (1, 0): a point of player 2.
        np.testing.assert_array_equal(found, [np.prod(field[:, 1, 0]), np.prod(baseline[:, 1, 0])])

    def test_an_operator_that_is_asked_too_early_or_answers_another_shape_says_so(self):
        host = Host(operator(1)(lambda fields: fields[..., 1:]))
        header, _ = self.question(host, {"type": "apply", "count": 1, "shape": [4]}, np.zeros(4))
        self.assertIn("needs (1, 1, 4)", header["reason"])
        host.pipes.write({"type": "eval", "id": 5, "count": 1}, b"\1")
        host.close()
        self.assertIsInstance(host.error, ProtocolError)

    def test_a_torch_module_is_an_operator_with_gradients(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not there")

        class Square(torch.nn.Module):
            def forward(self, x):
                return x.sum(-1, keepdim=True) ** 2 + 0 * x

        host = self.served_game(torch_operator(Square(), 1))
        field = np.array([1.0, 2, 3, 4])
        _, found = self.question(host, {"type": "vjp", "count": 1, "shape": [4], "point": 2, "channel": 0}, field)
        np.testing.assert_allclose(found, [100, 20, 20, 20, 20], rtol=1e-6)  # float32
        scenario = {"type": "scenario", "shape": [4], "players": 2, "point": 2, "channel": 0}
        self.question(host, scenario, np.concatenate([field, np.zeros(4), [0, 0, 1, 1]]))
        masks = np.array([[True, False], [False, True], [True, True]])
        _, found = self.question(host, {"type": "eval", "count": 3}, masks=masks)
        np.testing.assert_allclose(found, [9, 49, 100], rtol=1e-6)

    def test_whatever_a_host_sends_ends_in_an_error_of_the_protocol_or_an_answer(self):
        """OPSHAP_FUZZED_FRAMES says how many frames, spoiled ones among them."""
        wanted = int(os.environ.get("OPSHAP_FUZZED_FRAMES", 2000))
        rng = np.random.default_rng(int(os.environ.get("OPSHAP_FUZZ_SEED", 0)))
        task = {"type": "task", "id": 7, "n": 3, "budget": 8, "seed": 1, "v_empty": 0.0, "v_full": 1.0}
        good = [(task, b""), ({"type": "values", "id": 7, "count": 2, "charged": 2, "left": 4}, bytes(16)),
                ({"type": "error", "id": 7, "code": "budget", "detail": "x"}, b""), ({"type": "stop", "id": 7}, b""),
                ({"type": "eval", "id": 1, "count": 2}, b"\1\2"), ({"type": "bye"}, b""),
                ({"type": "grad", "id": 1, "count": 1}, bytes(8)),
                ({"type": "apply", "id": 1, "count": 1, "shape": [4]}, bytes(32)),
                ({"type": "vjp", "id": 1, "count": 1, "shape": [4], "point": 2, "channel": 0}, bytes(32)),
                ({"type": "scenario", "id": 1, "shape": [4], "players": 3, "point": 2, "channel": 0}, bytes(96))]
        keys = sorted({key for header, _ in good for key in header})
        odd = [None, -1, 0, 2**63, 1e300, float("nan"), "", "x", [], {}, True, [1, 2], [10**9, 10**9]]
        served = [estimator(lambda asked, rng: asked(np.eye(asked.players, dtype=bool)[:2])[:1].repeat(3)),
                  game(3, gradients=lambda nodes: np.zeros((len(nodes), 3)))(lambda masks: masks.sum(1)),
                  operator(1, gradients=lambda fields, index, channel: (fields[:, 0, 0], fields))(lambda fields: fields)]
        frames = answers = 0
        while frames < wanted:
            stream = io.BytesIO()
            for _ in range(rng.integers(1, 6)):
                header, payload = good[rng.integers(len(good))]
                if rng.random() < 0.3:
                    header = {**header, keys[rng.integers(len(keys))]: odd[rng.integers(len(odd))]}
                Pipes(None, stream).write(header, payload)
                frames += 1
            spoiled = bytearray(stream.getvalue())
            for _ in range(rng.integers(0, 3)):
                place = rng.integers(len(spoiled))
                spoiled[place:place + rng.integers(0, 4)] = rng.bytes(rng.integers(0, 4))
            for one in served:
                told = io.BytesIO()
                with contextlib.suppress(ProtocolError), contextlib.redirect_stderr(io.StringIO()):
                    one.serve(Pipes(io.BytesIO(bytes(spoiled)), told))
                answers += told.getvalue().count(b"\n") > 1
        self.assertGreater(answers, 0)

    def test_an_approximator_of_shapiq_is_an_estimator(self):
        try:
            import shapiq
        except ImportError:
            self.skipTest("shapiq is not there")
        weights = np.array([1.0, -2, 3, 2])
        for name in ("KernelSHAP", "PermutationSamplingSV", "RegressionMSR"):
            with self.subTest(name):
                host = Host(of_shapiq(name))
                self.assertEqual(host.hello["version"], shapiq.__version__)
                host.task(4, 16)
                header, payload, known = host.answer_until_the_end(4, 16, lambda masks: masks @ weights)
                host.close()
                self.assertEqual(header["type"], "result", header)
                self.assertLessEqual(len(known), 16)
                # KernelSHAP weighs the two ends by a large number, which is no constraint, and XGBoost is in float32.
                np.testing.assert_allclose(numbers_of_bytes(payload, 4), weights, rtol=0, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "KernelSHAP"):
            of_shapiq("KernelShap")

    def test_without_a_host_it_says_who_starts_it(self):
        with self.assertRaisesRegex(ProtocolError, "opshap peer check"):
            estimator(lambda game, rng: None).serve()


if __name__ == "__main__":
    unittest.main()
