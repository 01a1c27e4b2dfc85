// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"
#include "host/file.h"
#include "host/system.h"

namespace topoguard::host {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

std::optional<std::string> container_kind(const Sources& sources, const std::vector<std::string>& entries) {
  // The process's own root, so that a recording brings its own.
  const std::string root = sources.proc_path("/self/root");
  const FileText mounts = read_file(sources.proc_path("/self/mountinfo"), 1 << 20);
  const FileText cgroup = read_file(sources.proc_path("/self/cgroup"), 1 << 16);
  // pyxis and Kubernetes come first: both may run on top of what the later rows see.
  if (variable(entries, "KUBERNETES_SERVICE_HOST") || has(cgroup.text, "kubepods") ||
      exists(root + "/var/run/secrets/kubernetes.io"))
    return "kubernetes";
  if (has(mounts.text, "/enroot/") || has(mounts.text, "/pyxis_")) return "slurm-pyxis";
  if (exists(root + "/.dockerenv") || has(cgroup.text, "/docker/") || has(cgroup.text, "/docker-")) return "docker";
  if (exists(root + "/run/.containerenv") || has(cgroup.text, "/libpod")) return "podman";
  if (const auto named = variable(entries, "container"); named && !named->empty())
    return *named == "podman" || *named == "docker" ? *named : "other";
  if (has(cgroup.text, "/lxc/") || has(cgroup.text, "/lxc.payload") || has(cgroup.text, "/containerd") ||
      has(cgroup.text, "cri-containerd"))
    return "other";
  if (!mounts && !cgroup) return std::nullopt;
  return "none";
}

}  // namespace topoguard::host
