// SPDX-License-Identifier: Apache-2.0
#include "document/redact.h"

#include <catch2/catch.hpp>
#include <random>

#include "cases.h"
#include "document/document.h"
#include "sample.h"

using namespace topoguard;

namespace {

const RedactKey kKey = RedactKey::from_phrase("a test");

IpAddress ip(const char* text) { return *IpAddress::parse(text); }

}  // namespace

TEST_CASE("the hash is SipHash-2-4") {
  // The authors' test vector: key 00..0f, input 00..0e. Ours hashes domain, zero byte, data: the same with an empty
  // domain.
  RedactKey::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  std::string input;
  for (char i = 1; i < 15; ++i) input += i;
  CHECK(RedactKey(bytes).hash("", input) == 0xa129ca6149be45e5);
}

TEST_CASE("two addresses share the same leading bits as before") {
  const AddressRedactor redactor(kKey);
  std::mt19937 random(7);
  const auto common = [](const IpAddress& a, const IpAddress& b) {
    int bits = 0;
    while (bits < a.bits() && ((a.bytes[bits / 8] ^ b.bytes[bits / 8]) >> (7 - bits % 8) & 1) == 0) ++bits;
    return bits;
  };
  for (int round = 0; round < 3000; ++round) {
    IpAddress a, b;
    a.family = b.family = round % 2 ? Family::inet : Family::inet6;
    for (auto* address : {&a, &b})
      for (int i = 0; i < address->bits() / 8; ++i) address->bytes[i] = static_cast<std::uint8_t>(random());
    const int shared = static_cast<int>(random() % static_cast<unsigned>(a.bits()));
    for (int i = 0; i < shared / 8; ++i) b.bytes[i] = a.bytes[i];
    // the 64 bits of the interface id are replaced by themselves, so that GIDs agree across subnets
    const int before = common(a, b), after = common(redactor.address(a), redactor.address(b));
    CHECK(before == after);
  }
}

TEST_CASE("an address keeps its kind and never becomes a network's own") {
  const AddressRedactor redactor(kKey);
  for (const char* same : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "224.0.0.1", "::", "::1", "ff02::1"})
    CHECK(redactor.address(ip(same)) == ip(same));
  std::mt19937 random(8);
  const std::pair<const char*, const char*> kinds[] = {{"10.0.0.0", "10.0.0.0/8"},
                                                       {"172.16.0.0", "172.16.0.0/12"},
                                                       {"192.168.0.0", "192.168.0.0/16"},
                                                       {"169.254.0.0", "169.254.0.0/16"},
                                                       {"100.64.0.0", "100.64.0.0/10"},
                                                       {"fe80::", "fe80::/10"},
                                                       {"fd00::", "fd00::/8"},
                                                       {"2001::", "2001::/16"}};
  bool changed = false;
  for (const auto& [start, prefix] : kinds) {
    for (int round = 0; round < 50; ++round) {
      IpAddress address = ip(start);
      const int length = Prefix::parse(prefix)->length;
      for (int i = (length + 7) / 8; i < address.bits() / 8; ++i)
        address.bytes[i] = static_cast<std::uint8_t>(random());
      const IpAddress redacted = redactor.address(address);
      changed = changed || redacted != address;
      INFO(address.text() << " -> " << redacted.text());
      CHECK(Prefix::parse(prefix)->contains(redacted));
      CHECK(redacted.bytes[address.bits() / 8 - 1] == address.bytes[address.bits() / 8 - 1]);
    }
  }
  CHECK(changed);
  for (int first = 1; first < 224; ++first) {
    IpAddress address = ip("8.8.8.8");
    address.bytes[0] = static_cast<std::uint8_t>(first);
    for (const char* prefix :
         {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "127.0.0.0/8"})
      CHECK(Prefix::parse(prefix)->contains(address) == Prefix::parse(prefix)->contains(redactor.address(address)));
  }
}

