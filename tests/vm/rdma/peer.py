# SPDX-License-Identifier: Apache-2.0
"""What the two machines tell each other while a scenario runs: one TCP connection over mgmt0, a JSON object a line.

A scenario that ends on one machine, for whatever reason, ends on the other at its next meeting: neither waits for a
machine that has gone on."""
import json
import select
import socket
import subprocess
import time

PORT = 7070
ADDRESSES = ("192.168.250.1", "192.168.250.2")


class Ended(Exception):
    """The other machine has ended the scenario."""


class Peer:
    def __init__(self, me, timeout=300):
        for command in (["ip", "addr", "add", f"{ADDRESSES[me]}/24", "dev", "mgmt0"], ["ip", "link", "set", "mgmt0", "up"]):
            subprocess.run(command, check=True)
        self.scenario = ""
        self._buffer = b""
        self._waiting = []
        deadline = time.monotonic() + timeout  # the other machine may be booting
        if me == 0:
            with socket.create_server(("", PORT)) as server:
                server.settimeout(timeout)
                self._socket, _ = server.accept()
        else:
            while True:
                try:
                    self._socket = socket.create_connection((ADDRESSES[0], PORT), 5)
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.2)
        self._socket.settimeout(60)

    def send(self, what, value=None):
        self._socket.sendall(json.dumps({"scenario": self.scenario, "what": what, "value": value}).encode() + b"\n")

    def poll(self, seconds):
        """The next message of this scenario as (what, value), None where none came in time."""
        deadline = time.monotonic() + seconds
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message["scenario"] != self.scenario:
                    continue  # left over from one that ended early
                if message["what"] == "end":
                    self._waiting.insert(0, message)
                    raise Ended
                return message["what"], message["value"]
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self._socket], [], [], left)[0]:
                return None
            data = self._socket.recv(1 << 20)
            if not data:
                raise EOFError("the other machine is gone")
            self._buffer += data
            *lines, self._buffer = self._buffer.split(b"\n")
            self._waiting += [json.loads(line) for line in lines]

    def meet(self, what, value=None, timeout=120):
        """Both machines come here; each gets the other's value."""
        self.send(what, value)
        answer = self.poll(timeout)
        if answer is None:
            raise TimeoutError(f"the other machine did not come to {what!r} within {timeout} s")
        if answer[0] != what:
            raise RuntimeError(f"at {what!r} while the other machine is at {answer[0]!r}")
        return answer[1]

    def start(self, scenario):
        self.scenario = scenario

    def end(self, timeout=180):
        """Returns when both have ended the scenario."""
        self.send("end")
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                self.poll(1)
            except Ended:
                self._waiting.pop(0)
                return
        raise TimeoutError("the other machine did not end the scenario")
