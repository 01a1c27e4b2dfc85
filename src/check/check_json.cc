// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "check/check_text.h"
#include "check/verdict.h"

namespace topoguard::check {
namespace {

using Json = nlohmann::ordered_json;

Json end_json(const HostSeen& host, const std::string& name, const Offer& offer) {
  return {{"rank", host.hello.rank}, {"host", name},           {"use", use_name(offer.use)},
          {"device", offer.device},  {"netdev", offer.netdev}, {"address", offer.address.text()}};
}

Json host_json(const HostSeen& host, const std::string& name) {
  Json out = {{"rank", host.hello.rank}, {"host", name}};
  if (!host.from.empty()) out["from"] = host.from;
  if (!host.also.empty()) out["also_ranks"] = host.also;
  out["reported"] = host.reported;
  out["topoguard"] = host.hello.topoguard;
  if (host.hello.digest.nccl_version) out["nccl"] = *host.hello.digest.nccl_version;
  out["transport"] = transport_name(host.hello.digest.transport);
  if (host.clock)
    out["clock"] = {{"offset_seconds", host.clock->seconds}, {"uncertainty_seconds", host.clock->uncertainty}};
  Json& addresses = out["addresses"] = Json::array();
  for (const Offer& offer : host.hello.offers) {
    Json one = {{"use", use_name(offer.use)},
                {"device", offer.device},
                {"netdev", offer.netdev},
                {"address", offer.address.text()}};
    if (offer.mtu > 0) one["mtu"] = offer.mtu;
    addresses.push_back(std::move(one));
  }
  return out;
}

Json probe_json(const Probe& probe, Json from, Json to) {
  Json out = {{"from", std::move(from)}, {"to", std::move(to)}, {"tcp", reach_name(probe.tcp)}};
  if (probe.tcp == Reach::ok) out["connect_us"] = probe.connect_us;
  if (probe.error != 0) out["errno"] = probe.error;
  out["path_mtu"] = {{"state", mtu_state_name(probe.mtu_state)}, {"wanted", probe.mtu_wanted}};
  if (probe.mtu > 0) out["path_mtu"]["bytes"] = probe.mtu;
  if (probe.told_by) out["path_mtu"]["told_by"] = probe.told_by->text();
  if (probe.usual_source) out["usual_source"] = probe.usual_source->text();
  return out;
}

}  // namespace

std::string check_json(const Gathered& gathered, const std::vector<Finding>& findings) {
  const auto names = labels(gathered);
  Json out = {{"schema", "topoguard.check/1"}, {"seconds", gathered.seconds}, {"ranks", gathered.placement.ranks}};
  out["missing_count"] = gathered.missing_count;
  out["missing_ranks"] = gathered.missing;
  out["strangers"] = gathered.strangers;
  Json& hosts = out["hosts"] = Json::array();
  Json& connections = out["connections"] = Json::array();
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i) {
    const HostSeen& host = gathered.hosts[i];
    hosts.push_back(host_json(host, names[i]));
    for (const Probe& probe : host.probes) {
      const std::size_t other = host_of(gathered, probe.partner);
      if (other == gathered.hosts.size()) continue;
      const Offer* from = offer_at(host.hello, probe.from);
      const Offer* to = offer_at(gathered.hosts[other].hello, probe.to);
      if (from == nullptr || to == nullptr) continue;
      connections.push_back(
          probe_json(probe, end_json(host, names[i], *from), end_json(gathered.hosts[other], names[other], *to)));
    }
  }
  Json& list = out["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json one = {{"severity", severity_name(finding.severity)}, {"code", finding.code}};
    if (!finding.device.empty()) one["device"] = finding.device;
    one["message"] = finding.message;
    one["remedy"] = finding.remedy;
    list.push_back(std::move(one));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace topoguard::check
