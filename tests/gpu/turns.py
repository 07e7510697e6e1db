#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py SOCKET PROCESSES TURNS SECONDS: lets processes go one at a time.

Waits that many seconds for the processes to connect. Then each gets a byte when it is its turn and
sends one when that is over: the first turns one after the other, later ones in another order each
time, so that none always comes behind the same one. A process that ends is left out.
"""
import random
import socket
import sys
import time


def connections(path, count, seconds):
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(count)
        for _ in range(count):
            server.settimeout(max(end - time.monotonic(), 0.001))
            try:
                yield server.accept()[0]
            except TimeoutError:
                return


def takes_turn(process):
    """Whether it comes back from it."""
    try:
        process.settimeout(None)
        process.sendall(b".")
        return bool(process.recv(1))
    except OSError:
        return False


def main():
    path, count, turns, seconds = sys.argv[1], *map(int, sys.argv[2:])
    processes = list(connections(path, count, seconds))
    if len(processes) < count:
        print("turns.py: %d of %d processes came" % (len(processes), count), file=sys.stderr)
    for _ in range(turns):
        processes = [process for process in processes if takes_turn(process)]
        random.shuffle(processes)


main()
