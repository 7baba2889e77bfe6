"""Frames of opshap-peer/1: a line of JSON, and the raw bytes that its key "nbytes" announces."""

import json
import os

import numpy as np

MOST_HEADER_BYTES = 1 << 20
MOST_PAYLOAD_BYTES = 1 << 26


class ProtocolError(Exception):
    """The other side sent something that is no frame, or not at this place."""


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
        """Sends a frame."""
        if payload:
            header = {**header, "nbytes": len(payload)}
        self._sink.write(json.dumps(header).encode() + b"\n" + payload)
        self._sink.flush()


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
