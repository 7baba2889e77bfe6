"""Gives the two pipes of the host to the process that has asked for an attribution. It ends when that one is done.

opshap starts this program as a game. The process that asked listens at the socket `caller` in this folder. It then
answers the host by itself, so that no byte is copied on the way.
"""

import os
import socket

pipes = [int(os.environ[name]) for name in ("OPSHAP_FD_IN", "OPSHAP_FD_OUT")]
with socket.socket(socket.AF_UNIX) as caller:
    caller.connect("caller")
    socket.send_fds(caller, [b"pipes"], pipes)
    for pipe in pipes:
        os.close(pipe)  # so that the host sees the end of the other process
    caller.recv(1)  # nothing is ever sent: this returns when the other end is closed
