"""Processes of opshap that stay, so that a call costs no start."""

import atexit
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from opshap_peer.frames import Pipes, ProtocolError, bytes_of_numbers
from opshap_peer.questions import reason_of

from .attribution import OpshapError

GRACE_SECONDS = 5  # for a process to end a command whose game has failed, or to end itself


def program_path(program=None):
    """The path of opshap: `program`, the environment variable OPSHAP, the search path, or the build of this tree.

    A folder stands for the program in it. Raises FileNotFoundError where there is none.
    """
    wanted = program or os.environ.get("OPSHAP") or shutil.which("opshap")
    if wanted is None:
        wanted = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "opshap"
        if not wanted.exists():  # a package that was copied out of its tree
            raise FileNotFoundError("opshap: program (is not in PATH, and the environment variable OPSHAP is not set). "
                                    "Build opshap, and set OPSHAP to its path, as export OPSHAP=.../build/release/opshap.")
    if os.path.isdir(wanted):
        wanted = os.path.join(wanted, "opshap")
    found = shutil.which(wanted)
    if found is None:
        raise FileNotFoundError(f"opshap: program={wanted} (is not there, or no program). Build opshap, and give its "
                                "path as program=, in the environment variable OPSHAP, or by PATH.")
    return os.path.abspath(found)


