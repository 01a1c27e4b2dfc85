// SPDX-License-Identifier: Apache-2.0
// What rank 0 announces: read from the bytes of an ncclUniqueId, and judged before NCCL waits.
#include "launch/announcement.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

using namespace topoguard;

namespace {

std::array<char, 128> unique_id(const char* address, int port) {
  std::array<char, 128> id{};
  std::memset(id.data(), 0x5a, 8);
  sockaddr_in inet{};
  sockaddr_in6 inet6{};
  if (inet_pton(AF_INET, address, &inet.sin_addr) == 1) {
    inet.sin_family = AF_INET;
    inet.sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(id.data() + 8, &inet, sizeof inet);
  } else if (inet_pton(AF_INET6, address, &inet6.sin6_addr) == 1) {
    inet6.sin6_family = AF_INET6;
    inet6.sin6_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(id.data() + 8, &inet6, sizeof inet6);
  }
  return id;
}

Announcement announced(const char* address, int port = 4000) {
  const auto id = unique_id(address, port);
  return *read_announcement(id.data(), id.size());
}

HostSnapshot host_with_docker() {
  HostSnapshot host;
  Link docker;
  docker.ifindex = 3;
  docker.ifname = "docker0";
  docker.kind = "bridge";
  docker.addr_info.push_back({*IpAddress::parse("172.17.0.1"), 16, "global", {}, {}});
  Link lo;
  lo.ifindex = 1;
  lo.ifname = "lo";
  lo.addr_info.push_back({*IpAddress::parse("127.0.0.1"), 8, "host", {}, {}});
  host.links = std::vector<Link>{lo, docker};
  return host;
}

AnnouncementFacts remote_rank() {
  AnnouncementFacts facts;
  facts.rank = 1;
  facts.ranks = 2;
  facts.local_ranks = 1;
  facts.listens_here = false;
  return facts;
}

std::string code(const Announcement& announcement, const AnnouncementFacts& facts) {
  const auto finding = judge(announcement, facts, host_with_docker());
  return finding ? finding->code : "";
}

}  // namespace

TEST_CASE("the bytes of a unique id") {
  CHECK(announced("10.1.2.3", 51234).address.text() == "10.1.2.3");
  CHECK(announced("10.1.2.3", 51234).port == 51234);
  CHECK(announced("fd00::1", 7).address.text() == "fd00::1");
  std::array<char, 128> id{};
  CHECK_FALSE(read_announcement(id.data(), id.size()));  // NCCL_COMM_ID not set yet, or another layout
  id.fill(0x7f);
  CHECK_FALSE(read_announcement(id.data(), id.size()));
  id = unique_id("0.0.0.0", 4000);
  CHECK_FALSE(read_announcement(id.data(), id.size()));
  id = unique_id("10.1.2.3", 4000);
  CHECK_FALSE(read_announcement(id.data(), 16));
}

TEST_CASE("this host's own bridge, announced by another host") {
  const auto finding = judge(announced("172.17.0.1"), remote_rank(), host_with_docker());
  REQUIRE(finding);
  CHECK(finding->code == "rank0-own-address");
  CHECK(finding->device == "docker0");
  CHECK(finding->message.find("rank 0 announced 172.17.0.1, which is this host's own docker0 (bridge)") == 0);
  CHECK_FALSE(finding->remedy.empty());
}

TEST_CASE("loopback on another host, and no route") {
  CHECK(code(announced("127.0.0.1"), remote_rank()) == "rank0-loopback");
  CHECK(code(announced("::1"), remote_rank()) == "rank0-loopback");
  AnnouncementFacts facts = remote_rank();
  CHECK(code(announced("10.9.9.9"), facts).empty());
  facts.route_error = ENETUNREACH;
  CHECK(code(announced("10.9.9.9"), facts) == "rank0-unreachable");
  CHECK(code(announced("fe80::1"), facts).empty());  // its scope is the other host's, so no lookup can tell
}

TEST_CASE("rank 0 is here: everything that it announces is right") {
  AnnouncementFacts facts = remote_rank();
  facts.listens_here = true;
  for (const char* address : {"127.0.0.1", "172.17.0.1", "::1"}) CHECK(code(announced(address), facts).empty());
  facts.listens_here.reset();  // /proc is not readable: only a job that cannot all be here is told
  CHECK(code(announced("127.0.0.1"), facts) == "rank0-loopback");
  facts.local_ranks.reset();
  CHECK(code(announced("127.0.0.1"), facts).empty());
  facts.local_ranks = 2;
  CHECK(code(announced("127.0.0.1"), facts).empty());
}

TEST_CASE("rank 0 itself hears of its loopback where the job has other hosts") {
  AnnouncementFacts facts = remote_rank();
  facts.rank = 0;
  facts.listens_here = true;
  CHECK(code(announced("127.0.0.1"), facts) == "rank0-loopback");
  CHECK(code(announced("172.17.0.1"), facts).empty());
  facts.local_ranks.reset();
  CHECK(code(announced("127.0.0.1"), facts).empty());
}

TEST_CASE("a listening socket of this namespace is seen, a closed one is not") {
  for (const char* address : {"127.0.0.1", "::1"}) {
    const bool inet = std::strchr(address, ':') == nullptr;
    const int listener = socket(inet ? AF_INET : AF_INET6, SOCK_STREAM, 0);
    auto id = unique_id(address, 0);
    const auto* any = reinterpret_cast<const sockaddr*>(id.data() + 8);
    socklen_t length = inet ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (bind(listener, any, length) != 0) {  // no IPv6 here
      close(listener);
      continue;
    }
    REQUIRE(listen(listener, 1) == 0);
    sockaddr_in6 bound{};
    socklen_t size = sizeof bound;
    REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
    const int port = ntohs(bound.sin6_port);  // at the same place in both
    CHECK(listens_here(announced(address, port)) == true);
    if (inet) CHECK(listens_here(announced("127.0.0.2", port)) == false);
    close(listener);
    CHECK(listens_here(announced(address, port)) == false);
  }
  CHECK_FALSE(listens_here(announced("127.0.0.1"), "/nonexistent"));
}

TEST_CASE("the kernel's route lookup") { CHECK(route_error(announced("127.0.0.1")) == 0); }
