// SPDX-License-Identifier: Apache-2.0
#include "stock/foreign_plugin.h"

#include <dlfcn.h>

#include "stock/loaded_object.h"
#include "stock/release.h"

namespace topoguard {
namespace {

const int kHere = 0;  // an address inside whatever contains topoguard

}  // namespace

ForeignPlugin open_foreign(const std::string& name, int api) {
  ForeignPlugin plugin;
  plugin.path = name;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    plugin.problem = error != nullptr ? error : "it cannot be opened";
    return plugin;
  }
  const void* some_table = nullptr;
  for (int version = kOldestApi; version <= kNewestApi; ++version) {
    const void* table = dlsym(handle, ("ncclNetPlugin_v" + std::to_string(version)).c_str());
    if (table == nullptr) continue;
    some_table = table;
    plugin.versions.push_back(version);
    if (version > api) continue;
    plugin.net = table;
    plugin.net_version = version;
  }
  for (int version = kOldestApi; version <= api && plugin.net != nullptr; ++version)
    if (const void* table = dlsym(handle, ("ncclCollNetPlugin_v" + std::to_string(version)).c_str())) {
      plugin.collnet = table;
      plugin.collnet_version = version;
    }
  if (plugin.net != nullptr) {
    plugin.gin = dlsym(handle, "ncclGinPlugin_v11");
    // The first member of every version.
    if (const char* const called = *static_cast<const char* const*>(plugin.net)) plugin.net_name = called;
  }
  const auto object = some_table != nullptr ? object_of(some_table) : std::nullopt;
  const auto self = object_of(&kHere);
  if (object) plugin.path = object->path;
  plugin.ours = object && self && same_object(*object, *self);
  if (plugin.ours || plugin.net == nullptr) {
    std::string list;
    for (const int version : plugin.versions) list += (list.empty() ? "v" : ", v") + std::to_string(version);
    plugin.problem = plugin.ours ? "it is topoguard itself"
                                 : "it has no net API of v" + std::to_string(api) + " or older, only " +
                                       (list.empty() ? "none of v6 to v12" : list);
    plugin.net = plugin.collnet = plugin.gin = nullptr;
    dlclose(handle);
  }
  return plugin;
}

}  // namespace topoguard
