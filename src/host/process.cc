// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <vector>

#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

// The value of a "Name:   value" line.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    if (line.size() > name.size() && line.substr(0, name.size()) == name) return trim(line.substr(name.size()));
    at = end + 1;
  }
  return std::nullopt;
}

// A cpu_set_t ends at 1024 CPUs; the call fails with EINVAL until the buffer holds the kernel's own width.
std::optional<CpuSet> allowed_cpus() {
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  for (std::size_t words = 16; words <= (1u << 20) / kBits; words *= 4) {
    std::vector<unsigned long> mask(words);
    if (::sched_getaffinity(0, words * sizeof(unsigned long), reinterpret_cast<cpu_set_t*>(mask.data())) == 0) {
      CpuSet cpus;
      for (std::size_t i = 0; i < words; ++i)
        for (std::size_t bit = 0; mask[i] != 0 && bit < kBits; ++bit)
          if (mask[i] >> bit & 1) cpus.insert(static_cast<unsigned>(i * kBits + bit));
      return cpus;
    }
    if (errno != EINVAL) return std::nullopt;
  }
  return std::nullopt;
}

// The kernel asks for the capability in the first user namespace: /proc/self/uid_map is the identity over all ids
// there.
bool may_lock_anything(const Sources& sources, std::string_view status) {
  const auto text = field(status, "CapEff:");
  std::uint64_t capabilities = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), capabilities, 16).ec != std::errc())
    return false;
  constexpr int kIpcLock = 14;
  if ((capabilities >> kIpcLock & 1) == 0) return false;
  const FileText map = read_file(sources.proc_path("/self/uid_map"), 1 << 12);
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = trim(map.text); !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \n"), rest.size());
    numbers.push_back(parse_number(rest.substr(0, end)).value_or(-1));
    rest = trim(rest.substr(end));
  }
  return numbers == std::vector<std::int64_t>{0, 0, UINT32_MAX};
}

std::optional<std::int64_t> locked_memory(const Sources& sources, std::string_view status) {
  if (may_lock_anything(sources, status)) return -1;
  if (sources.proc_is_live()) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::nullopt;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT64_MAX) return -1;
    return static_cast<std::int64_t>(limit.rlim_cur);
  }
  const FileText limits = read_file(sources.proc_path("/self/limits"), 1 << 14);
  const auto value = field(limits.text, "Max locked memory");
  if (!value) return std::nullopt;
  const auto soft = value->substr(0, value->find(' '));
  return soft == "unlimited" ? std::optional<std::int64_t>(-1) : parse_number(soft);
}

}  // namespace

void read_process(const Sources& sources, HostSnapshot& out) {
  const FileText status = read_file(sources.proc_path("/self/status"), 1 << 18);
  const auto set = [&](const char* name) -> std::optional<CpuSet> {
    const auto value = field(status.text, name);
    return value ? CpuSet::parse(*value) : std::nullopt;
  };
  if (sources.proc_is_live()) out.process.cpus_allowed = allowed_cpus();
  if (!out.process.cpus_allowed) out.process.cpus_allowed = set("Cpus_allowed_list:");
  out.process.mems_allowed = set("Mems_allowed_list:");
  if (!out.process.cpus_allowed) note(out, "process", "the CPUs that this process may use are unknown");
  if (!out.process.mems_allowed) {
    const std::string why =
        status ? "has no Mems_allowed_list" : "could not be read (" + error_text(status.error) + ")";
    note(out, "process", sources.proc_path("/self/status") + " " + why + "; allowed memory nodes are unknown");
  }
  out.process.memlock_bytes = locked_memory(sources, status.text);

  if (!sources.dev.empty()) return;  // the file system that a recording lies on says nothing about its host
  struct statvfs shm {};
  if (::statvfs(sources.dev_path("/shm").c_str(), &shm) == 0)
    out.shm_bytes = static_cast<std::int64_t>(shm.f_blocks) * static_cast<std::int64_t>(shm.f_frsize);
  else
    note(out, "shm", sources.dev_path("/shm") + " is not there (" + error_text(errno) + "); its size is unknown");
}

std::optional<std::string> boot_and_network_namespace(const Sources& sources) {
  const auto boot = read_word(sources.proc_path("/sys/kernel/random/boot_id"));
  const auto netns = link_target(sources.proc_path("/self/ns/net"));  // "net:[4026531840]"
  if (!boot || boot->empty() || !netns) return std::nullopt;
  const auto open = netns->find('[');
  if (open == std::string::npos || netns->back() != ']') return std::nullopt;
  return *boot + ":" + netns->substr(open + 1, netns->size() - open - 2);
}

}  // namespace topoguard::host
