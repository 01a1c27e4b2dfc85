#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Somebody who talks to rank 0's port and is no part of the check: stranger.py ADDRESS PORT KIND

Prints what came back, in hexadecimal, and holds its connection until it is closed or its standard input ends."""

import json
import socket
import struct
import sys
import time


def frame(body, version=1):
    return b"TGCK" + struct.pack("!HHI", version, 0, len(body)) + body


KINDS = {
    "http": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "noise": bytes(range(255, -1, -1)) * 400,
    "silent": b"",
    "half": frame(b"{}")[:9],
    "huge": b"TGCK" + struct.pack("!HHI", 1, 0, 0xffffffff),
    "not-json": frame(b"{\"type\":"),
    "deep": frame(b"[" * 100000),
    "wrong-type": frame(json.dumps({"type": "hello", "rank": "1"}).encode()),
    "out-of-turn": frame(json.dumps({"type": "end", "status": 0}).encode()),
    "other-version": frame(b"{}", version=7),
}


def connect(address, port):
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection((address, port), timeout=10)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main():
    address, port, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with connect(address, port) as connection:
        back = b""
        try:
            connection.sendall(KINDS[kind])
        except OSError:  # turned away in the middle
            pass
        print("sent", flush=True)
        try:
            while True:
                part = connection.recv(4096)
                if not part:
                    break
                back += part
        except OSError:  # closed while we were talking, or nothing said for ten seconds
            pass
        print(back.hex(), flush=True)


main()
