// SPDX-License-Identifier: Apache-2.0
#include "host/gpu_driver.h"

#include <algorithm>

#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

std::optional<int> number_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const auto value = parse_number(std::string_view(text).substr(at, end - at));
  if (!value || *value > 1 << 20) return std::nullopt;
  return static_cast<int>(*value);
}

// The release: the first blank-separated word of the form digits.digits.
std::optional<int> release(const std::string& line) {
  for (std::size_t at = 0; (at = line.find_first_of("0123456789", at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_not_of("0123456789", at), line.size());
    if (at > 0 && line[at - 1] == ' ' && end + 1 < line.size() && line[end] == '.' && line[end + 1] >= '0' &&
        line[end + 1] <= '9')
      return number_at(line, at);
    at = end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> has_dmabuf(const std::string& driver_version, const std::string& kernel) {
  const std::string line = driver_version.substr(0, driver_version.find('\n'));
  const auto driver = release(line);
  const auto major = number_at(kernel, 0);
  const auto dot = kernel.find('.');
  const auto minor = dot == std::string::npos ? std::nullopt : number_at(kernel, dot + 1);
  if (!driver || !major || !minor) return std::nullopt;
  const bool open = line.find("Open Kernel Module") != std::string::npos;
  return open && *driver >= 515 && (*major > 5 || (*major == 5 && *minor >= 12));
}

void read_gpu_driver(const Sources& sources, HostSnapshot& out) {
  if (!exists(sources.sys_path("/module"))) return;  // its absence is noted with the modules
  const FileText version = read_file(sources.proc_path("/driver/nvidia/version"));
  if (!version && !exists(sources.sys_path("/module/nvidia"))) return;
  out.gpu_driver.peermem = exists(sources.sys_path("/module/nvidia_peermem")) ||
                           exists(sources.sys_path("/module/nv_peer_mem")) ||
                           exists(sources.sys_path("/kernel/mm/memory_peers/nv_mem/version")) ||
                           exists(sources.sys_path("/kernel/mm/memory_peers/nv_mem_nc/version"));
  if (version && out.system.kernel) out.gpu_driver.dmabuf = has_dmabuf(version.text, *out.system.kernel);
  if (!out.gpu_driver.dmabuf)
    note(out, "gpu_driver",
         sources.proc_path("/driver/nvidia/version") +
             " does not tell the driver's flavour; DMA-BUF support is unknown");
}

}  // namespace topoguard::host
