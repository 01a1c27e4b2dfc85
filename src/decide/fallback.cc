// SPDX-License-Identifier: Apache-2.0
#include "decide/fallback.h"

#include <fmt/format.h>

#include <algorithm>

namespace topoguard {
namespace {

std::size_t place(std::string_view id) {
  const auto& rows = fallback_rows();
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const LinkRow& row) { return row.id == id; });
  return static_cast<std::size_t>(at - rows.begin());  // what has no row comes last: it broke at NCCL itself
}

// What the collector saw when it tried: "verbs: mlx5_0: /dev/infiniband/uverbs0 does not open (Permission denied)".
std::string open_error(const HostSnapshot& host, const std::string& device) {
  const std::string start = "verbs: " + device + ": ";
  for (const auto& note : host.notes)
    if (note.rfind(start, 0) == 0) return " (" + note.substr(start.size()) + ")";
  return {};
}

std::string clause(const HostSnapshot& host, const UserSettings& user, const PortState& state) {
  const auto& name = state.device->name;
  if (state.reason == "own-plugin")
    return fmt::format("{} ({}) needs its vendor's network plugin{}, and none is in the loader's search path", name,
                       state.device->driver.value_or("no InfiniBand or Ethernet device"),
                       state.device->driver == "efa" ? ", aws-ofi-nccl" : "");
  if (state.reason == "unopenable") return name + " cannot be opened by this process" + open_error(host, name);
  if (state.reason == "not-listed") {
    const auto* list = user.find("NCCL_IB_HCA");
    return fmt::format("NCCL_IB_HCA={} takes no HCA that could carry data; {} could", list ? *list : "", state.name());
  }
  return fmt::format("{} {}", state.port != nullptr ? state.name() : name, state.detail);
}

}  // namespace

const std::vector<LinkRow>& fallback_rows() {
  static const std::vector<LinkRow> rows{
      {"user-setting", "Unset it where RDMA is meant.", "98-plugin-bypassed"},
      {"own-plugin", "Install that plugin (for EFA: aws-ofi-nccl) where the loader finds it, in the container as well.",
       "07-eks-pod-identity-link"},
      {"iwarp", "Switch the card to RoCE, if it can do both (irdma: devlink dev param), or use TCP.",
       "ice-in-iwarp-mode"},
      {"unopenable",
       "Load ib_uverbs on the host; in a container pass /dev/infiniband (docker: --device=/dev/infiniband) and check "
       "its "
       "permissions.",
       "91-no-uverbs-in-container"},
      {"no-port", "Check the driver: dmesg, ibv_devinfo.", "truncated records"},
      {"port-down", "Check cable, switch port and driver; ibstat shows the state.", "18d-one-nic-trained-down"},
      {"subnet-manager-missing", "Start a subnet manager (opensm) on the fabric, or check the switch's own.",
       "92-port-in-init"},
      {"link-layer-unknown", "Check the driver: dmesg, ibv_devinfo.", "usNIC"},
      {"gid-missing",
       "Give the HCA's interface an address, or the container that interface (SR-IOV, macvlan, host networking).",
       "90-pf-without-gid-vf-with"},
      {"gid-not-steerable", "Use NCCL 2.21 or newer.", "13a-gid-index-pod-a"},
      {"not-listed", "Correct or unset NCCL_IB_HCA.", "env-hca-netdev-names"},
  };
  return rows;
}

std::optional<BrokenLink> first_broken_link(const HostSnapshot& host, const UserSettings& user,
                                            const std::vector<PortState>& states) {
  const PortState* farthest = nullptr;
  bool left = false;
  for (const auto& state : states) {
    if (software_rdma(*state.device)) continue;
    left = left || state.left();
    if (farthest == nullptr || place(state.reason) > place(farthest->reason)) farthest = &state;
  }
  if (farthest == nullptr) return std::nullopt;
  const auto link = [](std::string_view id, std::string device, std::string message) {
    const auto at = place(id);
    const auto& rows = fallback_rows();
    return BrokenLink{std::string(id), std::move(device), std::move(message),
                      at < rows.size() ? std::string(rows[at].remedy) : std::string()};
  };
  if (user.rdma_off()) {
    const auto& setting = user.no_network.empty() ? user.rdma_off_by : user.no_network;
    return link("user-setting", "", setting + " is set and keeps NCCL from it");
  }
  if (left) return std::nullopt;
  return link(farthest->reason, farthest->device->name, clause(host, user, *farthest));
}

}  // namespace topoguard
