// SPDX-License-Identifier: Apache-2.0
// What holds on every host: over the recorded cases, where they are at hand, and over generated hosts of fixed seeds.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "decide/findings.h"
#include "decide/interfaces.h"
#include "decide/socket_env.h"
#include "decide/user_settings.h"
#include "document/document.h"
#include "hosts.h"
#include "nccl_rules/hcas.h"

using namespace test;

namespace {

struct Named {
  std::string name;
  HostSnapshot snapshot;
};

std::vector<Named> recorded() {
  std::vector<Named> hosts;
  const char* set = std::getenv("TOPOGUARD_CASES");
  const std::filesystem::path root = set ? set : TOPOGUARD_CASES_DEFAULT;
  std::error_code missing;
  for (const auto& folder : std::filesystem::directory_iterator(root, missing)) {
    if (!folder.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      const auto name = file.path().filename().string();
      if (name.rfind("host", 0) != 0) continue;
      std::ifstream stream(file.path());
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      auto read = read_snapshot(text, name);
      INFO(file.path() << ": " << read.error);
      REQUIRE(read.host);
      hosts.push_back({folder.path().filename().string() + "/" + name, *read.host});
    }
  }
  return hosts;
}

/// Every mixture that the rules distinguish, plausible or not.
Named generated(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  Host host;
  const int count = 1 + pick(12);
  const Strings kinds{"",     "",     "",        "bridge", "veth",      "vxlan", "tun",         "dummy",
                      "bond", "vlan", "macvlan", "ipvlan", "wireguard", "ipoib", "openvswitch", "vrf"};
  for (int i = 0; i < count; ++i) {
    const auto& kind = kinds[static_cast<std::size_t>(pick(static_cast<int>(kinds.size())))];
    const auto name = Strings{"eth", "eno", "ib", "docker", "veth", "lo", "br-"}[static_cast<std::size_t>(pick(7))] +
                      std::to_string(i);
    Strings addresses;
    if (pick(4))
      addresses.push_back("10." + std::to_string(pick(4)) + ".0." + std::to_string(10 + i) + (pick(5) ? "/24" : "/32"));
    if (pick(3) == 0)
      addresses.push_back("2001:db8:" + std::to_string(pick(3)) + "::" + std::to_string(10 + i) + "/64");
    if (pick(2)) addresses.push_back("fe80::" + std::to_string(10 + i) + "/64");
    if (pick(8) == 0) addresses.push_back("169.254.0." + std::to_string(10 + i) + "/16");
    auto& link = host.add(name, kind, addresses);
    if (kind.empty() && pick(5)) link.parentbus = "pci";
    if (pick(2))
      link.speed_mbps =
          Strings{"1000", "10000", "100000"}[static_cast<std::size_t>(pick(3))].size() > 5 ? 100000 : 10000;
    if ((kind == "veth" || kind == "macvlan" || kind == "ipvlan") && pick(3)) link.link_netnsid = 0;
    if (kind == "vlan" || pick(9) == 0)
      link.lower = host.snapshot.links->at(static_cast<std::size_t>(pick(i + 1))).ifname;
    if (pick(6) == 0) host.unplug(name);
    if (pick(12) == 0 && !link.addr_info.empty()) link.addr_info[0].tentative = true;
    if (pick(12) == 0 && !link.addr_info.empty()) link.addr_info[0].deprecated = true;
    if (pick(8) == 0) {
      link.master = host.snapshot.links->at(static_cast<std::size_t>(pick(i + 1))).ifname;
      link.slave_kind = host.get(*link.master).kind;
    }
    if (pick(4) == 0) host.route("default", name, "10.0.0.1", pick(3) * 100);
  }
  if (pick(6) == 0) host.snapshot.routes.reset();
  if (pick(2)) host.peers({"10." + std::to_string(pick(5)) + ".0.200"});
  if (pick(3) == 0) host.snapshot.env["MASTER_ADDR"] = "10.1.0.201";
  for (int i = pick(3); i > 0; --i) host.hca("mlx5_" + std::to_string(i));
  const Strings releases{"2.18.3", "2.21.5", "2.27.7", "2.28.9", "2.29.3", "2.30.7"};
  host.snapshot.nccl_version = releases[static_cast<std::size_t>(pick(6))];
  if (pick(6) == 0) host.snapshot.env["NCCL_SOCKET_FAMILY"] = pick(2) ? "AF_INET6" : "AF_INET";
  if (pick(8) == 0) host.snapshot.env["NCCL_SOCKET_IFNAME"] = pick(2) ? "eth" : "^lo,docker";
  if (pick(9) == 0) host.snapshot.env["NCCL_IB_DISABLE"] = "1";
  return {"seed " + std::to_string(seed), host.snapshot};
}

const std::vector<Named>& all_hosts() {
  static const auto hosts = [] {
    auto list = recorded();
    for (unsigned seed = 1; seed <= 600; ++seed) list.push_back(generated(seed));
    return list;
  }();
  return hosts;
}

std::string outcome(const Decision& decision) { return write_decision(decision); }

/// Devices and steering without what may depend on the process.
std::string devices(Decision decision) {
  decision.findings.clear();
  decision.gpus.clear();
  return write_decision(decision);
}

}  // namespace

