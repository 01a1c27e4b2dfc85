// SPDX-License-Identifier: Apache-2.0
// The second look at the host, at a further communicator.
#include "core/drift.h"

#include <catch2/catch.hpp>

#include "scene.h"

using namespace topoguard;

namespace {

HostSnapshot with_eth0(const char* address) {
  HostSnapshot host;
  Link link;
  link.ifindex = 2;
  link.ifname = "eth0";
  link.flags = {"UP", "LOWER_UP"};
  link.operstate = "UP";
  link.addr_info.push_back({*IpAddress::parse(address), 24, "global", {}, {}});
  host.links = {link};
  return host;
}

// A job on eth0 with 10.0.0.1, whose parts may look as often as they like.
struct Job : Scene {
  explicit Job(int pause_ms = 0) {
    decision.socket.addresses["eth0"] = *IpAddress::parse("10.0.0.1");
    auto parts = session_parts();
    parts.pause = std::chrono::milliseconds(pause_ms);
    const auto collect = parts.collect;
    parts.collect = [collect](const Sources& sources, const CollectOptions& options) {
      auto host = collect(sources, options);
      host.links = with_eth0("10.0.0.1").links;
      return host;
    };
    replace_session_parts(parts);
  }
};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("an address that moved is reported at the second communicator, once, and changes nothing") {
  const Child child = in_child([] {
    Job job;
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(job.looked == 0);
    job.now = with_eth0("10.0.0.9");
    char** const before = environ;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(job.looked == 2 && job.collected == 1 && environ == before);
  });
  CHECK_CHILD(child);
  CHECK(count(child.err, "[address-drift]: eth0: had 10.0.0.1, by which NCCL knows it, and now has 10.0.0.9") == 1);
}

TEST_CASE("a host that stayed as it was is silent at the second communicator") {
  const Child child = in_child([] {
    Job job;
    LoadedMock nccl("2.28");
    job.now = with_eth0("10.0.0.1");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(job.looked == 1);
  });
  CHECK_CHILD(child);
  CHECK(child.err.find("drift") == std::string::npos);
}

TEST_CASE("communicators that come together are looked at once, and silence or off looks at nothing") {
  const Child child = in_child([] {
    Job job(600000);
    LoadedMock nccl("2.28");
    job.now = with_eth0("10.0.0.9");
    for (int i = 0; i < 8; ++i) EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(job.looked == 0);
  });
  CHECK_CHILD(child);
  for (const char* setting : {"TOPOGUARD_LOG", "TOPOGUARD_MODE"}) {
    const Child silent = in_child([setting] {
      Job job;
      setenv(setting, "off", 1);
      LoadedMock nccl("2.28");
      job.now = with_eth0("10.0.0.9");
      (void)call_init(ncclNetPlugin_v11, nccl.logger);
      (void)call_init(ncclNetPlugin_v11, nccl.logger);
      EXPECT(job.looked == 0);
    });
    CHECK_CHILD(silent);
  }
}

TEST_CASE("a second look that fails leaves the communicator alone") {
  const Child child = in_child([] {
    Job job;
    auto parts = session_parts();
    parts.drift = [](const Sources&) -> HostSnapshot { throw 1; };
    replace_session_parts(parts);
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
  });
  CHECK_CHILD(child);
}
