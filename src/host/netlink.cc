// SPDX-License-Identifier: Apache-2.0
#include "host/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "host/file.h"
#include "host/netlink_socket.h"

namespace topoguard::host {
namespace {

using Message = std::unique_ptr<nl_msg, void (*)(nl_msg*)>;

constexpr int kAttempts = 3;
constexpr int kBuffer = 32 * 1024;  // the largest datagram that the kernel builds for a dump

struct Visit {
  const std::function<bool(nlmsghdr*)>* visit;
  std::exception_ptr thrown;
  bool stopped = false;
  bool finished = false;  // NLMSG_DONE came: libnl also returns 0 for bytes that hold no whole message
};

// libnl is C: an exception must not cross it.
int on_message(nl_msg* message, void* argument) {
  auto* state = static_cast<Visit*>(argument);
  try {
    if ((*state->visit)(nlmsg_hdr(message))) return NL_OK;
  } catch (...) {
    state->thrown = std::current_exception();
  }
  state->stopped = true;
  return NL_STOP;
}

int on_finish(nl_msg*, void* argument) {
  static_cast<Visit*>(argument)->finished = true;
  return NL_OK;
}

struct Replay {
  std::string bytes;
  std::size_t at = 0;
};
thread_local Replay* replaying = nullptr;

// Hands libnl the whole recording as one datagram, with the header's length checked so that a cut file ends cleanly.
int replay_recv(nl_sock*, sockaddr_nl* from, unsigned char** buffer, ucred**) {
  Replay& replay = *replaying;
  const std::size_t left = replay.bytes.size() - replay.at;
  if (left < sizeof(nlmsghdr)) return -NLE_MSG_TRUNC;
  *buffer = static_cast<unsigned char*>(std::malloc(left));
  if (!*buffer) return -NLE_NOMEM;
  std::memcpy(*buffer, replay.bytes.data() + replay.at, left);
  replay.at = replay.bytes.size();
  *from = {};
  from->nl_family = AF_NETLINK;
  return static_cast<int>(left);
}

int replay_send(nl_sock*, nl_msg*) { return 0; }

std::string text(int error) { return nl_geterror(error); }

}  // namespace

DumpResult netlink_dump(const Sources& sources, const DumpRequest& request, const std::function<void()>& begin,
                        const std::function<bool(nlmsghdr*)>& visit) {
  DumpResult result;
  Replay replay;
  if (!sources.netlink_is_live()) {
    FileText file = read_file(sources.netlink + "/" + request.recording, 64u << 20);
    if (!file) {
      result.error = error_text(file.error);
      return result;
    }
    replay.bytes = std::move(file.text);
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    begin();
    result = {};
    const NetlinkSocket socket = netlink_socket();
    if (!socket) throw std::bad_alloc();
    nl_cb* callbacks = nl_socket_get_cb(socket.get());
    const std::unique_ptr<nl_cb, void (*)(nl_cb*)> release(callbacks, &nl_cb_put);
    Visit state{&visit, nullptr, false, false};
    nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, &on_message, &state);
    nl_cb_set(callbacks, NL_CB_FINISH, NL_CB_CUSTOM, &on_finish, &state);
    nl_socket_disable_seq_check(socket.get());

    if (sources.netlink_is_live()) {
      nl_socket_set_local_port(socket.get(), 0);  // let the kernel choose: another libnl in the process may count too
      int error = nl_connect(socket.get(), NETLINK_ROUTE);
      if (error < 0) {
        result.error = text(error);
        return result;
      }
      nl_socket_set_msg_buf_size(socket.get(), kBuffer);
      const int fd = nl_socket_get_fd(socket.get());
      const timeval limit{2, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      // From 4.20 the kernel filters by table and protocol; an older one sends all, and the visitor filters.
      const int yes = 1;
      ::setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &yes, sizeof yes);
      const Message message(nlmsg_alloc_simple(request.type, NLM_F_REQUEST | NLM_F_DUMP), &nlmsg_free);
      if (!message || nlmsg_append(message.get(), const_cast<char*>(request.header.data()), request.header.size(),
                                   NLMSG_ALIGNTO) < 0)
        throw std::bad_alloc();
      if (request.attribute != 0 && nla_put_u32(message.get(), request.attribute, request.value) < 0)
        throw std::bad_alloc();
      error = nl_send_auto(socket.get(), message.get());
      if (error < 0) {
        result.error = text(error);
        return result;
      }
    } else {
      replay.at = 0;
      replaying = &replay;
      nl_cb_overwrite_recv(callbacks, &replay_recv);
      nl_cb_overwrite_send(callbacks, &replay_send);
    }

    const int error = nl_recvmsgs(socket.get(), callbacks);
    replaying = nullptr;
    if (state.thrown) std::rethrow_exception(state.thrown);
    if (state.stopped) return result;
    if (error == -NLE_DUMP_INTR) {
      result.interrupted = true;
      if (!sources.netlink_is_live()) return result;
      continue;
    }
    // "No such table": nothing was ever put into it. Of anything else it is an error like others.
    const bool no_such_table = error == -NLE_OBJ_NOTFOUND && request.type == RTM_GETROUTE;
    if (error < 0 && !no_such_table)
      result.error = text(error);
    else if (error >= 0 && !state.finished)
      result.error = "the answer has no end";
    return result;
  }
  return result;
}

}  // namespace topoguard::host
