# SPDX-License-Identifier: Apache-2.0
"""tun_holder.py NAME: makes tunnel NAME in this namespace, says "ready", and reads and drops packets until it is killed.

A tun interface has carrier only while a program holds it open."""

import fcntl
import os
import struct
import sys

TUNSETIFF = 0x400454CA  # linux/if_tun.h
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000

tunnel = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH22x", sys.argv[1].encode(), IFF_TUN | IFF_NO_PI))
print("ready", flush=True)
while True:
    os.read(tunnel, 65536)
