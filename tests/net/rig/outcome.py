# SPDX-License-Identifier: Apache-2.0
"""How a row ends: nothing raised is a pass, Failed is a failure, Skipped is exit 77 with a plain reason."""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen!r}, expected {wanted!r}")
