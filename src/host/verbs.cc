// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "host/file.h"
#include "host/notes.h"
#include "host/rdma.h"

namespace topoguard::host {
namespace {

int open_and_close(const std::string& path) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

// Errors that speak of this process's shortage and not of the device.
bool says_nothing(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN || error == EBUSY;
}

}  // namespace

void try_verbs_devices(const Sources& sources, std::vector<RdmaDevice>& devices, HostSnapshot& out) {
  if (devices.empty()) return;
  const std::string verbs_class = sources.sys_path("/class/infiniband_verbs");
  const Listing listing = list_directory(verbs_class);
  if (!listing && listing.error != ENOENT) {
    note(
        out, "verbs",
        verbs_class + " could not be listed (" + error_text(listing.error) + "); whether RDMA devices open is unknown");
    return;
  }
  std::map<std::string, std::string> nodes;  // RDMA device -> uverbsN
  for (const std::string& name : listing.names)
    if (auto device = read_word(verbs_class + "/" + name + "/ibdev")) nodes.emplace(std::move(*device), name);
  for (RdmaDevice& device : devices) {
    const auto node = nodes.find(device.name);
    if (node == nodes.end()) {
      device.usable = false;  // no uverbs node: ib_uverbs is not loaded, and libibverbs does not list the device either
      continue;
    }
    const std::string path = sources.dev_path("/infiniband/" + node->second);
    const int error = sources.try_open ? sources.try_open(path) : open_and_close(path);
    if (error == 0)
      device.usable = true;
    else if (!says_nothing(error))
      device.usable = false;
    if (error != 0) note(out, "verbs", device.name + ": " + path + " does not open (" + error_text(error) + ")");
  }
}

}  // namespace topoguard::host
