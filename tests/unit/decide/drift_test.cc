// SPDX-License-Identifier: Apache-2.0
// What changed under a job that NCCL cannot be steered for any more.
#include "decide/drift.h"

#include "hosts.h"

using namespace test;

namespace {

GidEntry entry(int index, const std::string& address, const std::string& type = "RoCE v2") {
  GidEntry made;
  made.index = index;
  const auto ip = IpAddress::parse(address);
  made.gid = *Gid::parse(ip && ip->family == Family::inet ? "::ffff:" + address : address);
  made.type = type;
  made.ndev = "eth1";
  return made;
}

struct Job {
  Host host;
  Decision decided;
  HostSnapshot now;

  explicit Job(const std::string& nccl = "2.28.9", bool rdma = true) {
    host.snapshot.nccl_version = nccl;
    host.nic("eth1", {"10.1.0.11/24"}, 100000);
    host.route("default", "eth1", "10.1.0.1");
    if (rdma) {
      auto& port = host.hca("mlx5_0").ports[0];
      port.link_layer = "Ethernet";
      port.netdev = "eth1";
      port.gids = {entry(0, "fe80::1", "IB/RoCE v1"), entry(1, "fe80::1"), entry(2, "10.1.0.11", "IB/RoCE v1"),
                   entry(3, "10.1.0.11")};
    }
    decided = host.decide();
    now.links = host.snapshot.links;
    now.rdma = host.snapshot.rdma;
    if (rdma)
      for (auto& device : *now.rdma) device.usable.reset();  // a second look does not open it
  }

  std::vector<GidEntry>& gids() { return *now.rdma->at(0).ports[0].gids; }
  Link& eth1() {
    for (auto& link : *now.links)
      if (link.ifname == "eth1") return link;
    throw 0;
  }
  std::vector<Finding> drift() const {
    const auto after = seen_again(host.snapshot, now);
    return find_drift(host.snapshot, decided, after, decide(after, host.policy));
  }
  /// The only finding.
  Finding only() const {
    const auto found = drift();
    REQUIRE(found.size() == 1);
    return found[0];
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a host that stayed as it was shows no drift, nor does one of which nothing could be read") {
  CHECK(Job().drift().empty());
  Job blind;
  blind.now.links.reset();
  blind.now.rdma.reset();
  CHECK(blind.drift().empty());
  Job other;
  other.now.links->push_back(other.now.links->back());
  other.now.links->back().ifname = "veth9";
  other.now.links->back().kind = "veth";
  CHECK(other.drift().empty());
}

TEST_CASE("a GID that moved: found again by releases that search, lost where the index is fixed") {
  Job follows;
  follows.gids()[3].index = 7;
  const auto found = follows.only();
  CHECK(found.code == "gid-drift");
  CHECK(found.severity == Severity::warning);
  CHECK(found.device == "mlx5_0");
  CHECK(has(found.message, "GID index 3 was 10.1.0.11, and is now empty; that GID is at index 7 now"));
  CHECK(has(found.message, "NCCL finds it there for new connections"));
  CHECK(!found.remedy.empty());

  Job fixed("2.19.3");
  REQUIRE(fixed.decided.env["NCCL_IB_GID_INDEX"] == "3");
  fixed.gids()[3].index = 7;
  CHECK(has(fixed.only().message, "NCCL has cached index 3, and cannot be steered again"));

  Job replaced;
  replaced.gids()[3] = entry(3, "10.1.0.99");
  const auto other = replaced.only();
  CHECK(has(other.message, "is now 10.1.0.99; that GID is gone"));
}

TEST_CASE("a port that went down or away is told without its GIDs") {
  Job down;
  down.now.rdma->at(0).ports[0].state = "DOWN";
  down.gids().clear();
  CHECK(down.only().code == "port-drift");
  CHECK(has(down.only().message, "port 1 was ACTIVE, and is now DOWN"));
  Job gone;
  gone.now.rdma->clear();
  CHECK(has(gone.only().message, "is gone"));
}

TEST_CASE("the interface in use: carrier, speed, address, presence") {
  Job carrier("2.28.9", false);
  carrier.eth1().flags = {"NO-CARRIER", "BROADCAST", "MULTICAST", "UP"};
  carrier.eth1().operstate = "DOWN";
  CHECK(carrier.only().code == "link-drift");
  CHECK(has(carrier.only().message, "is now without carrier"));
  Job slower("2.28.9", false);
  slower.eth1().speed_mbps = 10000;
  CHECK(has(slower.only().message, "ran at 100000 Mb/s, and runs at 10000 now"));
  Job faster("2.28.9", false);
  faster.eth1().speed_mbps = 200000;
  CHECK(faster.drift().empty());
  Job moved("2.28.9", false);
  moved.eth1().addr_info[0].local = *IpAddress::parse("10.1.0.99");
  CHECK(moved.only().code == "address-drift");
  CHECK(moved.only().device == "eth1");
  CHECK(has(moved.only().message, "had 10.1.0.11, by which NCCL knows it, and now has 10.1.0.99"));
  Job gone("2.28.9", false);
  gone.now.links->pop_back();
  CHECK(has(gone.only().message, "is gone"));
}

TEST_CASE("a better device that appeared is information, for the next job") {
  Job job("2.28.9", false);
  auto better = job.eth1();
  better.ifname = "eth2";
  better.ifindex = 9;
  better.speed_mbps = 400000;
  better.addr_info[0].local = *IpAddress::parse("10.1.0.12");
  job.now.links->push_back(better);
  job.host.snapshot.routes->push_back(job.host.snapshot.routes->front());
  job.host.snapshot.routes->back().dev = "eth2";
  job.host.route("default", "eth2", "10.1.0.1");
  job.decided = job.host.decide();
  CHECK(job.only().code == "choice-drift");
  CHECK(job.only().severity == Severity::info);
  CHECK(has(job.only().message, "a new one would run Socket over eth2"));
}
