"""Writes reference_data/fno_options/: FNOs of neuraloperator 2.0.0 with the options of its constructor.

    python3 reference_data/generate/fno_options.py        (neuraloperator 2.0.0; numpy; any torch it runs with)

There is one small network for each option that changes what a network computes, with an input and its output.
"""

import json
import pathlib
import sys

import numpy
import torch
from neuralop.models import FNO

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools"))
from export_model import configuration, export, load_into  # noqa: E402

functions = {"gelu": torch.nn.functional.gelu, "relu": torch.nn.functional.relu, "tanh": torch.tanh, "silu": torch.nn.functional.silu}

# What each network of the folder has, beside one axis, width 6 and two layers.
OPTIONS = {
    "instance_norm": {"norm": "instance_norm"},
    "group_norm": {"norm": "group_norm", "n_modes": (4, 4)},
    "batch_norm": {"norm": "batch_norm"},
    "batch_norm_alone": {"norm": "batch_norm", "use_channel_mlp": False, "fno_skip": None},
    "no_embedding": {"positional_embedding": None},
    "ratios": {"lifting_channel_ratio": 1.5, "projection_channel_ratio": 3, "channel_mlp_expansion": 0.75},
    "one_layer_lifting": {"lifting_channel_ratio": 0},
    "no_mlp": {"use_channel_mlp": False},
    "gates": {"fno_skip": "soft-gating", "channel_mlp_skip": "identity"},
    "matrices": {"fno_skip": "identity", "channel_mlp_skip": "linear"},
    "no_skips": {"fno_skip": None, "channel_mlp_skip": None},
    "relu": {"non_linearity": "relu"},
    "tanh": {"non_linearity": "tanh", "n_modes": (4, 4)},
    "silu": {"non_linearity": "silu"},
    "stabilizer": {"stabilizer": "tanh"},
    "tucker": {"factorization": "Tucker", "rank": 0.4, "n_modes": (4, 4)},
    "cp": {"factorization": "CP", "rank": 0.4},
    "tensor_train": {"factorization": "TT", "rank": 0.4, "n_modes": (4, 4)},
}


def constructed(options):
    settings = {"n_modes": (6,), "in_channels": 1, "out_channels": 1, "hidden_channels": 6, "n_layers": 2, "domain_padding": 0.25, **options}
    settings["non_linearity"] = functions[settings.get("non_linearity", "gelu")]
    return FNO(**settings).eval()


def drawn(options, seed):
    """The network, an input and its output. Gates, norms and biases are away from where a training starts."""
    torch.manual_seed(seed)
    model = constructed(options)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name.endswith("running_var"):
                tensor.uniform_(0.5, 2)
            elif name != "_metadata" and tensor.is_floating_point() and (".norm." in name or "_skips" in name or name.endswith("bias")):
                tensor.add_(0.3 * torch.randn(tensor.shape))
        x = torch.randn(2, model.in_channels, *((12,) if model.n_dim == 1 else (6, 8)))
        return model, x, model(x)


def as_factors(model, path):
    """Writes a file with the factors themselves, as a tool that does not expand them would."""
    config = {**configuration(model), "factorization": model.factorization, "rank": model.rank}
    tensors = {name: torch.view_as_real(tensor).numpy() if tensor.is_complex() else tensor.numpy()
               for name, tensor in model.state_dict().items() if name != "_metadata"}
    header, data = {"__metadata__": {"config": json.dumps(config)}}, b""
    for name in sorted(tensors):
        bytes_ = numpy.ascontiguousarray(tensors[name], "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensors[name].shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write_folder():
    folder = root / "reference_data" / "fno_options"
    folder.mkdir(exist_ok=True)
    for seed, (name, options) in enumerate(OPTIONS.items()):
        model, x, y = drawn(options, seed)
        export(model, folder / f"{name}.safetensors")
        if "factorization" in options:
            as_factors(model, folder / f"{name}_factors.safetensors")
        else:
            again = constructed(options)
            load_into(again, folder / f"{name}.safetensors")
            with torch.no_grad():
                assert torch.equal(again(x), y), f"fno_options: {name}.safetensors does not give the model back"
        numpy.save(folder / f"{name}_input.npy", x.numpy())
        numpy.save(folder / f"{name}_output.npy", y.numpy())


if __name__ == "__main__":
    write_folder()
