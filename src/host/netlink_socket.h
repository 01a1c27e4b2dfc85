// SPDX-License-Identifier: Apache-2.0
// libnl's sockets, deaf to the host program's environment: nl_socket_alloc() takes its callbacks by NLCB, and
// NLCB=debug or verbose has every message printed on stderr (libnl 3: lib/socket.c, lib/handlers.c).
#pragma once

#include <netlink/handlers.h>
#include <netlink/socket.h>

#include <memory>

namespace topoguard::host {

using NetlinkSocket = std::unique_ptr<nl_sock, void (*)(nl_sock*)>;

/// Not connected. Empty where there is no memory.
inline NetlinkSocket netlink_socket() {
  const std::unique_ptr<nl_cb, void (*)(nl_cb*)> silent(nl_cb_alloc(NL_CB_DEFAULT), &nl_cb_put);
  return {silent ? nl_socket_alloc_cb(silent.get()) : nullptr, &nl_socket_free};
}

}  // namespace topoguard::host
