// SPDX-License-Identifier: Apache-2.0
// The collectors against the kernel and iproute2, in a network namespace of this process's own: every member of every
// link, address and route that our types have must be what `ip -j` prints. Needs root; exits 77 with the reason where
// it cannot run.
#define CATCH_CONFIG_RUNNER
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "host/collect.h"
#include "host/file.h"
#include "record.h"
#include "render.h"
#include "tree.h"

namespace topoguard::test {
namespace {

using Json = nlohmann::json;

bool ip(const std::string& arguments) { return std::system(("ip " + arguments + " 2>/dev/null").c_str()) == 0; }

Json ip_json(const std::string& arguments) {
  FILE* pipe = ::popen(("ip " + arguments).c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  char page[4096];
  for (std::size_t got; (got = std::fread(page, 1, sizeof page, pipe)) > 0;) text.append(page, got);
  REQUIRE(::pclose(pipe) == 0);
  return text.empty() ? Json::array() : Json::parse(text);
}

// A JSON scalar as our maps hold it.
std::string text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

template <typename T>
void same(const Json& object, const char* member, const std::optional<T>& ours) {
  INFO(member);
  const bool theirs = object.contains(member) && !object[member].is_null();
  CHECK(theirs == ours.has_value());
  if (theirs && ours) CHECK(text(object[member]) == text(Json(*ours)));
}

std::multiset<std::string> words(const Json& list) {
  std::multiset<std::string> out;
  for (const Json& word : list) out.insert(text(word));
  return out;
}

void compare_link(const Json& theirs, const Link& ours) {
  INFO(theirs.dump());
  CHECK(theirs["ifname"] == ours.ifname);
  CHECK(words(theirs["flags"]) == std::multiset<std::string>(ours.flags.begin(), ours.flags.end()));
  same(theirs, "mtu", ours.mtu);
  same(theirs, "operstate", ours.operstate);
  same(theirs, "link_type", ours.link_type);
  same(theirs, "address", ours.address);
  same(theirs, "master", ours.master);
  same(theirs, "link", ours.lower);
  same(theirs, "link_index", ours.link_index);
  same(theirs, "link_netnsid", ours.link_netnsid);
  same(theirs, "parentbus", ours.parentbus);
  same(theirs, "parentdev", ours.parentdev);
  const Json info = theirs.value("linkinfo", Json::object());
  same(info, "info_kind", ours.kind);
  same(info, "info_slave_kind", ours.slave_kind);
  const Json data = info.value("info_data", Json::object()), slave = info.value("info_slave_data", Json::object());
  for (const auto& [key, value] : ours.info_data) {
    INFO(key);
    CHECK((data.contains(key) && text(data[key]) == value));
  }
  for (const auto& [key, value] : ours.info_slave_data) {
    INFO(key);
    CHECK((slave.contains(key) && text(slave[key]) == value));
  }
  std::vector<std::string> their_addresses, our_addresses;
  for (const Json& a : theirs["addr_info"])
    their_addresses.push_back(a["family"].get<std::string>() + " " + a["local"].get<std::string>() + "/" +
                              text(a["prefixlen"]) + " " + text(a["scope"]) +
                              (a.value("deprecated", false) ? " deprecated" : "") +
                              (a.value("tentative", false) ? " tentative" : ""));
  for (const LinkAddress& a : ours.addr_info)
    our_addresses.push_back(std::string(family_name(a.family())) + " " + a.local.text() + "/" +
                            std::to_string(a.prefixlen) + " " + a.scope + (a.deprecated == true ? " deprecated" : "") +
                            (a.tentative == true ? " tentative" : ""));
  CHECK(their_addresses == our_addresses);
}

std::string their_route(const Json& r) {
  std::string out = r["dst"].get<std::string>();
  const std::string host = out.find(':') == std::string::npos ? "/32" : "/128";
  if (out != "default" && out.find('/') == std::string::npos) out += host;
  for (const char* member : {"type", "gateway", "dev", "metric", "prefsrc", "scope"})
    if (r.contains(member)) out += std::string(" ") + member + "=" + text(r[member]);
  if (r.contains("via")) out += " gateway=" + text(r["via"]["host"]);
  for (const std::string& flag : words(r.value("flags", Json::array()))) out += " " + flag;
  for (const Json& hop : r.value("nexthops", Json::array()))
    out += " hop " + text(hop["dev"]) + "/" + (hop.contains("gateway") ? text(hop["gateway"]) : "-");
  return out;
}

std::string our_route(const Route& r) {
  std::string out = r.dst ? r.dst->text() : "default";
  const auto add = [&](const char* member, const std::optional<std::string>& value) {
    if (value) out += std::string(" ") + member + "=" + *value;
  };
  const auto address = [](const std::optional<IpAddress>& a) {
    return a ? std::optional<std::string>(a->text()) : std::nullopt;
  };
  const bool other_family = r.gateway && r.gateway->family != r.family;
  add("type", r.type);
  if (!other_family) add("gateway", address(r.gateway));
  add("dev", r.dev);
  if (r.metric) out += " metric=" + std::to_string(*r.metric);
  add("prefsrc", address(r.prefsrc));
  add("scope", r.scope);
  if (other_family) add("gateway", address(r.gateway));
  for (const std::string& flag : std::multiset<std::string>(r.flags.begin(), r.flags.end())) out += " " + flag;
  for (const RouteHop& hop : r.nexthops)
    out += " hop " + hop.dev.value_or("-") + "/" + (hop.gateway ? hop.gateway->text() : "-");
  return out;
}

void compare_routes(const HostSnapshot& ours, Family family, const std::optional<std::string>& table) {
  std::multiset<std::string> theirs, mine;
  const std::string arguments =
      std::string(family == Family::inet ? "-4" : "-6") + " -j route" + (table ? " show table " + *table : "");
  for (const Json& route : ip_json(arguments)) theirs.insert(their_route(route));
  for (const Route& route : known(ours.routes))
    if (route.family == family && route.table == table && (!table || route.type != "local"))
      mine.insert(our_route(route));
  if (table)  // a VRF's table also has its local entries, which `ip` prints with a type
    for (auto at = theirs.begin(); at != theirs.end();)
      at = at->find("type=") != std::string::npos ? theirs.erase(at) : std::next(at);
  for (auto at = mine.begin(); table && at != mine.end();)
    at = at->find("type=") != std::string::npos ? mine.erase(at) : std::next(at);
  INFO(arguments);
  CHECK(theirs == mine);
}

struct Lab {
  Lab() {
    REQUIRE(ip("link set lo up"));
    REQUIRE(ip("link add br-lab type bridge"));
    REQUIRE(ip("link add va type veth peer name vb"));
    // Another namespace's end: link_netnsid.
    child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where a failed REQUIRE leaves no destructor to call
      ::close(STDOUT_FILENO);
      ::close(STDERR_FILENO);
      ::unshare(CLONE_NEWNET);
      ::pause();
      ::_exit(0);
    }
    ::usleep(200000);
    REQUIRE(ip("link add vc type veth peer name vd"));
    REQUIRE(ip("link set vd netns " + std::to_string(child)));
    optional("link add vx type vxlan id 42 local 10.9.1.1 dev va dstport 4789");
    optional("link add mv link va type macvlan mode bridge");
    REQUIRE(ip("link add ve type veth peer name vf"));
    optional("link add mp link ve type macvlan mode vepa");
    optional("tuntap add dev tun-lab mode tun");
    optional("tuntap add dev tap-lab mode tap");
    optional("link add dum type dummy");
    if (optional("link add bond-lab type bond mode active-backup miimon 100")) {
      REQUIRE(ip("link add vg type veth peer name vh"));
      REQUIRE(ip("link set vg master bond-lab"));
    }
    optional("link add link va name va.7 type vlan id 7");
    if (optional("link add vrf-lab type vrf table 1234"))
      vrf = ip("link set vrf-lab up") && ip("link set vc master vrf-lab");
    optional("link add gnv type geneve id 9 remote 10.9.1.9");
    optional("link add tip type ipip remote 10.9.1.8 local 10.9.1.1");
    optional("link add tgre type gre remote 10.9.1.8 local 10.9.1.1");
    optional("link add tgretap type gretap remote 10.9.1.7 local 10.9.1.1");
    optional("link add tsit type sit remote 10.9.1.8 local 10.9.1.1");
    optional("link add tvti type vti remote 10.9.1.8 local 10.9.1.1 key 7");
    optional("link add t6 type ip6tnl remote fd00:9::8 local fd00:9::1");
    optional("link add wg-lab type wireguard");
    REQUIRE(ip("link add vi type veth peer name vj"));  // one parent cannot carry macvlan and ipvlan
    optional("link add ipvl link vi type ipvlan mode l2");
    optional("link add mvt link va type macvtap mode bridge");
    optional("link add ifb-lab type ifb");
    optional("link add team-lab type team");
    optional("link add xfrm-lab link va type xfrm if_id 7");
    REQUIRE(ip("link set vb master br-lab"));
    for (const char* name : {"br-lab", "va", "vc"})
      REQUIRE(ip(std::string("link set ") + name + " up"));  // vb stays down: M-DOWN
    for (const char* name : {"vx", "mv", "tun-lab"}) ip(std::string("link set ") + name + " up");
    REQUIRE(ip("addr add 10.9.1.1/24 dev va"));
    REQUIRE(ip("addr add 10.9.1.2/24 dev va"));
    REQUIRE(ip("addr add 10.9.2.1 peer 10.9.2.9 dev vc"));
    REQUIRE(ip("-6 addr add fd00:9::1/64 dev va"));
    REQUIRE(ip("-6 addr add fd00:9::2/64 dev va preferred_lft 0"));
    REQUIRE(ip("link set vb up"));
    REQUIRE(ip("route add default via 10.9.1.254 metric 50"));
    REQUIRE(ip("route add 10.80.0.0/16 nexthop via 10.9.1.253 nexthop via 10.9.1.252"));
    REQUIRE(ip("route add 10.81.0.0/16 via inet6 fe80::1 dev va"));
    REQUIRE(ip("route add blackhole 10.82.0.0/16"));
    REQUIRE(ip("route add 10.83.0.1 dev va src 10.9.1.2"));
    REQUIRE(ip("-6 route add default via fd00:9::fe"));
    REQUIRE(ip("-6 route add unreachable fd00:bad::/48"));
    REQUIRE(ip("-6 route add fd00:77::/48 nexthop via fd00:9::a nexthop via fd00:9::b"));
    ::sleep(3);  // duplicate address detection settles, so that two looks see the same
  }
  ~Lab() {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  bool optional(const char* arguments) {
    const bool made = ip(arguments);
    // In the test VM the kernel can make every kind.
    if (std::getenv("TOPOGUARD_TEST_ALL_KINDS") != nullptr) {
      INFO("ip " << arguments);
      CHECK(made);
    } else if (!made) {
      WARN("this kernel cannot: ip " << arguments);
    }
    return made;
  }
  pid_t child = -1;
  bool vrf = false;
};

CollectOptions plain() {
  CollectOptions options;
  options.own_library = "/nonexistent";
  return options;
}

}  // namespace

TEST_CASE("links, addresses and routes are what iproute2 prints") {
  static const Lab lab;  // one for all sections
  const HostSnapshot ours = collect({}, plain());
  const Json theirs = ip_json("-d -j addr");
  REQUIRE(ours.links);
  REQUIRE(ours.links->size() == theirs.size());
  REQUIRE(theirs.size() >= 6);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    REQUIRE(theirs[i]["ifindex"] == (*ours.links)[i].ifindex);
    compare_link(theirs[i], (*ours.links)[i]);
  }
  REQUIRE(ours.routes);
  compare_routes(ours, Family::inet, std::nullopt);
  compare_routes(ours, Family::inet6, std::nullopt);
  if (lab.vrf) {
    compare_routes(ours, Family::inet, "1234");
    compare_routes(ours, Family::inet6, "1234");
  }

