"""What programs have in common: a host asks, and this program answers until the host says goodbye."""

import os
import sys
import sysconfig
import traceback

from .frames import Pipes, ProtocolError, bytes_of_numbers


def serve(answers, hello, pipes=None):
    """Greets with the keys of `hello`, and answers questions of the types that `answers` knows.

    answers   type of question -> function (header, payload) -> (type of the answer, its numbers or None)
    An exception of such a function fails its question.
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
            traceback.print_exc(file=sys.stderr)
            pipes.write({"type": "fail", "id": header.get("id"), "reason": reason_of(error)})
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


def reason_of(error):
    """One line for the host: the innermost line of the person's own code, and what was raised there.

    All lines of a message become one, because a host shows one. A frame of this package, or of an installed one, is
    not the person's own, unless there is no other.
    """
    text = "; ".join(part for part in map(str.strip, "".join(
        traceback.format_exception_only(type(error), error)).splitlines()) if part)
    here = os.path.dirname(os.path.abspath(__file__))
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    places = [(file, line) for file, line in places if os.path.dirname(os.path.abspath(file)) != here]
    own = [place for place in places if not _installed(place[0])] or places
    if not own:
        return text
    file, line = own[-1]
    inside = os.path.relpath(file)
    return f"{file if inside.startswith(os.pardir) else inside}:{line}: {text}"


def _installed(file):
    """Whether a file of code came with Python or with a package that was installed, or is no file at all."""
    if file.startswith("<"):
        return True
    folders = os.path.abspath(file).split(os.sep)
    return ("site-packages" in folders or "dist-packages" in folders
            or os.path.abspath(file).startswith(sysconfig.get_path("stdlib") + os.sep))
