// SPDX-License-Identifier: Apache-2.0
#include "record/events.h"

#include <fmt/format.h>

#include "nccl/common.h"
#include "record/phrases.h"

namespace topoguard::record {

std::string communicator_text(std::uint64_t communicator) { return fmt::format("{:#x}", communicator); }

journal::Event members(const Connection& connection) {
  journal::Event event;
  event.put("connection", connection.id)
      .put("side", side_name(connection.side))
      .put("transport", connection.transport)
      .put("device", connection.device_name)
      .put("device_number", connection.device);
  if (connection.port > 0) event.put("port", connection.port);
  event.put("gid_index", connection.gid_index);
  if (!connection.local.empty()) event.put("local", connection.local);
  if (!connection.peer.empty()) event.put("peer", connection.peer);
  if (!connection.peer_detail.empty()) event.put("peer_detail", connection.peer_detail);
  if (connection.communicator != 0) event.put("communicator", communicator_text(connection.communicator));
  return event;
}

journal::Labels labels(const Connection& connection) {
  return {{"side", std::string(side_name(connection.side))},
          {"transport", connection.transport},
          {"device", connection.device_name}};
}

}  // namespace topoguard::record
