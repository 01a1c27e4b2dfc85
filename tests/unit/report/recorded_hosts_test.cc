// SPDX-License-Identifier: Apache-2.0
// Over every recorded host: redaction changes no decision but for names and addresses, and the doctor's text fits its
// page.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cases.h"
#include "decide/decide.h"
#include "document/document.h"
#include "document/layout.h"
#include "document/printable.h"
#include "document/redact.h"
#include "policy/policy_from.h"
#include "report/doctor.h"
#include "report/log_block.h"

using namespace topoguard;

namespace {

HostSnapshot read(const std::filesystem::path& path) {
  ReadSnapshot result = read_snapshot(test::file_text(path), path.filename().string());
  INFO(result.error);
  REQUIRE(result.host);
  return *result.host;
}

Decision decide_on(const HostSnapshot& host) { return decide(host, policy_from(host)); }

// Text for people names devices and addresses in sentences; the rest must agree to the letter.
std::string essence(Decision decision) {
  for (DeviceVerdict& device : decision.devices) device.detail.clear();
  for (Finding& finding : decision.findings) finding.message = finding.remedy = "";
  std::sort(decision.devices.begin(), decision.devices.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(decision.findings.begin(), decision.findings.end(),
            [](const auto& a, const auto& b) { return std::tie(a.code, a.device) < std::tie(b.code, b.device); });
  return write_decision(decision);
}

Decision renamed(Decision decision, const Redactor& redactor) {
  const AddressRedactor& addresses = redactor.addresses();
  for (std::string& name : decision.socket.ifnames) name = redactor.device(name);
  std::map<std::string, IpAddress> meant;
  for (const auto& [name, address] : decision.socket.addresses)
    meant[redactor.device(name)] = addresses.address(address);
  decision.socket.addresses = meant;
  for (HcaChoice& hca : decision.hcas) {
    hca.name = redactor.device(hca.name);
    if (hca.gid) hca.gid = addresses.gid(*hca.gid);
    if (hca.netdev) hca.netdev = redactor.device(*hca.netdev);
  }
  for (auto& [name, value] : decision.env) value = redactor.variable(name, value);
  for (GpuChoice& gpu : decision.gpus)
    for (std::string& name : gpu.nearest) name = redactor.device(name);
  for (DeviceVerdict& device : decision.devices) device.name = redactor.device(device.name);
  for (Finding& finding : decision.findings) finding.device = redactor.device(finding.device);
  return decision;
}

}  // namespace

TEST_CASE("a redacted host gets the same decision under the new names") {
  const auto hosts = test::recorded_hosts();
  CHECK_FALSE(hosts.empty());
  for (const auto& path : hosts) {
    const HostSnapshot host = read(path);
    const Decision decision = decide_on(host);
    for (const char* phrase : {"one", "two"}) {
      const Redactor redactor(RedactKey::from_phrase(phrase), host);
      INFO(path << " " << phrase);
      CHECK(essence(decide_on(redactor.snapshot())) == essence(renamed(decision, redactor)));
    }
  }
}

TEST_CASE("redaction of unusual names keeps what NCCL's prefixes make of them") {
  // every device renamed to a name that redaction changes, with the user's lists alike
  for (const auto& path : test::recorded_hosts()) {
    HostSnapshot host = read(path);
    const auto unusual = [](const std::string& name) { return "site-" + name; };
    if (host.links)
      for (Link& link : *host.links) {
        if (link.ifname == "lo") continue;
        link.ifname = unusual(link.ifname);
        if (link.master) link.master = unusual(*link.master);
        if (link.lower) link.lower = unusual(*link.lower);
      }
    if (host.routes)
      for (Route& route : *host.routes) {
        if (route.dev && *route.dev != "lo") route.dev = unusual(*route.dev);
        for (RouteHop& hop : route.nexthops)
          if (hop.dev && *hop.dev != "lo") hop.dev = unusual(*hop.dev);
      }
    if (host.rdma)
      for (RdmaDevice& device : *host.rdma)
        for (RdmaPort& port : device.ports) {
          if (port.netdev) port.netdev = unusual(*port.netdev);
          if (port.gids)
            for (GidEntry& entry : *port.gids)
              if (entry.ndev) entry.ndev = unusual(*entry.ndev);
        }
    const Redactor redactor(RedactKey::from_phrase("three"), host);
    INFO(path);
    CHECK(essence(decide_on(redactor.snapshot())) == essence(renamed(decide_on(host), redactor)));
  }
}

TEST_CASE("the doctor's lines fit the page and name every device") {
  for (const auto& path : test::recorded_hosts()) {
    const HostSnapshot host = read(path);
    const Policy policy = policy_from(host);
    const Decision decision = decide(host, policy);
    for (const bool verbose : {false, true}) {
      const std::string text = doctor_text(host, policy, decision, {false, verbose});
      INFO(path << "\n" << text);
      std::string flat;
      for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
        const std::string line = text.substr(start, end - start);
        CHECK(columns(line) <= kTextWidth);
        CHECK(line == printable(line));
        flat += line + " ";
      }
      for (const DeviceVerdict& device : decision.devices)
        CHECK(flat.find(device.name.substr(0, 20)) != std::string::npos);
      for (const Finding& finding : decision.findings) CHECK(flat.find(finding.code) != std::string::npos);
      CHECK(flat.find("NCCL alone") != std::string::npos);
    }
    for (const std::string& line : log_block(host, policy, decision, {"0.1.0", "", "", "net", Way::wrapped, ""}))
      CHECK(line == printable(line));
  }
}