class Kept:
    """One process of `opshap serve`. It is started by the first call, and again by the next one where it has ended.

    Threads take turns. A call from inside a game, which is a call by the thread that waits, gets a process of its own.
    A forked child starts its own. The interpreter's exit ends it.
    """

    def __init__(self, words):
        """`words` starts it: [path of opshap, "serve", ...]."""
        self.words = words
        self.starts = 0  # how often a process was started
        self._forget()
        _all.append(self)

    def run(self, words, game=None, also=()):
        """What a command line prints on standard output. `game` answers where it is about --game caller.

        What it remarks goes to sys.stderr. Raises OpshapError where its exit code is neither 0 nor one of `also`. An
        exception of the game comes out as the object that it is.
        """
        if os.getpid() != self._owner:
            self._leave()
        if self._thread == threading.get_ident():
            if self._inner is None:
                self._inner = Kept(self.words)
            return self._inner.run(words, game, also)
        with self._lock:
            self._thread = threading.get_ident()
            try:
                return self._run(words, game, also)
            finally:
                self._thread = None

    def end(self):
        """Ends the process. The next call starts another one."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return
        with contextlib.suppress(ProtocolError, OSError, ValueError):
            self._pipes.write({"type": "bye"})
        for stream in (*self._streams, self._output, self._errors):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def pid(self):
        """Of the process; None where there is none."""
        return None if self._process is None else self._process.pid

    def _leave(self):
        """In a forked child: the process is the parent's."""
        for stream in (*self._streams, self._output, self._errors):
            if stream is not None:
                stream.close()
        if self._process is not None:
            self._process.returncode = 0  # nobody waits for it here
        self._forget()

    def _forget(self):
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._thread = None   # whose turn it is
        self._inner = None    # for calls from inside a game
        self._process = None
        self._pipes = None
        self._streams = ()
        self._output = self._errors = None

    def _start(self):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self._output, self._errors = (tempfile.TemporaryFile(prefix="opshap-", dir=_memory()) for _ in range(2))
        for stream in (self._output, self._errors):
            _append(stream.fileno())

        numbers = {"OPSHAP_FD_IN": str(theirs_in), "OPSHAP_FD_OUT": str(theirs_out)}
        try:
            self._process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=self._output,
                                             stderr=self._errors, pass_fds=(theirs_in, theirs_out),
                                             env={**os.environ, **numbers}, start_new_session=True)  # Ctrl-C is ours
        except BaseException:
            os.close(ours_in)
            os.close(ours_out)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self.starts += 1
        self._streams = (open(ours_in, "rb"), open(ours_out, "wb"))
        self._pipes = Pipes(*self._streams)
        try:
            greeted = self._read()[0].get("role") == "server"
        except ProtocolError:
            greeted = False
        if not greeted:
            process = self._process
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)  # it may be about to say why
            said = _taken(self._errors).strip()
            process.kill()
            self.end()
            raise OpshapError(said if said.startswith("opshap") else
                              f"opshap: program={self.words[0]} (does not answer as opshap does"
                              f"{': ' + said.splitlines()[0] if said else ''}). Give the path of opshap.",
                              process.returncode if process.returncode > 0 else 4)

    def _run(self, words, game, also):
        keys = {}
        if game is not None:
            keys = {"players": game.players, "gradients": game.gradients is not None, "max_batch": game.max_batch}
        try:
            if self._process is None or self._process.poll() is not None:
                self.end()
                self._start()
            self._pipes.write({"type": "run", "id": 1, "words": words, "folder": os.getcwd(), **keys})
            code, failure = self._answered(game)
        except ProtocolError:
            raise self._gone() from None
        except BaseException:  # an interruption while this process waits
            if self._process is not None:
                self._process.kill()
                self.end()
            raise
        output, errors = _taken(self._output), _taken(self._errors)
        if failure is not None:
            raise failure
        if code == 0 or (code in also and output):
            sys.stderr.write(errors)
        else:
            raise OpshapError(errors.strip() or f"opshap: code={code} (it ended without a word).", code)
        return output

    def _answered(self, game):
        """Answers the questions of a command until it is done. Returns its exit code, and what the game has raised."""
        failure = None
        timer = threading.Timer(GRACE_SECONDS, self._process.kill)  # for a command whose game has failed
        try:
            while True:
                header, payload = self._read()
                if header.get("type") == "done":
                    return header["code"], failure
                if failure is None:
                    try:
                        reply, numbers = game.answer(header, payload)
                    except BaseException as error:
                        failure = error
                        timer.start()
                if failure is not None:
                    self._pipes.write({"type": "fail", "id": header.get("id"), "reason": reason_of(failure)[:1000]})
                    continue
                self._pipes.write({"type": reply, "id": header.get("id")}, bytes_of_numbers(numbers))
        except ProtocolError:
            if failure is None:
                raise
            self.end()  # it has not let go of the game
            self._start()
            return 5, failure
        finally:
            timer.cancel()

    def _read(self):
        header, payload = self._pipes.read()
        if header is None:
            raise ProtocolError("frame: pipe (opshap has closed its end).")
        return header, payload

    def _gone(self):
        process = self._process
        try:
            process.wait(1)  # it may be about to say why
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        said = _taken(self._errors).strip()
        self.end()
        code = process.returncode or 7
        return OpshapError(said or f"opshap: program={self.words[0]} (has ended with code {code}). Call again.", code)


_all = []


@atexit.register
def _end_all():
    for kept in _all:
        kept.end()


def _memory():
    """A folder of the machine's memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def folder_of_files():
    """A new folder in memory, and what holds it: as long as this is open, nobody removes the folder.

    Folders of processes that were killed are removed.
    """
    for left in pathlib.Path(_memory() or tempfile.gettempdir()).glob("opshap-files-*"):
        with contextlib.suppress(OSError), open(left / "held") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    made = tempfile.mkdtemp(prefix="opshap-", dir=_memory())
    held = open(os.path.join(made, "held"), "w")
    fcntl.flock(held, fcntl.LOCK_SH)
    folder = os.path.join(os.path.dirname(made), "opshap-files-" + os.path.basename(made)[len("opshap-"):])
    os.rename(made, folder)  # held before anybody looks at it
    return folder, held


def _append(descriptor):
    """What another process writes goes to the end, wherever this one reads."""
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_APPEND)


def _taken(stream):
    """All that was written, which is removed."""
    size = os.fstat(stream.fileno()).st_size
    text = os.pread(stream.fileno(), size, 0).decode(errors="replace") if size else ""
    os.ftruncate(stream.fileno(), 0)
    return text
