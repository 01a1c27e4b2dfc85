# SPDX-License-Identifier: Apache-2.0
"""Copies of a library that export less."""

import re
import struct
import subprocess

from .outcome import expect_equal

SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym
STV_HIDDEN = 2


def copy_without(library, unwanted, folder):
    """Puts a copy that does not export these symbols into `folder` (made): hidden in .dynsym, which dlsym passes over."""
    content = bytearray(library.read_bytes())
    symbols, names = (section(library, name) for name in (".dynsym", ".dynstr"))
    hidden = 0
    for at in range(*symbols, SYMBOL.size):
        name, info, _, index, value, size = SYMBOL.unpack_from(content, at)
        end = content.index(b"\0", names[0] + name)
        if content[names[0] + name:end].decode() in unwanted:
            SYMBOL.pack_into(content, at, name, info, STV_HIDDEN, index, value, size)
            hidden += 1
    expect_equal(hidden, len(unwanted), f"dynamic symbols of the plugin among {unwanted}")
    folder.mkdir()
    copy = folder / library.name
    copy.write_bytes(content)
    return copy


def section(file, name):
    """Offset and end of an ELF section in its file."""
    listing = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True, timeout=60).stdout
    found = re.search(rf" {re.escape(name)} +\w+ +\w+ (\w+) (\w+)", listing)
    offset, size = (int(number, 16) for number in found.groups())
    return offset, offset + size
