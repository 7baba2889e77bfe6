"""tools/export_model.py: what it takes for a model, what it refuses, and that the file gives the live model's output.

The part on state_dicts needs numpy alone. The part on live models is skipped where neuraloperator is not installed.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))

from export_model import export, live_model, load, load_into  # noqa: E402

HAS_NEURALOP = importlib.util.find_spec("neuralop") is not None


class Tensor(np.ndarray):
    """As much of a torch tensor as a state_dict needs."""

    def detach(self):
        return self

    cpu = resolve_conj = contiguous = detach

    def is_complex(self):
        return np.iscomplexobj(self)

    def float(self):
        return self.astype("<f4")

    def numpy(self):
        return np.asarray(self)

    def data_ptr(self):
        return self.ctypes.data


def tensor(*shape, kind="<f4"):
    return (1 + np.arange(np.prod(shape)).reshape(shape)).astype(kind).view(Tensor)


def state_dict(prefix=""):
    made = {
        "fno_blocks.convs.0.weight.tensor": tensor(2, 2, 4, 3, kind="<c8"),
        "fno_blocks.convs.0.bias": tensor(1, 2, 1, 1),
        "lifting.fcs.0.weight": tensor(4, 3, 1),
    }
    return {prefix + name: value for name, value in made.items()}


WORDS = dict(n_modes=[4, 4], in_channels=1, out_channels=1, hidden_channels=2, n_layers=1)
NORMALISERS = {
    f"{name}.{what}": tensor(1, 1, 1, 1) for name in ("in_normalizer", "out_normalizer") for what in ("mean", "std")
}


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "model.safetensors"

    def tearDown(self):
        self.folder.cleanup()

    def written(self, *given, **words):
        """(bytes, CONFIG, what was said on stderr)."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            export(*given, self.file, **words)
        return self.file.read_bytes(), load(self.file)[0], said.getvalue()

    def refused(self, *given, **words):
        """The message. Nothing is left in the folder."""
        self.file.unlink(missing_ok=True)
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(ValueError) as caught:
            export(*given, self.file, **words)
        self.assertEqual([], list(self.file.parent.iterdir()))
        return str(caught.exception)


