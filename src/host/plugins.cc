// SPDX-License-Identifier: Apache-2.0
#include "host/plugins.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "host/elf_versions.h"
#include "host/environment.h"
#include "host/file.h"
#include "host/library_path.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId(status.st_dev, status.st_ino);
}

bool is_library_name(std::string_view name) {
  return name.size() > 6 && name.substr(0, 3) == "lib" && name.substr(name.size() - 3) == ".so";
}

// The file names that NCCL tries for one variable, topoguard's own left out.
std::vector<std::string> names_to_try(const std::vector<std::string>& entries, const std::string& kind,
                                      const char* variable_name) {
  std::vector<std::string> names;
  const auto value = variable(entries, variable_name);
  std::string_view left = value ? *value : std::string_view();
  for (int i = 0; !left.empty() && i < 16; ++i) {
    const auto end = std::min(left.find(','), left.size());
    const std::string name(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
    if (name.empty() || name == "none" || name == "topoguard") continue;
    names.push_back(name);
    if (name.find('/') == std::string::npos && !is_library_name(name))
      names.push_back("libnccl-" + kind + "-" + name + ".so");
  }
  names.push_back("libnccl-" + kind + ".so");
  return names;
}

}  // namespace

void read_plugins(const Sources& sources, const std::vector<std::string>& entries, const std::string& own_library,
                  HostSnapshot& out) {
  const LibraryPath path(sources, secure_execution(sources) ? "" : variable(entries, "LD_LIBRARY_PATH").value_or(""));
  const auto own = file_id(own_library);
  std::vector<Plugin> plugins;
  std::set<std::pair<FileId, std::string>> seen;
  const struct {
    const char* kind;
    const char* variable;
  } kinds[] = {{"net", "NCCL_NET_PLUGIN"}, {"env", "NCCL_ENV_PLUGIN"}};
  for (const auto& [kind, variable_name] : kinds) {
    for (const std::string& name : names_to_try(entries, kind, variable_name)) {
      for (const std::string& file : path.find(name)) {
        const auto id = file_id(file);
        if (!id || id == own || !seen.emplace(*id, kind).second) continue;
        const auto exports = plugin_exports(file);
        if (!exports) {
          note(out, "plugins", file + " is no readable ELF library; its API versions are unknown");
          plugins.push_back({file, kind, {}});
          continue;
        }
        if (exports->ours) continue;
        const auto& versions = kind == std::string_view("net") ? exports->net : exports->env;
        if (!versions.empty()) plugins.push_back({file, kind, versions});
      }
    }
  }
  out.plugins = std::move(plugins);
}

}  // namespace topoguard::host