TEST_CASE("every device has one verdict and a known reason; every finding a known code") {
  for (const auto& [name, snapshot] : all_hosts()) {
    INFO(name);
    const auto decision = decide(snapshot, {});
    CHECK(!finds(decision, "internal-error"));
    CHECK(decision.devices.size() == known(snapshot.links).size() + known(snapshot.rdma).size());
    for (const auto& device : decision.devices) {
      INFO(device.name << " " << device.reason);
      CHECK(reason_row(device.reason) != nullptr);
      CHECK(!device.detail.empty());
    }
    for (const auto& finding : decision.findings) CHECK(finding_row(finding.code) != nullptr);
    for (const auto& ifname : decision.socket.ifnames) CHECK(verdict(decision, ifname).verdict == Verdict::chosen);
  }
}

TEST_CASE("never an empty choice while a candidate exists, and one interface with RDMA") {
  for (const auto& [name, snapshot] : all_hosts()) {
    INFO(name);
    const auto decision = decide(snapshot, {});
    const View view(snapshot);
    const auto user = read_user_settings(view);
    if (!user.ifname && !user.family) CHECK(!decision.socket.ifnames.empty());
    if (decision.transport == Transport::ib) {
      CHECK(decision.socket.ifnames.size() == 1);
      CHECK(!decision.hcas.empty());
    } else {
      CHECK(decision.hcas.empty());
    }
  }
}

TEST_CASE("what is published is never the user's and leads NCCL to the decision") {
  for (const auto& [name, snapshot] : all_hosts()) {
    INFO(name);
    const auto decision = decide(snapshot, {});
    const View view(snapshot);
    const auto user = read_user_settings(view);
    for (const auto& [variable, value] : decision.env) {
      INFO(variable << "=" << value);
      CHECK(!user.is_set(variable));
    }
    if (decision.socket.ifnames.empty() || decision.transport == Transport::none) continue;
    auto replay = replay_sockets(view, user, decision.env).data;
    if (decision.transport == Transport::ib && replay.size() > 1) replay.resize(1);
    Strings taken;
    bool addresses = true;
    for (const auto& interface : replay) {
      taken.push_back(interface.name);
      const auto meant = decision.socket.addresses.find(interface.name);
      addresses = addresses && meant != decision.socket.addresses.end() && meant->second == interface.address;
    }
    auto wanted = decision.socket.ifnames;
    std::sort(wanted.begin(), wanted.end());
    std::sort(taken.begin(), taken.end());
    const bool arrived = taken == wanted && addresses;
    CHECK(arrived != finds(decision, "address-not-steerable"));

    // Minimal: without what we publish NCCL would end elsewhere.
    auto without = decision.env;
    const bool steered = without.erase("NCCL_SOCKET_IFNAME") + without.erase("NCCL_SOCKET_FAMILY") > 0;
    if (steered) {
      const auto stock = replay_sockets(view, user, without);
      const auto ours = replay_sockets(view, user, decision.env);
      const bool same_data = decision.transport == Transport::ib
                                 ? !stock.data.empty() && stock.data.front() == ours.data.front()
                                 : stock.data == ours.data;
      CHECK(!(same_data && stock.bootstrap.interface == ours.bootstrap.interface));
    }
    std::vector<std::string> ports, meant;
    auto list = decision.env.count("NCCL_IB_HCA") ? NameList::parse(decision.env.at("NCCL_IB_HCA"), 32) : NameList{};
    std::optional<NameList> hcas = user.hca;
    if (decision.env.count("NCCL_IB_HCA")) hcas = list;
    if (decision.transport != Transport::ib) continue;
    for (const auto& port : nccl_hcas(view.release(), known(snapshot.rdma), hcas))
      ports.push_back(port.device->name + ":" + std::to_string(port.port->port));
    for (const auto& hca : decision.hcas) meant.push_back(hca.name + ":" + std::to_string(hca.port));
    std::sort(ports.begin(), ports.end());
    std::sort(meant.begin(), meant.end());
    CHECK(ports == meant);
  }
}