  SECTION("speed comes from the kernel, sysfs and ioctl alike") {
    int told = 0;
    for (const Link& link : *ours.links) {
      const auto speed = host::read_number("/sys/class/net/" + link.ifname + "/speed");
      if (!link.speed_mbps) continue;
      ++told;
      CHECK(speed == *link.speed_mbps);
    }
    CHECK(told > 0);  // veth says 10000
  }
  SECTION("a recording of it replays to the same") {
    const TempDir directory;
    record_netlink(directory.path());
    Sources replay;
    replay.netlink = directory.path();
    const HostSnapshot again = collect(replay, plain());
    const auto of = [](HostSnapshot s) {
      HostSnapshot only;
      only.links = s.links;
      only.routes = s.routes;
      for (Link& link : *only.links) link.speed_mbps.reset(), link.driver.reset();  // a recording asks no ioctl
      std::erase_if(*only.routes, [](const Route& route) { return route.table.has_value(); });
      return render(only);
    };
    CHECK(of(again) == of(ours));
  }
  SECTION("drift sees the same links") {
    const HostSnapshot drift = collect_drift({});
    HostSnapshot a, b;
    a.links = ours.links;
    b.links = drift.links;
    CHECK(render(a) == render(b));
  }
}

TEST_CASE("a large routing table costs a note, not seconds") {
  const TempDir directory;
  std::string batch =
      "link add big0 type veth peer name big1\nlink set big0 up\nlink set big1 up\naddr add 10.200.0.1/24 dev big0\n";
  for (int i = 0; i < 20000; ++i)
    batch += "route add 10." + std::to_string(100 + i / 10000) + "." + std::to_string(i / 100 % 100) + "." +
             std::to_string(i % 100) + "/32 dev big0\n";
  write_file(directory.path() + "/batch", batch);
  REQUIRE(ip("-batch " + directory.path() + "/batch"));
  const HostSnapshot ours = collect({}, plain());
  REQUIRE(ip("link del big0"));
  REQUIRE(ours.routes);
  CHECK(ours.routes->size() < 17000);
  CHECK(std::any_of(ours.routes->begin(), ours.routes->end(),
                    [](const Route& r) { return r.dst && r.dst->text() == "10.200.0.0/24"; }));
  CHECK(std::any_of(ours.notes.begin(), ours.notes.end(),
                    [](const std::string& n) { return n.find("more than 16384 IPv4 routes") != std::string::npos; }));
}

TEST_CASE("sysfs of another namespace is noticed") {
  // A child in a second namespace keeps this one's /sys.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) != 0) ::_exit(9);
    if (!ip("link add oth0 type veth peer name oth1") || !ip("link set oth0 up") || !ip("link set oth1 up") ||
        !ip("addr add 10.3.3.3/24 dev oth0"))
      ::_exit(8);
    const HostSnapshot ours = collect({}, plain());
    bool speed = false, noted = false;
    for (const Link& link : known(ours.links))
      speed |= link.ifname == "oth0" && link.speed_mbps == 10000 && link.driver == "veth";
    for (const std::string& note : ours.notes) noted |= note.find("another network namespace") != std::string::npos;
    ::_exit((speed ? 0 : 1) | (noted ? 0 : 2));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace topoguard::test

int main(int argc, char** argv) {
  const auto skip = [](const std::string& why) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  };
  if (::geteuid() != 0) return skip("needs root to make a network namespace");
  if (std::system("ip -V >/dev/null 2>&1") != 0) return skip("needs iproute2");
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0)
    return skip(std::string("cannot make a network namespace: ") + std::strerror(errno));
  if (::mount("none", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 || ::mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0)
    return skip(std::string("cannot mount a sysfs of its own: ") + std::strerror(errno));
  return Catch::Session().run(argc, argv);
}