class StateDicts(Exports):
    def test_are_unwrapped(self):
        plain = self.written(state_dict(), **WORDS)[0]
        for prefix in ("module.", "_orig_mod.", "module._orig_mod.", "model.", "model.module."):
            self.assertEqual(plain, self.written(state_dict(prefix), **WORDS)[0], prefix)
        for key in ("model", "state_dict", "model_state_dict"):
            self.assertEqual(plain, self.written({key: state_dict(), "epoch": 3, "optimizer": {}}, **WORDS)[0], key)
        lightning = {"state_dict": state_dict("model."), "pytorch-lightning_version": "2.0.0", "hyper_parameters": {}}
        self.assertEqual(plain, self.written(lightning, **WORDS)[0])

    def test_of_a_part_of_a_larger_model_are_refused(self):
        self.assertIn("prefix=encoder.", self.refused(state_dict("encoder."), **WORDS))
        message = self.refused({**state_dict("model."), "head.weight": tensor(2)}, **WORDS)
        self.assertIn("head.weight beside it", message)
        self.assertIn("keys=weights, epoch", self.refused({"weights": state_dict(), "epoch": 1}, **WORDS))

    def test_without_normalisers_say_so(self):
        self.assertIn("no in_normalizer and no out_normalizer were given", self.written(state_dict(), **WORDS)[2])

    def test_with_normalisers_are_never_exported_without_them(self):
        both = {**state_dict("model."), **NORMALISERS}
        self.assertIn("which does not have its eps", self.refused(both, **WORDS))
        said = {"input": {"eps": 1e-7}, "output": {"eps": 0.25}}
        _, config, stderr = self.written(both, normalization=said, **WORDS)
        self.assertEqual((said, ""), (config["normalization"], stderr))
        arrays = load(self.file)[1]
        self.assertEqual({*state_dict(), *NORMALISERS}, set(arrays))
        np.testing.assert_array_equal(NORMALISERS["out_normalizer.std"], arrays["out_normalizer.std"])
        np.testing.assert_array_equal(state_dict()["lifting.fcs.0.weight"], arrays["lifting.fcs.0.weight"])
        self.assertIn("y_normalizer.mean", self.refused({**state_dict(), "y_normalizer.mean": tensor(1)}, **WORDS))
        self.assertIn("is given by name, and by", self.refused(
            both, in_normalizer={"mean": 0, "std": 1, "eps": 0}, normalization=said, **WORDS))

    def test_take_normalisers_that_are_numbers(self):
        for shape in ((), (1,), (1, 1, 1, 1), (1, 1, 8, 8)):
            given = {"mean": np.full(shape, 3), "std": np.full(shape, 2), "eps": 1e-5}
            _, config, _ = self.written(state_dict(), in_normalizer=given, **WORDS)
            self.assertEqual({"input": {"eps": 1e-5}}, config["normalization"])
            self.assertEqual(shape, load(self.file)[1]["in_normalizer.std"].shape)
        for wrong, why in (({"std": 0, "eps": 0}, "not positive"), ({"std": -1}, "not positive"),
                           ({"std": [1, 2]}, "the mean has"), ({"mean": np.nan}, "not finite"),
                           ({"eps": None}, "has no eps"), ({"eps": -1}, "not positive")):
            given = {"mean": 0, "std": 1, "eps": 1e-7, **wrong}
            self.assertIn(why, self.refused(state_dict(), out_normalizer=given, **WORDS))

    def test_say_how_spectra_are_shifted_back(self):
        self.assertEqual("fftshift", self.written(state_dict(), **WORDS)[1]["inverse_shift"])
        said = self.written(state_dict(), inverse_shift="ifftshift", **WORDS)[1]
        self.assertEqual("ifftshift", said["inverse_shift"])
        self.assertNotIn("inverse_shift", self.written(state_dict(), **{**WORDS, "n_modes": [4]})[1])
        self.assertIn("inverse_shift=roll", self.refused(state_dict(), inverse_shift="roll", **WORDS))

    def test_of_padded_axes_have_one_fraction_or_one_for_each(self):
        for given, stored in ((None, 0), (0.5, 0.5), ([0.1, 0.1], 0.1), ([0.1, 0.2], [0.1, 0.2])):
            self.assertEqual(stored, self.written(state_dict(), domain_padding=given, **WORDS)[1]["domain_padding"])

    def test_of_other_models_are_named(self):
        for name, model in (("horizontal_skips.0.conv.weight", "UNO"), ("fno_blocks.0.convs.0.bias", "UNO"),
                            ("attention_layers.0.Key.convs.0.bias", "CODANO"),
                            ("gno.channel_mlp.fcs.0.weight", "FNOGNO"),
                            ("residual_model.lifting.fcs.0.weight", "UQNO")):
            message = self.refused({**state_dict(), name: tensor(1)}, **WORDS)
            self.assertIn(f"model={model} ", message)
            self.assertIn("peer:FOLDER", message)
        sphere = {**state_dict(), "fno_blocks.convs.0.weight.tensor": tensor(2, 2, 4, 2, kind="<c8")}
        self.assertIn("model=SFNO ", self.refused(sphere, **WORDS))
        self.assertIn("model=SFNO ", self.refused({**state_dict(), "_metadata": {"_name": "SFNO"}}, **WORDS))

    def test_keep_an_older_file_where_they_are_refused(self):
        before = self.written(state_dict(), **WORDS)[0]
        with self.assertRaises(ValueError):
            export({**state_dict(), "lifting.fcs.0.bias": np.full(2, np.nan).view(Tensor)}, self.file, **WORDS)
        self.assertEqual((before, [self.file]), (self.file.read_bytes(), list(self.file.parent.iterdir())))


    def test_go_where_a_link_points_and_into_pipes(self):
        plain = self.written(state_dict(), **WORDS)[0]
        link, pipe = self.file.with_name("link"), self.file.with_name("pipe")
        link.symlink_to("target")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDWR)  # the file is far smaller than what a pipe holds
        for path in (link, pipe):
            with contextlib.redirect_stderr(io.StringIO()):
                export(state_dict(), path, **WORDS)
        self.assertTrue(link.is_symlink() and pipe.is_fifo())
        self.assertEqual(plain, link.with_name("target").read_bytes())
        self.assertEqual(plain, os.read(reader, len(plain) + 1))
        os.close(reader)
        for path in (self.file.parent, self.file.parent / "none" / "model.safetensors"):
            with self.assertRaisesRegex(ValueError, "export: path="):
                export(state_dict(), path, **WORDS)


