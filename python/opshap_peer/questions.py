"""What games and operators have in common: a host asks, and this program answers until the host says goodbye."""

import sys
import traceback

import numpy as np

from .frames import Pipes, ProtocolError, bytes_of_numbers


def serve(answers, hello, pipes=None, raises=False):
    """Greets with the keys of `hello`, and answers questions of the types that `answers` knows.

    answers   type of question -> function (header, payload) -> (type of the answer, its numbers or None)
    An exception of such a function fails its question. With `raises` it comes out of here instead.
    """
    pipes = pipes or Pipes.of_environment()
    pipes.write({"type": "hello", "protocol": 1, "version": "0.1", **hello})
    while True:
        header, payload = pipes.read()
        kind = header.get("type") if header is not None else "bye"
        if kind == "bye":
            return
        if not isinstance(kind, str) or kind not in answers:
            known = " or ".join(answers)
            raise ProtocolError(f"frame: type={kind!r} ({known} is awaited): {header.get('detail', '')}")
        try:
            reply, numbers = answers[kind](header, payload)
        except (ProtocolError, MemoryError):
            raise
        except Exception as error:
            if raises:
                raise
            traceback.print_exc(file=sys.stderr)
            pipes.write({"type": "fail", "id": header.get("id"), "reason": f"{type(error).__name__}: {error}"})
            continue
        keys = {"type": reply, "id": header.get("id")}
        if numbers is None:
            pipes.write(keys)
        else:
            pipes.write({**keys, "count": header["count"]}, bytes_of_numbers(numbers))


def count_of(header):
    """The key "count". Raises ProtocolError where there is no such number."""
    count = header.get("count")
    if not isinstance(count, int) or count < 0:
        raise ProtocolError(f"frame: count={count!r} (is no number of rows). Check the host.")
    return count


def of_shape(what, numbers, wanted):
    """The numbers as float64, which must have that shape. Raises ValueError for another one."""
    numbers = np.asarray(numbers, float)
    if numbers.shape != tuple(wanted):
        raise ValueError(f"{what}={numbers.shape} (needs {tuple(wanted)}). Reshape them.")
    return numbers
