# SPDX-License-Identifier: Apache-2.0
"""Processes that are bounded in time and leave nothing behind."""

import os
import signal
import subprocess
import time


class Process:
    """A child in its own session; its output goes to files."""

    def __init__(self, command, env, out, err, namespace=None, cpus=None):
        prefix = ["ip", "netns", "exec", namespace] if namespace else []
        affinity = ["taskset", "-c", cpus] if cpus else []
        self._out, self._err = out, err
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            self._child = subprocess.Popen(
                [*prefix, *affinity, *map(str, command)],
                env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)

    @property
    def pid(self):
        return self._child.pid

    @property
    def running(self):
        return self._child.poll() is None

    def wait(self, deadline):
        """Exit status, minus the signal where one ended it, None where the deadline (time.monotonic) passed: then it is killed."""
        try:
            return self._child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        if self.running:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    @property
    def stdout(self):
        return self._out.read_text(errors="replace")

    @property
    def stderr(self):
        return self._err.read_text(errors="replace")


def exit_on_signals():
    """SIGTERM, SIGINT and SIGHUP unwind this process like an exception, so that every `with` cleans up."""
    def stop(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)


def wait_for_stop(announce):
    """Calls announce(), then waits for SIGTERM, SIGINT or SIGHUP, and ends as exit_on_signals() says. signal.pause() would miss
    one that comes between the announcement and the wait, and sleep on."""
    stops = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        announce()
        raise SystemExit(128 + signal.sigwait(stops))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