TEST_CASE("order of input does not matter") {
  std::mt19937 random(7);
  for (const auto& [name, snapshot] : all_hosts()) {
    INFO(name);
    auto shuffled = snapshot;
    if (shuffled.links) std::shuffle(shuffled.links->begin(), shuffled.links->end(), random);
    if (shuffled.routes) std::shuffle(shuffled.routes->begin(), shuffled.routes->end(), random);
    std::shuffle(shuffled.peers.begin(), shuffled.peers.end(), random);
    if (shuffled.gpus) std::shuffle(shuffled.gpus->begin(), shuffled.gpus->end(), random);
    if (shuffled.pci) std::shuffle(shuffled.pci->begin(), shuffled.pci->end(), random);
    CHECK(outcome(decide(shuffled, {})) == outcome(decide(snapshot, {})));
  }
}

TEST_CASE("rank, visible GPUs and CPU masks change no device") {
  for (const auto& [name, snapshot] : all_hosts()) {
    INFO(name);
    auto other = snapshot;
    other.env["LOCAL_RANK"] = "5";
    other.env["RANK"] = "13";
    other.env["CUDA_VISIBLE_DEVICES"] = "3";
    other.process = {};
    other.process.cpus_allowed = CpuSet::parse("5");
    other.process.memlock_bytes = 65536;
    other.process.gpu = 3;
    CHECK(devices(decide(other, {})) == devices(decide(snapshot, {})));
  }
}

TEST_CASE("a container bridge or a NIC that is down changes nothing") {
  for (const auto& [name, snapshot] : all_hosts()) {
    if (!snapshot.links || snapshot.env.count("NCCL_SOCKET_IFNAME")) continue;
    INFO(name);
    const auto before = decide(snapshot, {});
    Host parts;
    auto bridge = parts.add("br-0123456789", "bridge", {"172.31.200.1/24"});
    auto down = parts.nic("ens9f9", {"10.253.0.1/24"}, 400000);
    down.flags = {"BROADCAST", "MULTICAST"};
    down.operstate = "DOWN";
    const bool buses = std::any_of(snapshot.links->begin(), snapshot.links->end(),
                                   [](const Link& link) { return link.parentbus || link.parentdev; });
    if (!buses) down.parentbus = down.parentdev = std::nullopt;
    for (auto* added : {&bridge, &down}) {
      // Where only virtual interfaces are left, a bridge is one more of them.
      if (added == &bridge && (finds(before, "virtual-only") || finds(before, "loopback-only"))) continue;
      auto more = snapshot;
      added->ifindex = 4000;
      more.links->push_back(*added);
      if (more.routes && added == &bridge) {
        Route own;
        own.dst = *Prefix::parse("172.31.200.0/24");
        own.dev = added->ifname;
        more.routes->push_back(own);
      }
      const auto after = decide(more, {});
      CHECK(after.socket.ifnames == before.socket.ifnames);
      CHECK(after.socket.addresses == before.socket.addresses);
      CHECK(after.transport == before.transport);
      CHECK(verdict(after, added->ifname).verdict == Verdict::rejected);
    }
  }
}

TEST_CASE("extremes end in a decision") {
  CHECK(decide({}, {}).socket.ifnames.empty());
  Host host;
  host.snapshot.links->clear();
  CHECK(host.decide().transport == Transport::none);

  Host chain;
  chain.snapshot.links->reserve(5000);
  for (int i = 0; i < 4000; ++i)
    chain.over("v" + std::to_string(i), "vlan", "v" + std::to_string(i + 1), {"10.0.0.1/24"});
  CHECK(chain.decide().devices.size() == 4001);

  Host doubles;
  doubles.nic("eth0", {"10.0.0.1/24"});
  doubles.nic("eth0", {"10.0.0.1/24"}).ifindex = 2;
  doubles.get("lo").master = "eth0";
  doubles.route("0.0.0.0/0", "nowhere", "10.0.0.1");
  doubles.snapshot.env["NCCL_SOCKET_IFNAME"] = std::string(100000, ',') + "^";
  doubles.snapshot.env["NCCL_IB_GID_INDEX"] = std::string(100000, '9');
  doubles.snapshot.nccl_version = "not a version";
  CHECK(!finds(doubles.decide(), "internal-error"));
}
