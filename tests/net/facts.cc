// SPDX-License-Identifier: Apache-2.0
#include "facts.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace rig {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> thread_names() {
  std::vector<std::string> names;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Sockets and pipes are listed by kind: their numbers differ from run to run. The listing's own descriptor is left out.
std::vector<std::string> open_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    std::string target = fs::read_symlink(entry.path(), gone).string();
    if (gone || target.find("/proc/") == 0) continue;
    files.push_back(target.substr(0, target.find(":[")));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> loaded_objects() {
  std::vector<std::string> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
          static_cast<std::vector<std::string>*>(list)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &objects);
  return objects;
}

std::string status_of_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  }
  return {};
}

// In kB, as the kernel prints it.
int memory(const char* kind) { return std::atoi(status_of_process(kind).c_str()); }

nlohmann::json variables() {
  nlohmann::json variables = nlohmann::json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals == nullptr) continue;
    const char* begin = *entry;
    std::string name(begin, equals);
    if (name.rfind("NCCL_", 0) == 0 || name.rfind("TOPOGUARD_", 0) == 0) variables[name] = equals + 1;
  }
  return variables;
}

}  // namespace

nlohmann::json process_facts() {
  return {{"threads", thread_names()},       {"fds", open_files()},
          {"objects", loaded_objects()},     {"mask", status_of_process("Cpus_allowed_list")},
          {"memory_kib", memory("RssAnon")}, {"resident_kib", memory("VmRSS")},
          {"environment", variables()}};
}

}  // namespace rig
