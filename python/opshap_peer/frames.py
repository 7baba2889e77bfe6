"""Frames of opshap-peer/1: a line of JSON, and the raw bytes that its key "nbytes" announces.

What people give for masks and numbers is checked here too, before it becomes bytes.
"""

import json
import operator
import os

import numpy as np

MOST_HEADER_BYTES = 1 << 20
MOST_PAYLOAD_BYTES = 1 << 26
MOST_PLAYERS = 1 << 16


class ProtocolError(Exception):
    """The other side sent something that is no frame, or not at this place, or it has closed its end."""


class Pipes:
    """The two pipes between this program and its host. Numbers in payloads are little-endian."""

    def __init__(self, source, sink):
        """`source` and `sink` are binary files."""
        self._source = source
        self._sink = sink

    @classmethod
    def of_environment(cls):
        """The pipes that the host has opened. Raises ProtocolError when this program was not started by one."""
        try:
            numbers = [int(os.environ[name]) for name in ("OPSHAP_FD_IN", "OPSHAP_FD_OUT")]
            return cls(os.fdopen(numbers[0], "rb"), os.fdopen(numbers[1], "wb"))
        except (KeyError, ValueError, OSError) as error:
            raise ProtocolError(
                "pipes: OPSHAP_FD_IN, OPSHAP_FD_OUT (are not open: opshap starts this program, and not you). "
                "Run `opshap peer check FOLDER`, or opshap attribute --method peer:FOLDER."
            ) from error

    def read(self):
        """The next frame as (header, payload), or (None, b"") when the host has closed its end."""
        line = self._source.readline(MOST_HEADER_BYTES + 1)
        if not line:
            return None, b""
        if not line.endswith(b"\n"):
            raise ProtocolError(f"frame: header={len(line)} bytes (has no end). Check the host.")
        try:
            header = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"frame: header={line[:60]!r} (is no JSON). Check the host.") from error
        if not isinstance(header, dict):
            raise ProtocolError(f"frame: header={line[:60]!r} (is no JSON object). Check the host.")
        count = header.get("nbytes", 0)
        if not isinstance(count, int) or not 0 <= count <= MOST_PAYLOAD_BYTES:
            raise ProtocolError(f"frame: nbytes={count!r} (needs 0 to {MOST_PAYLOAD_BYTES}). Check the host.")
        payload = self._source.read(count)
        if len(payload) != count:
            raise ProtocolError(f"frame: nbytes={count} (the pipe ended after {len(payload)}). Check the host.")
        return header, payload

    def write(self, header, payload=b""):
        """Sends a frame. Raises ProtocolError when nobody reads it any more."""
        if payload:
            header = {**header, "nbytes": len(payload)}
        try:
            self._sink.write(json.dumps(header).encode() + b"\n" + payload)
            self._sink.flush()
        except BrokenPipeError as error:
            raise ProtocolError("frame: pipe (the host has closed its end).") from error


def bytes_of_masks(masks):
    """[B, n] booleans as rows of ceil(n/8) bytes: player i is bit i%8 of byte i/8."""
    return np.packbits(masks, axis=1, bitorder="little").tobytes()


def masks_of_bytes(payload, players, count):
    """The inverse of bytes_of_masks(), [count, players]."""
    row_bytes = (players + 7) // 8
    if len(payload) != count * row_bytes:
        raise ProtocolError(f"frame: nbytes={len(payload)} ({count} rows of {row_bytes} bytes are wanted).")
    rows = np.frombuffer(payload, np.uint8).reshape(count, row_bytes)
    return np.unpackbits(rows, axis=1, count=players, bitorder="little").astype(bool)


def bytes_of_numbers(numbers):
    """float64, little-endian."""
    return np.ascontiguousarray(numbers, "<f8").tobytes()


def numbers_of_bytes(payload, count):
    """The inverse of bytes_of_numbers()."""
    if len(payload) != 8 * count:
        raise ProtocolError(f"frame: nbytes={len(payload)} ({count} float64 are wanted).")
    return np.frombuffer(payload, "<f8").astype(float)


