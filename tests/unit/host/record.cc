// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "tree.h"

namespace topoguard::test {
namespace {

// By plain sockets, so that the recorder does not lean on what it tests.
std::string dump(int type, int family) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  struct {
    nlmsghdr header;
    rtmsg body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = static_cast<unsigned short>(type);
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.rtm_family = static_cast<unsigned char>(family);
  if (fd < 0 || ::send(fd, &request, sizeof request, 0) < 0) throw std::runtime_error("no netlink");
  std::string bytes;
  std::vector<char> page(64 * 1024);
  for (bool done = false; !done;) {
    const ssize_t got = ::recv(fd, page.data(), page.size(), 0);
    if (got <= 0) throw std::runtime_error("netlink gave nothing");
    bytes.append(page.data(), static_cast<std::size_t>(got));
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= static_cast<std::size_t>(got);) {
      nlmsghdr header;
      std::memcpy(&header, page.data() + at, sizeof header);
      done |= header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR;
      at += NLMSG_ALIGN(header.nlmsg_len);
    }
  }
  ::close(fd);
  return bytes;
}

}  // namespace

void record_netlink(const std::string& directory) {
  write_file(directory + "/link.nl", dump(RTM_GETLINK, AF_UNSPEC));
  write_file(directory + "/addr.nl", dump(RTM_GETADDR, AF_UNSPEC));
  write_file(directory + "/route4.nl", dump(RTM_GETROUTE, AF_INET));
  write_file(directory + "/route6.nl", dump(RTM_GETROUTE, AF_INET6));
}

}  // namespace topoguard::test
