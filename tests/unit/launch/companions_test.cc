// SPDX-License-Identifier: Apache-2.0
// What a base plugin brings besides its net, and by which variable NCCL is led to it.
#include "launch/companions.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace topoguard;

namespace {

using Variables = std::map<std::string, std::string>;

std::string base() {
  const char* path = std::getenv("BASE_PLUGIN");
  return path != nullptr ? path : "";
}

Sources with_library_path(const std::string& folder) {
  Sources sources;
  sources.live_environment = false;
  if (!folder.empty()) sources.environment = {"LD_LIBRARY_PATH=" + folder};
  sources.library_dirs = {"/nonexistent"};
  return sources;
}

Companions on(const char* release, const HostSnapshot& host = {}, const std::string& folder = "") {
  return companions_of(base(), *NcclRelease::parse(release), host, with_library_path(folder));
}

HostSnapshot with_default_plugin() {
  HostSnapshot host;
  host.plugins = {{"/opt/a/libnccl-net-other.so", "net", {"v8"}}, {"/opt/b/libnccl-net.so", "net", {"v8"}}};
  return host;
}

}  // namespace

TEST_CASE("only what this release would look up in the net plugin's library is named") {
  CHECK(on("2.20.5").variables == Variables{});
  CHECK(on("2.21.5").variables == Variables{{"NCCL_TUNER_PLUGIN", base()}});
  CHECK(on("2.28.9").variables == Variables{{"NCCL_TUNER_PLUGIN", base()}, {"NCCL_PROFILER_PLUGIN", base()}});
  CHECK(on("2.29.3").variables.count("NCCL_GIN_PLUGIN") == 0);
  CHECK(on("2.29.7").variables.count("NCCL_GIN_PLUGIN") == 1);
  CHECK(on("2.30.7").variables == Variables{{"NCCL_TUNER_PLUGIN", base()},
                                            {"NCCL_PROFILER_PLUGIN", base()},
                                            {"NCCL_GIN_PLUGIN", base()},
                                            {"NCCL_RMA_PLUGIN", base()}});
  CHECK(on("2.30.7").lost.empty());
}

TEST_CASE("a release that takes no path loses it, and it is said") {
  const Companions companions = on("2.27.3");
  CHECK(companions.variables.empty());
  CHECK(companions.lost == std::vector<std::string>{"tuner"});
  CHECK(on("2.27.7").variables.count("NCCL_TUNER_PLUGIN") == 1);
}

TEST_CASE("what the user set stays, a file of NCCL's default name comes first") {
  HostSnapshot host;
  host.env["NCCL_TUNER_PLUGIN"] = "none";
  CHECK(on("2.28.9", host).variables == Variables{{"NCCL_PROFILER_PLUGIN", base()}});
  const auto folder = std::filesystem::temp_directory_path() / ("companions-" + std::to_string(std::rand()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "libnccl-profiler.so") << "a file";
  CHECK(on("2.28.9", {}, folder).variables == Variables{{"NCCL_TUNER_PLUGIN", base()}});
  std::filesystem::remove_all(folder);
}

TEST_CASE("a base that is none, or cannot be read, brings nothing") {
  CHECK(companions_of("", {2, 30, 7}, {}, with_library_path("")).variables.empty());
  CHECK(companions_of("/nonexistent/libnccl-net.so", {2, 30, 7}, {}, with_library_path("")).variables.empty());
}

TEST_CASE("the base that will be wrapped") {
  HostSnapshot host = with_default_plugin();
  CHECK(expected_base(host, "auto") == "/opt/b/libnccl-net.so");
  CHECK(expected_base(host, "stock").empty());
  CHECK(expected_base(host, "ofi").empty());
  CHECK(expected_base(host, "/opt/c/libnccl-net-ofi.so") == "/opt/c/libnccl-net-ofi.so");
  host.env["NCCL_NET_PLUGIN"] = "topoguard";
  CHECK(expected_base(host, "auto") == "/opt/b/libnccl-net.so");
  host.env["NCCL_NET_PLUGIN"] = "topoguard,ofi";
  CHECK(expected_base(host, "auto").empty());
  CHECK(expected_base({}, "auto").empty());
}