@unittest.skipUnless(HAS_NEURALOP, "neuraloperator is not installed")
class LiveModels(Exports):
    def model(self, kind=None, **settings):
        import torch
        from neuralop.models import FNO

        torch.manual_seed(1)
        words = dict(n_modes=(4, 6), in_channels=2, out_channels=1, hidden_channels=4, n_layers=2)
        words = {name: value for name, value in {**words, **settings}.items() if value is not None}
        return (kind or FNO)(**words).eval()

    def processor(self, model, grid, points):
        import torch
        from neuralop.data.transforms.data_processors import DefaultDataProcessor
        from neuralop.data.transforms.normalizers import UnitGaussianNormalizer

        axes = [0] if points else [0, *range(2, 2 + len(grid))]
        fitted = []
        for channels in (2, 1):
            fitted.append(UnitGaussianNormalizer(dim=axes))
            fitted[-1].fit(3 * torch.randn(8, channels, *grid) + 10 * torch.arange(channels).view(-1, *[1] * len(grid)))
        return DefaultDataProcessor(*fitted).wrap(model)

    def test_with_normalisers_come_back_in_physical_units(self):
        import torch

        for grid in ([20], [8, 9]):
            for points in (False, True):
                processor = self.processor(self.model(n_modes=(4, 6)[: len(grid)]), grid, points)
                into, out = processor.in_normalizer, processor.out_normalizer
                file = self.written(processor)[0]
                self.assertEqual(file, self.written(processor.model, in_normalizer=into, out_normalizer=out)[0])
                back = live_model(self.file)
                self.assertEqual(file, self.written(back)[0])
                other = self.processor(self.model(n_modes=(4, 6)[: len(grid)]), grid, points)
                load_into(other, self.file)
                x = 3 * torch.randn(2, 2, *grid) + 5
                with torch.no_grad():
                    expected = out.inverse_transform(processor.model(into.transform(x)))
                    self.assertTrue(torch.equal(expected, back(x)))
                    found = other.out_normalizer.inverse_transform(other.model(other.in_normalizer.transform(x)))
                    self.assertTrue(torch.equal(expected, found))
                with self.assertRaisesRegex(ValueError, "has in_normalizer, out_normalizer"):
                    load_into(processor.model, self.file)

    def test_of_the_tutorial_have_their_stored_output(self):
        import torch

        folder = root / "reference_data" / "normalised_models"
        for case in json.loads((folder / "cases.json").read_text()):
            u, y = (np.load(folder / f"{case['name']}.{what}.npy") for what in "uy")
            with torch.no_grad():
                found = live_model(folder / f"{case['name']}.safetensors")(torch.from_numpy(u)[None])[0].numpy()
            # Single precision, in the order of sums of another version of torch.
            self.assertLess(np.abs(found - y).max(), 1e-5 * np.abs(y).max())

    def test_that_are_not_what_their_settings_say_are_refused(self):
        import torch
        from neuralop.data.transforms.data_processors import DefaultDataProcessor
        from neuralop.layers.embeddings import GridEmbedding2D
        from neuralop.models import FNO

        class Residual(FNO):
            def forward(self, x, **rest):
                return x[:, :1] + super().forward(x, **rest)

        class Around(torch.nn.Module):
            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, x):
                return 2 * self.model(x)

        class Doubled(DefaultDataProcessor):
            def postprocess(self, output, data_dict):
                return super().postprocess(2 * output, data_dict)

        hooked, relu, tanh, moved, fewer, fewest = (self.model() for _ in range(6))
        hooked.register_forward_hook(lambda module, inputs, output: 1.01 * output)
        relu.fno_blocks.non_linearity = torch.nn.functional.relu
        tanh.lifting.non_linearity = torch.tanh
        moved.positional_embedding = GridEmbedding2D(2, [[-1, 1], [-1, 1]])
        fewer.fno_blocks.convs[1].n_modes = (2, 4)
        fewest.fno_blocks.n_modes = (2, 4)
        fitted = self.processor(self.model(), [8, 8], False)
        doubled = Doubled(fitted.in_normalizer, fitted.out_normalizer).wrap(self.model())
        for other in (self.model(Residual), hooked, relu, tanh, moved, fewer, fewest, Around(self.model()), doubled):
            self.assertIn("differs from the file's by", self.refused(other))

    def test_on_meshes_are_compared_too(self):
        import torch
        from neuralop.models import GINO

        model = self.model(
            GINO, n_modes=None, in_channels=1, hidden_channels=None, n_layers=None, gno_coord_dim=2, in_gno_radius=0.2,
            out_gno_radius=0.2, fno_n_modes=(6, 4), fno_hidden_channels=12, fno_n_layers=2, gno_use_open3d=False,
            gno_use_torch_scatter=False,
        )
        self.assertEqual("fftshift", self.written(model, latent_shape=[12, 12])[1]["inverse_shift"])
        single = {"mean": 1, "std": 2, "eps": 0}
        self.assertIn("normalization", self.written(model, latent_shape=[12, 12], in_normalizer=single)[1])
        channels = {"mean": np.zeros((1, 1, 2)), "std": np.ones((1, 1, 2)), "eps": 0}
        self.assertIn("more than one number", self.refused(model, latent_shape=[12, 12], in_normalizer=channels))
        model.fno_blocks.non_linearity = torch.tanh
        self.assertIn("a latent grid of 13x13 its output differs", self.refused(model, latent_shape=[12, 12]))

    def test_are_tried_with_both_shifts(self):
        from exported_file import installed_shift, replace_shift

        other = {"fftshift": "ifftshift", "ifftshift": "fftshift"}[installed_shift()]
        model = self.model(domain_padding=0.25)
        self.assertEqual(installed_shift(), self.written(model)[1]["inverse_shift"])
        replace_shift(model, other)
        self.assertEqual(other, self.written(model)[1]["inverse_shift"])
        self.assertIn("differs", self.refused(model, inverse_shift=installed_shift()))

    def test_are_unwrapped(self):
        import torch

        model = self.model(domain_padding=[0.1, 0.2])
        plain = self.written(model)[0]
        self.assertEqual(plain, self.written(model.state_dict())[0])
        for wrapped in (torch.nn.DataParallel(model), torch.compile(model), {"model": model}):
            self.assertEqual(plain, self.written(wrapped)[0])

    def test_in_double_precision_and_in_training_are_taken_as_they_are(self):
        plain = self.written(self.model())[0]
        model = self.model().double().train()
        self.assertEqual(plain, self.written(model)[0])
        self.assertTrue(model.training and model.lifting.training)


if __name__ == "__main__":
    unittest.main()