TEST_CASE("networks contain what they contained") {
  const AddressRedactor redactor(kKey);
  for (const auto& [prefix, address] :
       {std::pair("10.1.2.0/24", "10.1.2.3"), std::pair("10.1.2.2/31", "10.1.2.3"),
        std::pair("172.20.0.0/14", "172.21.9.9"), std::pair("2001:db8:1::/48", "2001:db8:1:2::5"),
        std::pair("fd00:1:2:3::/64", "fd00:1:2:3::5")}) {
    INFO(prefix);
    const Prefix before = *Prefix::parse(prefix);
    CHECK(before.contains(ip(address)));
    const Prefix after = redactor.prefix(before);
    CHECK(after.length == before.length);
    CHECK(after.network() == after);
    CHECK(after.contains(redactor.address(ip(address))));
    CHECK_FALSE(
        after.contains(redactor.address(ip(before.address.family == Family::inet ? "10.200.1.1" : "2001:db8:77::1"))));
  }
}

TEST_CASE("hardware address, EUI-64 and GIDs still belong together") {
  const AddressRedactor redactor(kKey);
  const auto mac = redactor.hardware("02:11:22:33:44:55");
  REQUIRE(mac);
  CHECK(*mac != "02:11:22:33:44:55");
  CHECK(mac->substr(0, 8) == "02:11:22");
  const IpAddress link_local = redactor.address(ip("fe80::11:22ff:fe33:4455"));
  const IpAddress global = redactor.address(ip("2001:db8:5::11:22ff:fe33:4455"));
  std::string lower;
  for (int i : {13, 14, 15}) {
    char text[4];
    std::snprintf(text, sizeof text, ":%02x", link_local.bytes[static_cast<std::size_t>(i)]);
    lower += text;
  }
  CHECK(*mac == "02:11:22" + lower);
  for (std::size_t i = 8; i < 16; ++i) CHECK(link_local.bytes[i] == global.bytes[i]);
  CHECK(redactor.gid(*Gid::parse("fe80::11:22ff:fe33:4455")).address() == link_local);
  CHECK(redactor.gid(*Gid::parse("::ffff:10.0.0.11")).address() == redactor.address(ip("10.0.0.11")));
  const auto ipoib = redactor.hardware("80:00:00:48:fe:80:00:00:00:00:00:00:00:11:22:ff:fe:33:44:55");
  REQUIRE(ipoib);
  CHECK(ipoib->substr(ipoib->size() - 8) == mac->substr(mac->size() - 8));
  CHECK(redactor.hardware("00:00:00:00:00:00") == "00:00:00:00:00:00");
  for (const char* no : {"", "02", "02:11:22:33:44", "02-11-22-33-44-55", "10.0.0.1", "02:11:22:33:44:5g"})
    CHECK_FALSE(redactor.hardware(no));
}

TEST_CASE("usual names stay, others keep prefixes and NCCL's beginnings") {
  const NameRedactor names(kKey, {"e", "b"});
  for (const char* usual : {"eth0", "enp161s0f0np1", "ens1np0", "lo", "docker0", "br-a29d90e213e7", "veth4d57c65",
                            "mlx5_10", "ibp12s0", "eth0.100", "bond0", "flannel.1", "virbr0", "e", "en", "mlx5_"}) {
    INFO(usual);
    CHECK(names.device(usual) == usual);
  }
  for (const char* unusual :
       {"acme", "acme0", "acme-storage", "ibacme", "docker-acme", "loacme", "bacme0", "enxfeedbead0001", "Acme"}) {
    INFO(unusual);
    CHECK(names.device(unusual) != unusual);
    CHECK(names.device(unusual).size() == std::string(unusual).size());
  }
  CHECK(names.device("ibacme").rfind("ib", 0) == 0);
  CHECK(names.device("docker-acme").rfind("docker-", 0) == 0);
  CHECK(names.device("bacme0")[0] == 'b');
  CHECK(names.device("acme-storage").rfind(names.device("acme"), 0) == 0);
  CHECK(names.device("enp3s0f0acme").rfind("enp3s0f0", 0) == 0);
  CHECK(names.device("acne").rfind(names.device("acme"), 0) != 0);
  CHECK(std::isupper(static_cast<unsigned char>(names.device("acme")[0])));
  CHECK(names.host("node-a") != "node-a");
  CHECK(names.host("node-a.acme.org").rfind(names.host("node-a") + ".", 0) == 0);
}

