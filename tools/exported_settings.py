"""The settings of neuraloperator's models, as `opshap` has them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Model:
    """What a class of neuraloperator is for `opshap`. Settings have the names of the CONFIG."""

    leading: tuple  # the constructor's first parameters, which may be given by position
    required: tuple  # settings without a default
    defaults: dict  # settings that the file always names
    options: dict = dataclasses.field(default_factory=dict)  # settings that the file names where they differ from this
    values: dict = dataclasses.field(default_factory=dict)  # what a setting may be, where it is one of a few
    fixed: dict = dataclasses.field(default_factory=dict)  # settings with one value in `opshap`, which is the default
    renamed: dict = dataclasses.field(default_factory=dict)  # the constructor's name of a setting, where it is another

    def knows(self, key):
        return key in self.required or key in self.defaults or key in self.options or key == "domain_padding_mode"


SPECTRAL = {
    "resolution_scaling_factor": None, "separable": False, "preactivation": False, "conv_module": "SpectralConv",
}
EMBEDDINGS = ("grid", None)
TRANSFORMS = ("linear", "nonlinear")
SKIPS = ("linear", "identity", "soft-gating", None)

MODELS = {
    "fno": Model(
        leading=("n_modes", "in_channels", "out_channels", "hidden_channels", "n_layers"),
        required=("n_modes", "in_channels", "out_channels", "hidden_channels"),
        defaults={"n_layers": 4, "domain_padding": 0},
        options={
            "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "positional_embedding": "grid", "norm": None,
            "use_channel_mlp": True, "channel_mlp_expansion": 0.5, "channel_mlp_skip": "soft-gating",
            "fno_skip": "linear", "stabilizer": None, "non_linearity": "gelu",
        },
        values={
            "positional_embedding": EMBEDDINGS, "norm": (None, "instance_norm", "group_norm", "batch_norm"),
            "stabilizer": (None, "tanh"), "channel_mlp_skip": SKIPS, "fno_skip": SKIPS,
            "non_linearity": ("gelu", "relu", "tanh", "silu"),
        },
        fixed={"complex_data": False, "fno_block_precision": "full", **SPECTRAL},
    ),
    "local_no": Model(
        leading=("n_modes", "in_channels", "out_channels", "hidden_channels", "default_in_shape", "n_layers"),
        required=("n_modes", "in_channels", "out_channels", "hidden_channels", "default_in_shape"),
        defaults={"n_layers": 4, "domain_padding": 0, "disco_layers": True, "diff_layers": True},
        options={"positional_embedding": "grid"},
        values={"positional_embedding": EMBEDDINGS},
        fixed={
            "disco_kernel_shape": [2, 4], "radius_cutoff": None, "domain_length": [2, 2], "disco_groups": 1,
            "disco_bias": True, "conv_padding_mode": "periodic", "fin_diff_kernel_size": 3, "mix_derivatives": True,
            "lifting_channel_ratio": 2, "projection_channel_ratio": 2, "non_linearity": "gelu", "norm": None,
            "complex_data": False, "use_channel_mlp": False, "local_no_skip": "linear",
            "local_no_block_precision": "full", "stabilizer": None, **SPECTRAL,
        },
    ),
    "gino": Model(
        leading=("in_channels", "out_channels", "latent_feature_channels", "projection_channel_ratio", "gno_coord_dim"),
        required=("in_channels", "out_channels", "n_modes", "latent_shape"),
        defaults={
            "hidden_channels": 64, "n_layers": 4, "in_radius": 0.033, "out_radius": 0.033, "in_transform": "linear",
            "out_transform": "linear", "fno_in_channels": 3, "mesh_box": [0, 1, 0, 1],
        },
        values={"in_transform": TRANSFORMS, "out_transform": TRANSFORMS},
        fixed={
            "latent_feature_channels": None, "projection_channel_ratio": 4, "gno_coord_dim": 2,
            "gno_weighting_function": None, "in_gno_pos_embed_type": "transformer",
            "out_gno_pos_embed_type": "transformer", "fno_lifting_channel_ratio": 2, "gno_embed_channels": 32,
            "gno_embed_max_positions": 10000, "in_gno_channel_mlp_hidden_layers": [80, 80, 80],
            "out_gno_channel_mlp_hidden_layers": [512, 256], "gno_channel_mlp_non_linearity": "gelu",
            "out_gno_tanh": None, "fno_block_precision": "full", "fno_use_channel_mlp": True,
            "fno_channel_mlp_expansion": 0.5, "fno_non_linearity": "gelu", "fno_stabilizer": None, "fno_norm": None,
            "fno_skip": "linear", "fno_channel_mlp_skip": "soft-gating",
            **{f"fno_{name}": value for name, value in SPECTRAL.items()},
        },
        renamed={
            "fno_n_modes": "n_modes", "fno_hidden_channels": "hidden_channels", "fno_n_layers": "n_layers",
            "in_gno_radius": "in_radius", "out_gno_radius": "out_radius", "in_gno_transform_type": "in_transform",
            "out_gno_transform_type": "out_transform",
        },
    ),
}
