// SPDX-License-Identifier: Apache-2.0
// The environment of a launched command, and the plugins' names for each NCCL release.
#include <catch2/catch.hpp>

#include "launch/launch_plan.h"
#include "launch/plugin_name.h"

using namespace topoguard;

namespace {

LaunchRequest request() {
  LaunchRequest r;
  r.library_folder = "/opt/topoguard/lib/";
  r.identity = "boot+42";
  return r;
}

Decision steering() {
  Decision decision;
  decision.env = {{"NCCL_SOCKET_IFNAME", "=eth1"}};
  return decision;
}

}  // namespace

TEST_CASE("the decision, both plugins and where it was made") {
  const LaunchPlan plan = launch_plan({}, {}, steering(), request());
  CHECK(plan.set.at("NCCL_SOCKET_IFNAME") == "=eth1");
  CHECK(plan.set.at("NCCL_NET_PLUGIN") == "/opt/topoguard/lib/libnccl-net-topoguard.so");
  CHECK(plan.set.at("NCCL_ENV_PLUGIN") == "/opt/topoguard/lib/libnccl-env-topoguard.so");
  CHECK(plan.set.at("TOPOGUARD_APPLIED") == applied_value("boot+42", steering().env));
  CHECK_FALSE(plan.set.count("LD_PRELOAD"));
  CHECK(plan.unset.empty());
}

TEST_CASE("what the user named stays; a healthy host gets the plugins alone") {
  HostSnapshot host;
  host.env = {{"NCCL_NET_PLUGIN", "none"}};
  const LaunchPlan plan = launch_plan(host, {}, {}, request());
  CHECK(plan.set.size() == 1);
  CHECK(plan.set.count("NCCL_ENV_PLUGIN") == 1);
}

TEST_CASE("modes") {
  Policy policy;
  policy.mode = Mode::off;
  CHECK(launch_plan({}, policy, steering(), request()).set.empty());
  policy.mode = Mode::observe;
  const LaunchPlan plan = launch_plan({}, policy, steering(), request());
  CHECK(plan.set.size() == 2);
  CHECK_FALSE(plan.set.count("NCCL_SOCKET_IFNAME"));
}

TEST_CASE("what an ancestor published is replaced or withdrawn") {
  LaunchRequest r = request();
  r.inherited = {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"};
  LaunchPlan plan = launch_plan({}, {}, steering(), r);
  CHECK(plan.unset == std::set<std::string>{"NCCL_IB_HCA"});
  CHECK(plan.set.at("NCCL_SOCKET_IFNAME") == "=eth1");
  plan = launch_plan({}, {}, {}, r);
  CHECK(plan.unset == std::set<std::string>{"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "TOPOGUARD_APPLIED"});
}

TEST_CASE("a name where the linker knows the folder; nothing where there is no library") {
  LaunchRequest r = request();
  r.in_search_path = true;
  CHECK(launch_plan({}, {}, {}, r).set.at("NCCL_NET_PLUGIN") == "topoguard");
  r.library_folder.clear();
  r.preload = true;
  CHECK(launch_plan({}, {}, {}, r).set.empty());
}

TEST_CASE("LD_PRELOAD is prepended to, never overwritten") {
  CHECK(prepend_preload("", "/t.so") == "/t.so");
  CHECK(prepend_preload("libjemalloc.so.2", "/t.so") == "/t.so:libjemalloc.so.2");
  CHECK(prepend_preload("/a.so /b.so:/c.so", "/t.so") == "/t.so:/a.so:/b.so:/c.so");
  CHECK(prepend_preload("/a.so:/t.so", "/t.so") == "/t.so:/a.so");
  CHECK(prepend_preload("/usr/lib/libasan.so.8:/a.so", "/t.so") == "/usr/lib/libasan.so.8:/t.so:/a.so");
  CHECK(prepend_preload("/x/libclang_rt.asan-x86_64.so", "/t.so") == "/x/libclang_rt.asan-x86_64.so:/t.so");
}

TEST_CASE("entries keep their order, and odd ones stay") {
  LaunchPlan plan;
  plan.set = {{"B", "2"}};
  plan.unset = {"C"};
  CHECK(apply_plan({"A=1", "B=1", "C=1", "odd", "AB=3"}, plan) ==
        std::vector<std::string>{"A=1", "odd", "AB=3", "B=2"});
}

TEST_CASE("topoguard's names are recognised") {
  for (const char* ours : {"topoguard", "libnccl-net-topoguard.so", "/x/libnccl-net-topoguard.so", "ofi,topoguard",
                           "/x/libnccl-env-topoguard.so"})
    CHECK(names_topoguard(ours));
  for (const char* other : {"", "none", "ofi", "/x/topoguard", "libnccl-net.so", "nottopoguard", "topoguard2"})
    CHECK_FALSE(names_topoguard(other));
}

TEST_CASE("a published path is corrected for releases that take none") {
  const auto name = [](const char* release, const char* value = "/x/libnccl-net-topoguard.so") {
    return name_for_release(value, *NcclRelease::parse(release));
  };
  for (const char* old : {"2.18.3", "2.19.3", "2.20.5"}) {
    CHECK(name(old).change);
    CHECK_FALSE(name(old).value);
  }
  for (const char* path : {"2.21.5", "2.24.3", "2.26.2", "2.27.5", "2.28.9", "2.29.7", "2.30.7"})
    CHECK_FALSE(name(path).change);
  CHECK(name("2.27.3").value == "libnccl-net.so");
  CHECK_FALSE(name("2.18.3", "topoguard").change);
  CHECK_FALSE(name("2.18.3", "/opt/libnccl-net-other.so").change);
}