TEST_CASE("settings: names, addresses and folders go, their syntax stays") {
  HostSnapshot host;
  host.links.emplace(1);
  host.links->at(0).ifname = "acme0";
  host.system.hostname = "node-a";
  const Redactor redactor(kKey, host);
  const std::string acme0 = redactor.device("acme0"), a = redactor.addresses().address(ip("10.1.2.3")).text();
  CHECK(redactor.variable("NCCL_SOCKET_IFNAME", "^=acme0,eth1") == "^=" + acme0 + ",eth1");
  CHECK(redactor.variable("NCCL_IB_HCA", "=mlx5_0:1,acme0:2") == "=mlx5_0:1," + acme0 + ":2");
  CHECK(redactor.variable("MASTER_ADDR", "10.1.2.3") == a);
  CHECK(redactor.variable("NCCL_COMM_ID", "10.1.2.3:29500") == a + ":29500");
  CHECK(redactor.variable("NCCL_COMM_ID", "[fe80::1%acme0]:29500") == "[fe80::1%" + acme0 + "]:29500");
  CHECK(redactor.variable("MASTER_ADDR", "node-a") == redactor.variable("MASTER_ADDR", "node-a"));
  CHECK(redactor.variable("MASTER_ADDR", "node-a").find("node") == std::string::npos);
  CHECK(redactor.variable("NCCL_IB_ADDR_RANGE", "10.1.2.0/24") ==
        redactor.addresses().prefix(*Prefix::parse("10.1.2.0/24")).text());
  CHECK(redactor.variable("NCCL_TOPO_FILE", "/srv/joe/topo.xml") == "/redacted/topo.xml");
  CHECK(redactor.variable("NCCL_DEBUG", "INFO") == "INFO");
  CHECK(redactor.variable("NCCL_IB_GID_INDEX", "3") == "3");
  CHECK(redactor.variable("CUDA_VISIBLE_DEVICES", "0,1") == "0,1");
  CHECK(redactor.variable("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c") != "GPU-8932f937-d72c");
  CHECK(redactor.variable("TOPOGUARD_EXCLUDE", "bridge,kind:veth,acme0,10.1.2.3") ==
        "bridge,kind:veth," + acme0 + "," + a);
  CHECK(redactor.variable("TOPOGUARD_APPLIED", "3e5f+1:NCCL_IB_HCA") == "redacted:NCCL_IB_HCA");
  CHECK(redactor.words("cannot read /srv/joe/x: acme0, 10.1.2.3 on node-a.") ==
        "cannot read /redacted/x: " + acme0 + ", " + a + " on " + redactor.variable("MASTER_ADDR", "node-a") + ".");
}

TEST_CASE("what is hidden occurs nowhere in a redacted document, and the key decides the replacement") {
  ReadSnapshot read = read_snapshot(kFullSnapshot, "f");
  REQUIRE(read.host);
  HostSnapshot host = *read.host;
  host.env["MASTER_ADDR"] = "node-a";
  host.links->at(0).ifname = "acme0";
  host.rdma->at(0).ports[0].netdev = "acme0";
  host.routes->at(0).dev = "acme0";
  host.topoguard.bootstrap = "acme0";
  host.notes = {"acme0 on node-a: /opt/acme/file"};
  const std::string text = write_snapshot(Redactor(kKey, host).snapshot());
  for (const char* hidden : {"acme", "node-a", "10.0.0.11", "10.0.0.12", "0a00:000b", "02:00:00:00:00:01", "/opt",
                             "2001:db8::1", "10.9.0.0"}) {
    INFO(hidden);
    CHECK(text.find(hidden) == std::string::npos);
  }
  CHECK(text != write_snapshot(Redactor(RedactKey::from_phrase("another"), host).snapshot()));
  CHECK(text == write_snapshot(Redactor(RedactKey::from_phrase("a test"), host).snapshot()));
}
