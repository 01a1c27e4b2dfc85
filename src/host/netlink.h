// SPDX-License-Identifier: Apache-2.0
// One rtnetlink dump, from the live kernel or from a recorded file, by libnl-3 (no caches: one pass over the messages).
// Facts: rtnetlink(7), Documentation/userspace-api/netlink/intro.rst.
//
// Each dump has a socket of its own: a dump that is stopped half-way leaves nothing for the next one to trip over.
// Thread-safe: no shared state. Throws std::bad_alloc only; an exception of the visitor passes through.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "host/sources.h"

struct nlmsghdr;

namespace topoguard::host {

struct DumpRequest {
  std::uint16_t type = 0;       ///< RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE
  std::string header;           ///< bytes of ifinfomsg, ifaddrmsg or rtmsg
  std::uint16_t attribute = 0;  ///< one u32 attribute to add, 0 = none
  std::uint32_t value = 0;
  std::string recording;  ///< file name below Sources::netlink
};

struct DumpResult {
  std::string error;         ///< "" = complete, or stopped by the visitor
  bool interrupted = false;  ///< the kernel's tables changed during every attempt: entries may be missing or doubled
};

/// Calls `begin` before each attempt (forget what was seen) and `visit` per message; `visit` returns false to stop.
/// Waits at most 2 s for an answer.
DumpResult netlink_dump(const Sources& sources, const DumpRequest& request, const std::function<void()>& begin,
                        const std::function<bool(nlmsghdr*)>& visit);

}  // namespace topoguard::host