def checked_integer(what, given, least=None, most=None):
    """`given` as an int between the two bounds: an integer of Python or numpy, or a float without a fraction.

    `what` is how messages begin, "who: name". Raises TypeError for what is no number, ValueError for another number.
    """
    fraction = isinstance(given, (float, np.floating))
    if fraction and not float(given).is_integer():
        raise ValueError(f"{what}={_short(given)} (is no whole number). Give one.")
    try:
        number = int(given) if fraction else operator.index(given)
    except TypeError:
        number = None
    if number is None or isinstance(given, (bool, np.bool_)):
        raise TypeError(f"{what}={_short(given)} (is no whole number). Give one.")
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"{least} or more" if most is None else f"{most} or less" if least is None else f"{least} to {most}"
        raise ValueError(f"{what}={_short(number)} (needs {bounds}). Give such a number.")
    return number


def checked_numbers(what, given, shape=None, advice="Reshape them."):
    """`given` as float64, of that shape where one is told. A last axis of 1 too many is dropped.

    Real numbers of any type, booleans, and lists of them are taken. `what` is how messages begin, "who: name". Raises
    TypeError for what is no number. Raises ValueError for imaginary parts, for hidden entries of masked arrays, for
    numbers beyond float64, and for another shape; `advice` says what to do about that.
    """
    numbers = _array(what, given)
    if numbers.dtype.kind == "O":
        numbers = np.array([_number(what, part) for part in numbers.ravel()], complex).reshape(numbers.shape)
    if numbers.dtype.kind not in "biufc":
        raise TypeError(f"{what}={_short(given)} (the type {numbers.dtype.name} is none of numbers). "
                        "Give real numbers.")
    if numbers.dtype.kind == "c":
        if numbers.imag.any():
            found = numbers[numbers.imag != 0][0]
            raise ValueError(f"{what}={found} (has an imaginary part). Give real numbers: .real, .imag or abs() of "
                             "them.")
        numbers = numbers.real
    numbers = np.asarray(numbers, float)
    if shape is not None and numbers.shape != tuple(shape):
        if numbers.shape != (*shape, 1):
            raise ValueError(f"{what}={numbers.shape} (needs {tuple(shape)}). {advice}")
        numbers = numbers.reshape(shape)
    return numbers


def checked_masks(what, given, players):
    """`given` as booleans [B, players]: booleans, or numbers that are all 0 or 1. Raises as checked_numbers() does."""
    masks = _array(what, given)
    if masks.ndim != 2 or masks.shape[1] != players:
        raise ValueError(f"{what}={masks.shape} (needs [B, {players}]). Reshape them.")
    if masks.dtype == bool:
        return masks
    numbers = checked_numbers(what, masks)
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row, player = np.argwhere(wrong)[0]
        raise ValueError(f"{what}[{row}, {player}]={numbers[row, player]:g} (is neither 0 nor 1). "
                         "Give booleans: true where a player is in.")
    return numbers == 1


def _array(what, given):
    """`given` as an array of any type. Raises ValueError for hidden entries, and for rows of different lengths."""
    for part in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise ValueError(f"{what}=masked array (hides {np.ma.count_masked(part)} of its entries). "
                             "Fill them: .filled(number).")
    try:
        return np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{what}={_short(given)} ({error}). Give an array of numbers.") from error


def _number(what, given):
    """An entry of an array of objects, as a number."""
    try:
        if given is None or isinstance(given, (str, bytes)):
            raise TypeError
        return given if isinstance(given, complex) else float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{what}={_short(given)} (is no number). Give real numbers.") from None
    except OverflowError:
        raise ValueError(f"{what} (one is beyond float64). Give numbers up to 1.8e308.") from None


def _short(given):
    """`given` as messages show it."""
    if isinstance(given, int) and given.bit_length() > 200:  # Python refuses to write the longest ones
        return f"an integer of {given.bit_length()} bits"
    text = str(given) if isinstance(given, (int, float, np.number)) else repr(given)
    return text if len(text) <= 60 else text[:57] + "..."
