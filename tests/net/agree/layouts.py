# SPDX-License-Identifier: Apache-2.0
"""The layouts: a namespace each, and the settings with which NCCL and topoguard's rules are asked in it. The first is
always NCCL by itself. What must come out is not written here: real NCCL says it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    why: str
    commands: str
    settings: list
    reaches_itself: bool = True  # not without lo: then no communicator can come up


def names(*lists):
    return [{"NCCL_SOCKET_IFNAME": text} for text in lists]


def families(*values):
    return [{"NCCL_SOCKET_FAMILY": value} for value in values]


def comm_ids(*values, **more):
    return [{"NCCL_COMM_ID": value, **more} for value in values]


V4, V6 = families("AF_INET", "AF_INET6")

LAYOUTS = {
    "plain": Layout(
        "one link with IPv4",
        """
        link set lo up
        veth eth0
        addr add 10.0.0.1/24 dev eth0
        """,
        [{}, V6, *names("eth0", "=eth", "eth1", "lo"), *comm_ids("10.0.0.1:46001")]),
    "index-order": Layout(
        "the order is by ifindex, whatever the names and the list say, also past 256",
        """
        link set lo up
        veth eth0 index 600
        veth eth1 index 300
        veth eth2 index 513
        veth eth3 index 44
        veth eth4 index 7
        veth a-name-of-15-ch index 263
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.1.1/24 dev eth1
        addr add 10.0.2.1/24 dev eth2
        addr add 2001:db8:3::1/64 dev eth3 nodad
        addr add 10.0.4.1/24 dev eth4
        addr add 2001:db8:4::1/64 dev eth4 nodad
        addr add 2001:db8:0::1/64 dev eth0 nodad
        addr add 10.0.5.1/24 dev a-name-of-15-ch
        """,
        [{}, V4, V6, *names("eth0,eth1", "=eth2,eth4", "^eth4", "=a-name-of-15-ch")]),
    "names-nccl-knows": Layout(
        "docker*, lo* and virbr* are put back by name, beside others that only begin so",
        """
        link set lo up
        veth docker0
        veth virbr0
        veth local0
        veth docket0
        veth br-1
        addr add 172.17.0.1/16 dev docker0
        addr add 192.168.122.1/24 dev virbr0
        addr add 10.0.0.1/24 dev local0
        addr add 10.0.1.1/24 dev docket0
        addr add 10.0.2.1/24 dev br-1
        """,
        [{}, *names("docker", "=docker0", "^docker", "lo", "=lo", "^br,docket", "virbr")]),
    "only-docker": Layout(
        "nothing else: docker* comes before lo* and virbr*",
        """
        link set lo up
        veth virbr0
        veth docker0
        veth docker1
        addr add 192.168.122.1/24 dev virbr0
        addr add 172.17.0.1/16 dev docker0
        addr add 172.18.0.1/16 dev docker1
        """,
        [{}, *names("virbr", "^docker", "^docker,virbr", "^docker,virbr,lo"), V6]),
    "only-virbr": Layout(
        "virbr* and lo*, with a router's address on lo",
        """
        link set lo up
        addr add 10.255.0.1/32 dev lo
        veth virbr0
        addr add 192.168.122.1/24 dev virbr0
        """,
        [{}, V6, *names("lo", "^lo", "virbr"), *comm_ids("10.255.0.1:46001")]),
    "virbr-and-lo-down": Layout(
        "virbr* is the last resort",
        """
        veth virbr0
        addr add 192.168.122.1/24 dev virbr0
        addr add 2001:db8::1/64 dev virbr0 nodad
        """,
        [{}, V6, *names("lo", "^virbr")], reaches_itself=False),
    "ib-prefix": Layout(
        "names that begin with ib come first, even with no more than a link-local address",
        """
        link set lo up
        veth eth0
        veth ibp65s0
        veth ib0
        addr add 10.0.0.1/24 dev eth0
        addr add fe80::65/64 dev ibp65s0 nodad
        addr add 10.1.0.1/24 dev ib0
        """,
        [{}, V4, V6, *names("=eth0", "^ib0", "="), *comm_ids("10.0.0.1:46001", "10.1.0.1:46002", "10.0.0.77:46003")]),
    "down": Layout(
        "a device that is down, with carrier or without, does not count since 2.28",
        """
        link set lo up
        veth eth0
        veth eth1
        veth ib0
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.1.1/24 dev eth1
        addr add 10.0.2.1/24 dev ib0
        link set eth0 down
        link set ib0 down
        """,
        [{}, V4, *names("=eth0", "eth", "^eth1", "ib"), *comm_ids("10.0.0.1:46001")]),
    "not-running": Layout(
        "up without carrier: an open peer, a bridge without ports, a dormant link, a macvlan on a link without carrier",
        """
        link set lo up
        veth eth0
        far link set eth0 down
        link add br0 type bridge
        link set br0 up
        veth eth1
        link set eth1 mode dormant
        link set eth1 down
        link set eth1 up
        link add mv0 link eth0 type macvlan mode bridge
        link set mv0 up
        veth eth2
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.1.1/24 dev br0
        addr add 10.0.2.1/24 dev eth1
        addr add 10.0.3.1/24 dev mv0
        addr add 10.0.4.1/24 dev eth2
        """,
        [{}, V4, *names("eth0", "br", "=eth1", "mv", "^eth2"), *comm_ids("10.0.0.1:46001")]),
    "ipv6-only": Layout(
        "no IPv4 anywhere but on lo",
        """
        link set lo up
        veth eth0
        veth eth1
        addr add 2001:db8::1/64 dev eth0 nodad
        addr add fd00::1/64 dev eth1 nodad
        addr add 2001:db8:1::1/64 dev eth1 nodad
        """,
        [{}, V4, V6, *names("=eth1", "lo"), *comm_ids("[2001:db8::1]:46001", "[fd00::77]:46002", "[2001:db8:9::1]:46003")]),
    "both-families": Layout(
        "IPv4 first where no family is asked for; one that NCCL does not know asks for none",
        """
        link set lo up
        veth eth0
        veth eth1
        veth eth2
        addr add 2001:db8::1/64 dev eth0 nodad
        addr add 2001:db8:1::1/64 dev eth1 nodad
        addr add 10.0.1.1/24 dev eth1
        addr add 10.0.2.1/24 dev eth2
        """,
        [{}, V4, V6, *families("inet6", "AF_INET,AF_INET6", "af_inet6", ""),
         {**V6, "NCCL_SOCKET_IFNAME": "=eth2"}, {**V4, "NCCL_SOCKET_IFNAME": "eth0,eth1"},
         {**V6, **comm_ids("10.0.1.1:46001")[0]}]),
    "link-local": Layout(
        "link-local addresses of both families count like others",
        """
        link set lo up
        veth eth0
        veth eth1
        veth eth2
        addr add fe80::1/64 dev eth0 nodad
        addr add fe80::2/64 dev eth1 nodad
        addr add 169.254.7.1/16 dev eth2
        """,
        [{}, V4, V6, *names("eth0", "^eth2"),
         *comm_ids("[fe80::2%eth1]:46001", "[fe80::77%eth0]:46002", "[fe80::77]:46003", "[fe80::77%eth7]:46004", "169.254.7.1:46005")]),
    "several-addresses": Layout(
        "one address per name, the kernel's first: secondary, other subnets, deprecated, global before link-local",
        """
        link set lo up
        veth eth0
        veth eth1
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.0.2/24 dev eth0
        addr add 10.1.0.1/16 dev eth0
        addr add 192.168.0.1/32 dev eth0
        addr add fe80::5/64 dev eth1 nodad
        addr add 2001:db8::1/64 dev eth1 nodad preferred_lft 0
        addr add 2001:db8::2/64 dev eth1 nodad
        addr add fd00::3/64 dev eth0 nodad
        addr add fd00::2/64 dev eth0 nodad
        """,
        [{}, V4, V6, *names("=eth1"), *comm_ids("10.1.0.1:46001", "10.1.99.99:46002", "192.168.0.1:46003", "[fd00::3]:46004",
                                              "10.0.0.2:46005", "[2001:db8::2]:46006")]),
    "labels": Layout(
        "an IPv4 address under an alias label counts as an interface of that name",
        """
        link set lo up
        veth eth0
        veth eth1
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.1.1/24 dev eth0 label eth0:1
        addr add 10.0.1.2/24 dev eth0 label eth0:1
        addr add 10.0.2.1/24 dev eth1 label eth1:mgmt
        addr add fd00::1/64 dev eth1 nodad
        """,
        [{}, V4, V6, *names("=eth0", "eth0", "=eth0:1", "^eth0:1", "=eth1", "eth1:m", "^=eth0"), *comm_ids("10.0.1.1:46001")]),
    "virtual-links": Layout(
        "bridges with a port, vxlan, macvlan, macvtap, tun and tap: kinds do not matter to NCCL",
        """
        link set lo up
        link add br0 type bridge
        veth port0
        link set port0 master br0
        link set br0 up
        veth eth0
        link add vx0 type vxlan id 7 dstport 4789 local 10.0.1.1 dev eth0
        link set vx0 up
        link add mv0 link eth0 type macvlan mode bridge
        link set mv0 up
        link add mt0 link eth0 type macvtap mode bridge
        link set mt0 up
        tun tun0
        link set tun0 up
        tuntap add dev tap0 mode tap
        link set tap0 up
        addr add 10.0.0.1/24 dev br0
        addr add 10.0.1.1/24 dev eth0
        addr add 10.0.2.1/32 dev vx0
        addr add 10.0.3.1/24 dev mv0
        addr add 10.0.4.1/24 dev mt0
        addr add 10.0.5.1/24 dev tun0
        addr add 10.0.6.1/24 dev tap0
        addr add fe80::9/64 dev port0 nodad
        """,
        [{}, V4, V6, *names("vx,mv", "^br,tun", "=tun0", "tap")]),
    "many": Layout(
        "more than 16 devices, and lists of more than 16 names",
        "link set lo up\n" + "\n".join(
            f"veth rail{n}\naddr add 10.{n}.0.1/24 dev rail{n}\naddr add fd00:{n}::1/64 dev rail{n} nodad" for n in range(20)),
        [{}, V6, *names("^rail1", "=rail19", ",".join(f"rail{n}" for n in range(19, -1, -1)),
                        "=" + ",".join([f"none{n}" for n in range(16)] + ["rail3"]),
                        "^=" + ",".join(f"rail{n}" for n in range(20)))]),
    "list-syntax": Layout(
        "NCCL_SOCKET_IFNAME as people write it",
        """
        link set lo up
        veth eth1
        veth eth10
        veth eth2
        veth e
        link property add dev eth2 altname spare
        addr add 10.0.1.1/24 dev eth1
        addr add 10.0.10.1/24 dev eth10
        addr add 10.0.2.1/24 dev eth2
        addr add 10.0.3.1/24 dev e
        """,
        [{}, *names("eth1", "=eth1", "^eth1", "^=eth1", "=^eth1", "eth1:0", "=eth1:7,eth2:", "", "=", "^", "e", "=e", ",eth2",
                    "eth2,,eth10", " eth2", "eth2 ,eth10", "eth2, eth10", ":1", "^^eth1", "==eth1", "spare", "ETH1", "^=", ",,",
                    "eth1:x", "=eth10,eth1,eth10", "^,", "a-name-of-more-than-15-characters,eth2", "eth*")]),
    "comm-id": Layout(
        "NCCL_COMM_ID: the first interface in that subnet, whatever else is set; none where there is none",
        """
        link set lo up
        veth eth0
        veth eth1
        veth eth2
        addr add 10.0.0.1/24 dev eth0
        addr add 10.0.1.1/16 dev eth1
        addr add 10.0.1.2/32 dev eth2
        addr add fd00::1/64 dev eth0 nodad
        addr add fd00:0:0:0:1::1/48 dev eth1 nodad
        """,
        [{}, *comm_ids("10.0.0.1:46001", "10.0.0.200:46002", "10.0.1.1:46003", "10.0.1.2:46004", "10.9.0.1:46005", "127.0.0.1:46006",
                       "[fd00::1]:46007", "[fd00:0:0:5::1]:46008", "[fd01::1]:46009", "[::1]:46010", "[::ffff:10.0.0.1]:46011", "1"),
         *comm_ids("10.0.0.200:46012", "10.0.1.1:46013", NCCL_SOCKET_IFNAME="=eth2"),
         *comm_ids("10.0.1.1:46014", NCCL_SOCKET_FAMILY="AF_INET6"), *comm_ids("[fd00::1]:46015", NCCL_SOCKET_FAMILY="AF_INET")]),
    "point-to-point": Layout(
        "links with a peer's address: ours counts, not the other end's, and so does the prefix of ours",
        """
        link set lo up
        tun tun0
        link set tun0 up
        veth eth0
        veth eth1
        addr add 10.8.0.6 peer 10.8.0.5/32 dev tun0
        addr add 10.9.0.1 peer 10.7.0.2/24 dev eth0
        addr add 2001:db8::1 peer 2001:db8:1::2/128 dev eth1 nodad
        """,
        [{}, V4, V6, *names("tun", "=eth0"), *comm_ids("10.8.0.6:46001", "10.8.0.5:46002", "10.9.0.77:46003", "10.7.0.2:46004",
                                                     "[2001:db8:1::2]:46005", "[2001:db8::1]:46006")]),
    "loopback-only": Layout(
        "a job on one machine without a network",
        """
        link set lo up
        """,
        [{}, V4, V6, *names("eth", "lo", "^lo"), *comm_ids("127.0.0.1:46001", "127.5.0.1:46002", "[::1]:46003")]),
    "addresses-of-loopback": Layout(
        "addresses of this host on other links, and an IPv6 address on lo",
        """
        link set lo up
        veth eth0
        addr add 127.9.0.1/32 dev eth0
        addr add 2001:db8::1/128 dev lo nodad
        veth eth1
        addr add ::ffff:10.0.0.5/128 dev eth1 nodad
        """,
        [{}, V4, V6, *names("lo", "=eth0", "=eth1"), *comm_ids("127.9.0.1:46001")]),
    "nothing": Layout(
        "not even lo is up",
        """
        veth eth0
        addr add 10.0.0.1/24 dev eth0
        link set eth0 down
        """,
        [{}, V4, V6, *names("eth0", "lo"), *comm_ids("10.0.0.1:46001")], reaches_itself=False),
}
