# SPDX-License-Identifier: Apache-2.0
"""Scenarios of two machines that no choice on either can mend: topoguard names device, peer and cause."""
import host
from job import Decision
from node import SILENCE, expect, same


def port_down_on_one(node):
    """Down on the second machine only: each decides right for itself, and compare says that they differ."""
    node.rails()
    if node.me == 1:
        host.run("ip link set nic1 down")
        host.wait_state("rxe1", "DOWN")
    decision = node.decide(node.rail_gids() if node.me == 0 else {"rxe0": "10.99.0.2"})
    if node.me == 1:
        expect("is DOWN" in decision.findings.get(("port-down", "rxe1"), ""), f"findings: {decision.findings}")
    found = node.compare()
    expect("vm-b" in found.get("hca-count-mismatch", ""), f"compare: {found}")
    # What both have carries. The third connection is the first that leaves by rxe1, for the other machine's only one.
    node.fails(decision, "peer-unreachable", "rxe1", "10.99.0.2", channels=3)


def rdma_gone(node):
    """The second machine lost its RDMA devices: one decides IB, the other Socket, and compare says it."""
    node.rails()
    if node.me == 1:
        for device in ("rxe0", "rxe1"):
            host.run(f"rdma link delete {device}")
    same(Decision().transport, "Socket" if node.me else "IB", "transport")
    found = node.compare()
    expect("vm-b" in found.get("transport-mismatch", ""), f"compare: {found}")
    _one_over_tcp(node)


def ib_disabled_on_one(node):
    """NCCL_IB_DISABLE=1 on the second machine only, which is obeyed. NCCL has no common choice for two hosts: it never connects."""
    node.rails()
    env = {"NCCL_IB_DISABLE": "1"} if node.me else {}
    same(Decision(env).transport, "Socket" if node.me else "IB", "transport")
    _one_over_tcp(node, env)


def _one_over_tcp(node, env=None):
    """IB on the first machine, Socket on the second. Each refuses where it connects, at once, and names both ends; the first
    machine connects first."""
    run = node.move("topoguard", 2, env, silence=SILENCE)
    expect(not run.right, "topoguard moved everything: this scenario shows nothing")
    said = [line[line.find("topoguard"):] for line in run.log.splitlines() if "transport-mismatch" in line]
    node.note("topoguard says: " + (said[0] if said else "nothing"))
    kinds = ["RDMA (IB)", "TCP (Socket)"]
    wanted = f"this end uses {kinds[node.me]}, the other {kinds[1 - node.me]}"
    tail = "\n".join(run.log.splitlines()[-12:])
    expect(all(wanted in line for line in said), f"not {wanted!r}: {said}")
    expect(said or node.me == 1, f"no line has transport-mismatch:\n{tail}")
    expect(run.status == 1 or node.me == 1, f"status {run.status}: the connection was not refused\n{tail}")
    stock = node.move("stock", 2, env, silence=SILENCE, builtin="Socket" if node.me else "IB")
    expect(not stock.right, "stock moved everything: this scenario shows nothing")
    lines = [line for line in stock.warnings() if "real path" not in line]
    node.note("stock says: " + ("; ".join(lines) or "nothing"))
    expect(not any("RDMA" in line or "Socket transport" in line for line in lines), f"stock names the cause: {lines}")


def user_pin_wrong(node):
    """The user's word counts: it fails as in stock, and topoguard has said why beforehand."""
    node.rails()
    env = {"NCCL_IB_GID_INDEX": "15"}
    decision = Decision(env)
    same(decision.env, {}, "variables set against the user's")
    message = decision.findings.get(("gid-pin-stale", "rxe0"), "")
    expect("NCCL_IB_GID_INDEX=15" in message and f"10.99.0.{node.n}" in message, f"findings: {decision.findings}")
    run = node.move("topoguard", 2, env)
    expect(run.status == 1 and "gid-pin-stale" in run.log, f"status {run.status}, and the log has no gid-pin-stale")
    stock = node.stock_fails(2, env)
    same([w for w in run.warnings() if "ibv_modify_qp" in w][:1], [w for w in stock.warnings() if "ibv_modify_qp" in w][:1],
         "the error beside stock's")


def mtu_mismatch(node):
    """4200 on one machine, 1500 on the other: compare says it and the connection; stock's error names no MTU."""
    node.rails(4200 if node.me == 0 else 1500)
    found = node.compare()
    expect("4200 on vm-a" in found.get("mtu-mismatch", ""), f"compare: {found}")
    node.fails(node.decide(node.rail_gids()), "mtu-mismatch", "rxe0", "10.99.0.2")


def rails_crossed(node):
    """The second machine has the rails' subnets the other way round: stock connects, and then there is silence."""
    gids = {}
    for number, nic in enumerate(host.NICS):
        rail = number if node.me == 0 else 1 - number
        host.up(nic)
        host.address(nic, f"10.99.{rail}.{node.n}/24")
        host.rxe(f"rxe{number}", nic)
        gids[f"rxe{number}"] = f"10.99.{rail}.{node.n}"
        host.wait_gid(f"rxe{number}", gids[f"rxe{number}"])
    found = node.compare()
    expect("rail-mismatch" in found, f"compare: {found}")
    node.fails(node.decide(gids), "peer-unreachable", "rxe0", "10.99.1.2")


def wrong_subnet(node):
    """Two subnets without a route between them: compare says it; stock connects, and then there is silence."""
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    host.address("nic0", f"10.99.{node.me}.1/24")
    host.wait_gid("rxe0", f"10.99.{node.me}.1")
    found = node.compare()
    expect("subnet-mismatch" in found, f"compare: {found}")
    node.fails(node.decide({"rxe0": f"10.99.{node.me}.1"}), "peer-unreachable", "rxe0", "10.99.1.1")
