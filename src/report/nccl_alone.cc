// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "decide/user_settings.h"
#include "decide/view.h"
#include "document/printable.h"
#include "nccl_rules/gid_search.h"
#include "nccl_rules/hcas.h"
#include "nccl_rules/interfaces.h"
#include "report/doctor.h"

namespace topoguard {
namespace {

std::string interface_text(const NcclInterface& interface) {
  return printable(interface.name, 40) + " (" + interface.address.text() + ")";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string port_text(const NcclRelease& release, const NcclPort& taken, const GidSettings& settings) {
  std::string out = printable(taken.device->name, 60) + ":" + std::to_string(taken.port->port);
  static const std::vector<GidEntry> none;
  const GidPick pick =
      nccl_gid(release, link_layer(*taken.port), taken.port->gids ? *taken.port->gids : none, settings);
  if (pick.fails) return out + " (no GID: connecting fails)";
  if (pick.index && link_layer(*taken.port) == "Ethernet") out += " GID " + std::to_string(*pick.index);
  return out;
}

}  // namespace

std::string nccl_alone_phrase(const HostSnapshot& host) {
  const View view(host);
  const NcclRelease& release = view.release();
  const UserSettings user = read_user_settings(view);
  const FindVariable find = [&](std::string_view name) { return user.find(name); };
  const auto addresses = getifaddrs_order(known(host.links), host.system.kernel);

  const BootstrapPick bootstrap = nccl_bootstrap(release, addresses, find);
  std::string out = "bootstrap on ";
  out += bootstrap.unknown     ? "what NCCL_COMM_ID's name resolves to"
         : bootstrap.interface ? interface_text(*bootstrap.interface)
         : host.links          ? "nothing (NCCL stops)"
                               : "an interface that is not known here";

  if (!user.no_network.empty()) return "no network at all, by " + printable(user.no_network, 60) + "; " + out;
  std::vector<std::string> words;
  if (!user.rdma_off()) {
    const GidSettings settings = GidSettings::read(release, find);
    for (const NcclPort& taken : nccl_hcas(release, known(host.rdma), user.hca))
      words.push_back(port_text(release, taken, settings));
  }
  if (!words.empty()) return "IB over " + join(words) + "; " + out;
  for (const NcclInterface& interface : nccl_interfaces(release, addresses, find))
    words.push_back(interface_text(interface));
  if (!host.links) return "interfaces that are not known here; " + out;
  return words.empty() ? "no network at all; " + out : "Socket over " + join(words) + "; " + out;
}

}  // namespace topoguard
