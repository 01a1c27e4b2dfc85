// SPDX-License-Identifier: Apache-2.0
#include "host/route_to.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <memory>

#include "host/netlink_socket.h"

namespace topoguard::host {
namespace {

struct Answer {
  bool came = false;
  int error = 0;
};

int on_message(nl_msg* message, void* argument) {
  auto* answer = static_cast<Answer*>(argument);
  answer->came = true;
  const auto* route = static_cast<const rtmsg*>(nlmsg_data(nlmsg_hdr(message)));
  // A matching entry may itself say "unreachable".
  if (nlmsg_hdr(message)->nlmsg_type == RTM_NEWROUTE && route->rtm_type == RTN_UNREACHABLE)
    answer->error = EHOSTUNREACH;
  return NL_STOP;
}

int on_error(sockaddr_nl*, nlmsgerr* error, void* argument) {
  auto* answer = static_cast<Answer*>(argument);
  answer->came = true;
  answer->error = -error->error;
  return NL_STOP;
}

int put_address(nl_msg* message, int attribute, const IpAddress& address) {
  return nla_put(message, attribute, address.bits() / 8, address.bytes.data());
}

}  // namespace

RouteAnswer ask_route(const RouteQuestion& question) noexcept {
  const unsigned index = question.device.empty() ? 0 : if_nametoindex(question.device.c_str());
  if (!question.device.empty() && index == 0) return RouteAnswer::unknown;
  const NetlinkSocket socket = netlink_socket();
  const std::unique_ptr<nl_msg, void (*)(nl_msg*)> message(nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST),
                                                           &nlmsg_free);
  if (!socket || !message) return RouteAnswer::unknown;
  rtmsg header{};
  header.rtm_family = question.to.family == Family::inet ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(question.to.bits());
  header.rtm_flags = RTM_F_FIB_MATCH;
  const bool with_source = question.from && question.from->family == question.to.family;
  if (with_source) header.rtm_src_len = static_cast<unsigned char>(question.from->bits());
  if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0 ||
      put_address(message.get(), RTA_DST, question.to) < 0 ||
      (with_source && put_address(message.get(), RTA_SRC, *question.from) < 0) ||
      (index != 0 && nla_put_u32(message.get(), RTA_OIF, index) < 0))
    return RouteAnswer::unknown;

  Answer answer;
  nl_cb* callbacks = nl_socket_get_cb(socket.get());
  const std::unique_ptr<nl_cb, void (*)(nl_cb*)> release(callbacks, &nl_cb_put);
  nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, &on_message, &answer);
  nl_cb_err(callbacks, NL_CB_CUSTOM, &on_error, &answer);
  nl_socket_disable_auto_ack(socket.get());
  nl_socket_disable_seq_check(socket.get());
  nl_socket_set_local_port(socket.get(), 0);  // let the kernel choose: another libnl in the process may count too
  if (nl_connect(socket.get(), NETLINK_ROUTE) < 0) return RouteAnswer::unknown;
  const timeval limit{0, 500000};
  ::setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (nl_send_auto(socket.get(), message.get()) < 0) return RouteAnswer::unknown;
  nl_recvmsgs(socket.get(), callbacks);
  if (!answer.came) return RouteAnswer::unknown;
  if (answer.error == ENETUNREACH || answer.error == EHOSTUNREACH) return RouteAnswer::none;
  return answer.error == 0 ? RouteAnswer::exists : RouteAnswer::unknown;
}

}  // namespace topoguard::host
