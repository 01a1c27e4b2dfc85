// SPDX-License-Identifier: Apache-2.0
#include "host/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace topoguard::host {
namespace {

bool ask(int fd, const std::string& ifname, void* command) {
  ifreq request{};
  if (fd < 0 || ifname.size() >= sizeof request.ifr_name) return false;
  std::memcpy(request.ifr_name, ifname.data(), ifname.size());
  request.ifr_data = static_cast<char*>(command);
  int rc;
  do {
    rc = ::ioctl(fd, SIOCETHTOOL, &request);
  } while (rc < 0 && errno == EINTR);
  return rc == 0;
}

}  // namespace

Ethtool::Ethtool() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  // A kernel without IPv4, or a filter on families: any socket takes this ioctl.
  if (!socket_) socket_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

std::optional<std::int64_t> Ethtool::speed_mbps(const std::string& ifname) const {
  // The kernel first answers with the (negative) number of mask words that it wants to be offered.
  constexpr std::size_t kMaskWords = 127;
  alignas(
      ethtool_link_settings) char query[sizeof(ethtool_link_settings) + 3 * kMaskWords * sizeof(std::uint32_t)] = {};
  ethtool_link_settings settings{};
  settings.cmd = ETHTOOL_GLINKSETTINGS;
  for (int step = 0; step < 2; ++step) {
    std::memcpy(query, &settings, sizeof settings);
    if (!ask(socket_.get(), ifname, query)) return std::nullopt;
    std::memcpy(&settings, query, sizeof settings);
    if (step == 0 && settings.link_mode_masks_nwords >= 0) return std::nullopt;
    if (step == 0) settings.link_mode_masks_nwords = static_cast<std::int8_t>(-settings.link_mode_masks_nwords);
  }
  const std::uint32_t speed = settings.speed;
  if (speed == 0 || speed > INT32_MAX) return std::nullopt;  // SPEED_UNKNOWN is -1
  return speed;
}

std::optional<std::string> Ethtool::driver(const std::string& ifname) const {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (!ask(socket_.get(), ifname, &info)) return std::nullopt;
  const std::string name(info.driver, ::strnlen(info.driver, sizeof info.driver));
  if (name.empty()) return std::nullopt;
  return name;
}

}  // namespace topoguard::host
