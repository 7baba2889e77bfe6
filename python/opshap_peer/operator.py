"""An operator as a program: the decorator, and a torch module as an operator."""

import os

import numpy as np

from .frames import ProtocolError, checked_integer, checked_numbers, masks_of_bytes, numbers_of_bytes
from .game import torch_game
from .questions import count_of, serve


class PeerOperator:
    """A function fields -> fields on regular grids, of which a host makes games. Made by @operator.

    function   [B, input_channels, n] -> [B, output_channels, n], with nx, ny in place of n where dimension is 2
    gradients  optional: (fields, index, channel) -> (values [B], gradients of the fields' shape). The values are those
               of an output channel at an index of the grid, and the gradients their derivatives by the fields
    masked     optional: (field, baseline, players, index, channel) -> a function from masks [B, P] to values [B], where
               that is faster than to mask here. `players` is an array of the grid's shape: the player of each point

    Weighted sums of several numbers of the output are made of these here, unless `targets` is set to False. Then the
    host makes them, from whole fields and from gradients at one point after the other.
    """

    targets = True

    def __init__(self, function, dimension, input_channels, output_channels, gradients=None, masked=None,
                 max_batch=256):
        self.function = function
        self.dimension = checked_integer("operator: dimension", dimension, 1, 2)
        self.input_channels = checked_integer("operator: input_channels", input_channels, 1)
        self.output_channels = checked_integer("operator: output_channels", output_channels, 1)
        self.gradients = gradients
        self.masked = masked or self._masked
        self.max_batch = checked_integer("operator: max_batch", max_batch, 1)
        self._scenario = None  # players, and masks -> values

    def __call__(self, fields):
        return self.function(fields)

    def serve(self, pipes=None):
        """Answers questions until the host says goodbye. An exception of a function fails its question."""
        answers = {"apply": self._apply, "scenario": self._new_scenario, "eval": self._values}
        if self.gradients is not None:
            answers["vjp"] = self._gradients
        serve(answers, {"role": "operator",
                        "name": os.environ.get("OPSHAP_PEER_NAME", getattr(self.function, "__name__", "operator")),
                        "dimension": self.dimension, "input_channels": self.input_channels,
                        "output_channels": self.output_channels, "gradients": self.gradients is not None,
                        "targets": self.targets, "max_batch": self.max_batch}, pipes)

    def _fields(self, header, payload):
        shape = [count_of(header), self.input_channels, *header["shape"]]
        numbers = numbers_of_bytes(payload, int(np.prod(shape)) + 3 * header.get("terms", 0))
        return numbers[:int(np.prod(shape))].reshape(shape), numbers

    def _apply(self, header, payload):
        fields, _ = self._fields(header, payload)
        wanted = [len(fields), self.output_channels, *fields.shape[2:]]
        return "fields", checked_numbers("operator: fields", self.function(fields), wanted)

    def _gradients(self, header, payload):
        fields, numbers = self._fields(header, payload)
        all_values, all_gradients = np.zeros(len(fields)), np.zeros(fields.shape)
        for index, channel, weight in _terms(header, numbers):
            values, gradients = self.gradients(fields, index, channel)
            all_values += weight * checked_numbers("operator: values", values, [len(fields)])
            all_gradients += weight * checked_numbers("operator: gradients", gradients, fields.shape)
        return "gradients", np.concatenate([all_values, all_gradients.ravel()])

    def _new_scenario(self, header, payload):
        shape = header["shape"]
        points, channels = int(np.prod(shape)), self.input_channels
        numbers = numbers_of_bytes(payload, (2 * channels + 1) * points + 3 * header.get("terms", 0))
        field, baseline = numbers[:2 * channels * points].reshape(2, channels, *shape)
        players = numbers[2 * channels * points:(2 * channels + 1) * points].astype(int).reshape(shape)
        terms = _terms(header, numbers)
        if len(terms) == 1:
            index, channel, weight = terms[0]
            values = self.masked(field, baseline, players, index, channel)
            self._scenario = header["players"], values if weight == 1 else lambda masks: weight * values(masks)
        else:
            self._scenario = header["players"], self._masked_sum(field, baseline, players, terms)
        return "ready", None

    def _values(self, header, payload):
        if self._scenario is None:
            raise ProtocolError("frame: type='eval' (scenario is awaited). Check the host.")
        players, values = self._scenario
        count = count_of(header)
        return "values", checked_numbers("operator: values", values(masks_of_bytes(payload, players, count)), [count])

    def _masked(self, field, baseline, players, index, channel):
        return self._masked_sum(field, baseline, players, [(index, channel, 1)])

    def _masked_sum(self, field, baseline, players, terms):
        def values(masks):
            shown = masks[:, players][:, None]
            fields = checked_numbers("operator: fields", self.function(np.where(shown, field, baseline)),
                                     [len(masks), self.output_channels, *field.shape[1:]])
            return sum(weight * fields[(slice(None), channel, *index)] for index, channel, weight in terms)

        return values


def _terms(header, numbers):
    """What is explained: (index, channel, weight) of each number of the output. They end a payload of several."""
    count, shape = header.get("terms", 0), header["shape"]
    if count == 0:
        return [(np.unravel_index(header["point"], shape), header["channel"], 1.0)]
    return [(np.unravel_index(int(point), shape), int(channel), weight)
            for point, channel, weight in numbers[len(numbers) - 3 * count:].reshape(count, 3)]


def operator(dimension, input_channels=1, output_channels=1, gradients=None, max_batch=256):
    """Makes a PeerOperator of a function from fields [B, C, n] or [B, C, nx, ny] to fields."""
    return lambda function: PeerOperator(function, dimension, input_channels, output_channels, gradients,
                                         max_batch=max_batch)


def torch_operator(module, dimension, input_channels=1, output_channels=1, max_batch=256, device="cpu"):
    """A trained torch module as an operator, with its gradients. It masks its inputs by itself, on its device.

    module    maps [B, C, n] to [B, C', n], or [B, C, nx, ny] to [B, C', nx, ny], in float32
    """
    import torch

    module = module.to(device).eval()

    def on_device(fields):
        return torch.as_tensor(fields, dtype=torch.float32, device=device)

    def outputs(fields):
        with torch.no_grad():
            return module(on_device(fields)).double().cpu().numpy()

    def gradients(fields, index, channel):
        inputs = on_device(fields).requires_grad_()
        values = module(inputs)[(slice(None), channel, *map(int, index))]
        slopes, = torch.autograd.grad(values.sum(), inputs)
        return values.detach().double().cpu().numpy(), slopes.double().cpu().numpy()

    def masked(field, baseline, players, index, channel):
        return torch_game(module, field, [int(i) for i in index], baseline, players, channel, device=device).function

    return PeerOperator(outputs, dimension, input_channels, output_channels, gradients, masked, max_batch)
