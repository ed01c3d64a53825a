#!/usr/bin/env python3
"""A FAKE of ib_write_lat and ib_read_lat: no device is behind it. Meets its other end over TCP, prints made-up times.

As a server (no address among its words) it waits for one client; as a client it says so where nobody listens.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

COLUMNS = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec] "
)
_WITH_A_VALUE = {"-d", "-s", "-n", "-p", "-x"}


def main(words: list[str]) -> int:
    """One end of a run; the exit code."""
    options: dict[str, str] = {}
    address, rest = "", iter(words)
    for word in rest:
        if word in _WITH_A_VALUE:
            options[word] = next(rest)
        elif not word.startswith("-"):
            address = word
    if not address:
        with socket.create_server(("127.0.0.1", int(options["-p"]))) as server:
            server.accept()[0].close()
        return 0
    try:
        socket.create_connection((address, int(options["-p"]))).close()
    except OSError:
        print(f"Couldn't connect to {address}:{options['-p']}\nUnable to open file descriptor for socket connection")
        return 1
    title = "RDMA_Read" if "read" in Path(sys.argv[0]).name else "RDMA_Write"
    times = "1.80        9.91        2.05        2.07        0.10        2.43        9.95"
    print(f"{title} Latency Test\n Dual-port : OFF  Device : {options['-d']}\n{COLUMNS}")
    print(f" {options['-s']}       {options['-n']}          {times}   ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
