"""The package against a host of a few lines: frames, budgets, stops and failures."""

import json
import os
import pathlib
import sys
import threading
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from opshap_peer import BudgetExceeded, ProtocolError, estimator, game, torch_game
from opshap_peer.frames import Pipes, bytes_of_masks, bytes_of_numbers, masks_of_bytes, numbers_of_bytes


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
        self.assertIsNone(host.error)

    def test_values_of_a_wrong_shape_fail(self):
        host = self.host(lambda game, rng: np.zeros(game.players + 1))
        host.task(2, 2)
        header, _, _ = host.answer_until_the_end(2, 2, None)
        self.assertIn("needs [2]", header["reason"])

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

    def test_without_a_host_it_says_who_starts_it(self):
        with self.assertRaisesRegex(ProtocolError, "opshap peer check"):
            estimator(lambda game, rng: None).serve()


if __name__ == "__main__":
    unittest.main()
