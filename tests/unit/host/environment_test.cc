// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "host/peers.h"
#include "tree.h"

namespace topoguard::test {
namespace {

HostSnapshot read(const Sources& sources, std::optional<std::string> version = {}) {
  HostSnapshot out;
  host::read_environment(sources, host::environment_entries(sources), version, out);
  return out;
}

}  // namespace

TEST_CASE("environment beats the user's file, which beats /etc") {
  const TempDir directory;
  const std::string home = directory.path() + "/home";
  Sources sources = unpack("etc/nccl.conf = NCCL_A=etc\\nNCCL_B=etc\\nNCCL_C=etc\\nNCCL_D=etc", directory.path());
  write_file(home + "/.nccl.conf", "#NCCL_A=comment\nNCCL_B=home\nNCCL_B=again\nNCCL_C=home\n NCCL_E=blank first\n");
  write_file(directory.path() + "/named", "NCCL_B=named\n");
  sources.environment = {
      "HOME=" + home, "NCCL_C=env", "NCCL_EMPTY=", "UNRELATED=1", "MASTER_ADDR=10.0.0.1", "OMP_PROC_BIND=true"};
  HostSnapshot out = read(sources);
  CHECK(out.env == std::map<std::string, std::string>{{"NCCL_A", "etc"},
                                                      {"NCCL_B", "home"},
                                                      {"NCCL_C", "env"},
                                                      {"NCCL_D", "etc"},
                                                      {"NCCL_EMPTY", ""},
                                                      {"MASTER_ADDR", "10.0.0.1"},
                                                      {"OMP_PROC_BIND", "true"}});
  CHECK(out.notes.empty());

  sources.environment.push_back("NCCL_CONF_FILE=" + directory.path() + "/named");
  CHECK(read(sources).env.at("NCCL_B") == "named");
  CHECK(read(sources, "2.23.4").env.at("NCCL_B") == "named");
  CHECK(read(sources, "2.22.3").env.at("NCCL_B") == "home");  // 2.22 does not know the variable
}

TEST_CASE("what topoguard published is not the user's") {
  Sources sources;
  sources.live_environment = false;
  sources.etc = "/nonexistent";
  sources.environment = {"NCCL_SOCKET_IFNAME==eth0", "NCCL_IB_HCA==mlx5_0", "NCCL_DEBUG=INFO",
                         "TOPOGUARD_APPLIED=0f1e-22:4026531840:NCCL_SOCKET_IFNAME,NCCL_IB_HCA"};
  const HostSnapshot out = read(sources);
  CHECK(out.env.count("NCCL_SOCKET_IFNAME") == 0);
  CHECK(out.env.count("NCCL_IB_HCA") == 0);
  CHECK(out.env.at("NCCL_DEBUG") == "INFO");
  CHECK(out.topoguard.config.empty());
}

TEST_CASE("topoguard.conf: the environment wins, a named file that is missing is said") {
  const TempDir directory;
  Sources sources = unpack("etc/topoguard.conf = # site\\n TOPOGUARD_MODE = observe \\nTOPOGUARD_SUBNETS=10.0.0.0/8",
                           directory.path());
  sources.environment = {"TOPOGUARD_MODE=off"};
  HostSnapshot out = read(sources);
  CHECK(out.topoguard.config ==
        std::map<std::string, std::string>{{"TOPOGUARD_MODE", "off"}, {"TOPOGUARD_SUBNETS", "10.0.0.0/8"}});
  CHECK(out.notes.empty());
  sources.environment = {"TOPOGUARD_CONFIG=/nonexistent/file"};
  out = read(sources);
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0].find("/nonexistent/file") != std::string::npos);
  CHECK(out.topoguard.config.count("TOPOGUARD_MODE") == 0);
}

TEST_CASE("the live environment is read as it is") {
  ::setenv("NCCL_HOST_TEST_VARIABLE", "live", 1);
  CHECK(read(Sources{}).env.at("NCCL_HOST_TEST_VARIABLE") == "live");
  ::unsetenv("NCCL_HOST_TEST_VARIABLE");
  CHECK(read(Sources{}).env.count("NCCL_HOST_TEST_VARIABLE") == 0);
}

TEST_CASE("UTF-8") {
  CHECK(host::is_utf8("grün \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const char* bad : {"\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe0\x80\x80"})
    CHECK_FALSE(host::is_utf8(bad));
}

TEST_CASE("peers") {
  const TempDir directory;
  const Sources sources = unpack(
      "etc/hosts = 127.0.0.1 localhost\\n10.0.0.7 other node-7.cluster NODE-7 # node-8\\nfd00::7\\tnode-7\\nbogus "
      "node-7",
      directory.path());
  const auto peers = [&](const std::string& master, std::vector<IpAddress> given = {}) {
    HostSnapshot out;
    out.env["MASTER_ADDR"] = master;
    host::read_peers(sources, given, false, out);
    std::string text;
    for (const IpAddress& peer : out.peers) text += peer.text() + " ";
    return text + (out.notes.empty() ? "" : "noted");
  };
  CHECK(peers("10.0.0.1") == "10.0.0.1 ");
  CHECK(peers("[fe80::1%eth0]") == "fe80::1 ");
  CHECK(peers("node-7") == "10.0.0.7 fd00::7 ");
  CHECK(peers("node-8") == "noted");
  CHECK(peers("localhost") == "");
  CHECK(peers("") == "");
  CHECK(peers("10.0.0.1", {*IpAddress::parse("10.0.0.9"), *IpAddress::parse("10.0.0.1")}) == "10.0.0.9 10.0.0.1 ");
}

}  // namespace topoguard::test
