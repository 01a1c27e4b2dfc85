# SPDX-License-Identifier: Apache-2.0
"""One of the two machines in a scenario, and what scenarios expect."""
import json

import host
from job import Decision, move, topoguard


SILENCE = 8  # seconds after which a connection that should not work does not


class Wrong(Exception):
    """What a scenario saw and did not want."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def same(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen}, wanted {wanted}")


class Node:
    def __init__(self, me, peer):
        self.me, self.peer, self.n = me, peer, me + 1
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def rails(self, mtu=1500):
        """nic0 in 10.99.0.0/24 with rxe0, nic1 in 10.99.1.0/24 with rxe1."""
        for number, nic in enumerate(host.NICS):
            host.run(f"ip link set {nic} mtu {mtu}")
            host.up(nic)
            host.address(nic, f"10.99.{number}.{self.n}/24")
            host.rxe(f"rxe{number}", nic)
            host.wait_gid(f"rxe{number}", f"10.99.{number}.{self.n}")

    def rail_gids(self):
        return {f"rxe{number}": f"10.99.{number}.{self.n}" for number in (0, 1)}

    def decide(self, gids, env=None, sets=None):
        """Decides; exactly these HCAs with these addresses, each where the kernel's table has it, and these variables set."""
        decision = Decision(env)
        same({name: gid for name, (_, gid) in decision.gids.items()}, {name: host.text(gid) for name, gid in gids.items()},
             "HCAs and GIDs decided")
        for name, (index, gid) in decision.gids.items():
            table = host.gid_table(name)
            same(table.get(index, ("", ""))[0], gid, f"{name}'s table at {index}")
        if "NCCL_IB_GID_INDEX" not in (env or {}):
            expect("NCCL_IB_GID_INDEX" not in decision.env, "an index is pinned where NCCL can search")
        if sets is not None:
            same(decision.env, sets, "variables set")
        return decision

    def move(self, net, channels=4, env=None, timeout=60, silence=None, builtin="IB"):
        run = move(self.peer, self.me, net, channels, env, timeout, silence, builtin)
        self.note(f"{net}: status {run.status} after {run.seconds:.0f} s, devices {' '.join(run.devices)}, "
                  f"GIDs {' '.join(f'{name}:{index}={gid}' for name, (index, gid) in sorted(run.gids.items()))}")
        return run

    def stock_flows(self, channels=4, env=None):
        """Stock beside topoguard, where it gets through, too."""
        run = self.move("stock", channels, env)
        expect(run.right, f"stock did not move: {run.status} here, {run.peer_status} there: {run.warnings()}")
        return run

    def stock_fails(self, channels=2, env=None):
        """Stock beside topoguard, where it is the one that does not get through; what it says about that."""
        run = self.move("stock", channels, env, silence=SILENCE)
        expect(run.devices, f"stock did not even start: {run.status}: {run.log[-400:]}")
        expect(not run.right, "stock moved everything: this scenario shows nothing")
        self.note("stock says: " + ("; ".join(w for w in run.warnings() if "real path" not in w) or "nothing"))
        return run

    def fails(self, decision, code, device, peer, channels=2):
        """What no choice on one machine can mend: neither gets through. topoguard says why on the first machine, which sends
        first, with the device and the peer's address; stock uses the GIDs decided, and may be silent."""
        run = self.move("topoguard", channels, silence=SILENCE)
        expect(not run.right, "topoguard moved everything: this scenario shows nothing")
        if self.me == 0:
            said = [line for line in run.log.splitlines() if code in line and device in line and peer in line]
            expect(said, f"no line has {code}, {device} and {peer}:\n" + "\n".join(run.log.splitlines()[-12:]))
            self.note("topoguard says: " + said[0][said[0].find("topoguard"):])
        stock = self.stock_fails(channels)
        expect(stock.gids or self.me == 1, "stock connected nothing: this scenario shows nothing")
        for name, gid in [*run.gids.items(), *stock.gids.items()]:
            same(gid, decision.gids[name], f"GID that the IB transport used on {name}")

    def flows(self, decision, env=None, net="topoguard"):
        """Bytes both ways over every HCA decided, over no other, by the GIDs decided."""
        run = self.move(net, 2 * len(decision.hcas), env)
        tail = "\n".join(run.log.splitlines()[-12:])
        expect(run.right, f"{net}'s movers ended with {run.status} here and {run.peer_status} there:\n{tail}")
        same(run.devices, list(decision.hcas), "devices that the IB transport enumerates")
        same(run.gids, decision.gids, "GIDs that the IB transport used")
        for name, count in run.packets.items():
            expect((count > 100) == (name in decision.hcas), f"{name} carried {count} packets")
        self.note("packets: " + ", ".join(f"{name} {count}" for name, count in sorted(run.packets.items())))
        return run

    def compare(self, env=None):
        """The findings' codes and messages of `topoguard compare` over both machines' documents; the same here and there."""
        mine = topoguard("snapshot", env=env)[1]
        both = [mine, self.peer.meet("snapshot", mine)]
        paths = []
        for number, text in enumerate(both if self.me == 0 else reversed(both)):
            paths.append(f"/tmp/snapshot{number}.json")
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        found = {one["code"]: one["message"] for one in json.loads(topoguard("compare", "--json", *paths)[1])["findings"]}
        self.note("compare: " + (", ".join(found) or "clean"))
        return found
