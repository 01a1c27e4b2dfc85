// SPDX-License-Identifier: Apache-2.0
#include "stock/stock_tables.h"

#include <dlfcn.h>
#include <net/if.h>

#include <cstring>

#include "nccl/common.h"
#include "nccl/gin_v11.h"
#include "stock/elf_symbols.h"
#include "stock/release.h"
#include "stock/table_shape.h"

namespace topoguard {
namespace {

constexpr const char* kIb = "ncclNetIb";
constexpr const char* kSocket = "ncclNetSocket";
constexpr const char* kGin = "ncclGinIbProxy";
constexpr const char* kGetVersion = "ncclGetVersion";
constexpr const char* kBootstrapName = "_ZL18bootstrapNetIfName";

using GetVersion = tgnccl_result_t (*)(int*);

int ask_version(const LoadedObject& object, std::uintptr_t function) {
  if (!object.executable(function)) return 0;
  int code = 0;
  if (reinterpret_cast<GetVersion>(function)(&code) != tgnccl_success || code <= 0 || code > 999999) return 0;
  return code;
}

// The linker's own answer first: it needs no file. dlsym may look further than this object, so the place is checked.
int version_of(const LoadedObject& object) {
  const bool program = object.path == "/proc/self/exe";
  if (void* handle = dlopen(program ? nullptr : object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    const auto function = reinterpret_cast<std::uintptr_t>(dlsym(handle, kGetVersion));
    const int code = ask_version(object, function);
    dlclose(handle);
    if (code != 0) return code;
  }
  for (const auto& symbol : find_symbols(object.path, {kGetVersion}, object.headers).found)
    if (symbol.function)
      if (const int code = ask_version(object, object.base + symbol.value)) return code;
  return 0;
}

bool is_gin_table(const LoadedObject& object, std::uintptr_t address) {
  constexpr std::size_t words = sizeof(tgnccl_gin_v11_t) / sizeof(void*);
  if (address % sizeof(void*) != 0 || !object.writable(address, sizeof(tgnccl_gin_v11_t))) return false;
  const auto* slots = reinterpret_cast<const std::uintptr_t*>(address);
  if (!object.readable(slots[0], 1)) return false;
  // Every slot that NCCL calls without a question; DMA-BUF registration, progress and the last-error query may be NULL.
  for (std::size_t i = 1; i < words; ++i)
    if (slots[i] != 0 && !object.executable(slots[i])) return false;
  const auto* table = reinterpret_cast<const tgnccl_gin_v11_t*>(address);
  return table->init != nullptr && table->devices != nullptr && table->finalize != nullptr;
}

void by_symbols(const NcclObject& nccl, int api, StockTables& tables) {
  const auto& object = nccl.object;
  const auto search = find_symbols(object.path, {kIb, kSocket, kGin}, object.headers);
  tables.problem = search.problem;
  for (const auto& symbol : search.found) {
    if (symbol.function) continue;
    const std::uintptr_t address = object.base + symbol.value;
    const bool right_size = symbol.size == table_words(api) * sizeof(void*);
    if (symbol.name == kIb && right_size && is_net_table(object, address, api, "IB"))
      tables.ib = reinterpret_cast<void*>(address);
    if (symbol.name == kSocket && right_size && is_net_table(object, address, api, "Socket"))
      tables.socket = reinterpret_cast<void*>(address);
    if (symbol.name == kGin && symbol.size == sizeof(tgnccl_gin_v11_t) && is_gin_table(object, address))
      tables.gin_ib_proxy = reinterpret_cast<void*>(address);
  }
  if (tables.socket != nullptr) tables.how = "symbol table";
}

void by_search(const NcclObject& nccl, int api, StockTables& tables) {
  const auto& object = nccl.object;
  const std::size_t bytes = table_words(api) * sizeof(void*);
  int ibs = 0, sockets = 0;
  for (const auto& segment : object.segments) {
    if (!segment.writable || !segment.readable) continue;
    std::uintptr_t at = (segment.begin + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    for (; at < segment.end && bytes <= segment.end - at; at += sizeof(void*)) {
      // Cheap test first: nearly every word fails it.
      const std::uintptr_t second = reinterpret_cast<const std::uintptr_t*>(at)[1];
      if (second == 0 || !object.executable(second)) continue;
      if (is_net_table(object, at, api, "IB")) {
        tables.ib = reinterpret_cast<void*>(at);
        ++ibs;
      } else if (is_net_table(object, at, api, "Socket")) {
        tables.socket = reinterpret_cast<void*>(at);
        ++sockets;
      }
    }
  }
  // Two tables of one name: no way to tell which is NCCL's.
  if (ibs > 1 || sockets > 1) tables.ib = tables.socket = nullptr;
  if (tables.socket != nullptr) tables.how = "memory search";
}

}  // namespace

std::optional<NcclObject> nccl_object_of(const void* address) {
  auto object = object_of(address);
  if (!object) return std::nullopt;
  NcclObject nccl;
  nccl.object = std::move(*object);
  nccl.version_code = version_of(nccl.object);
  if (nccl.version_code != 0) nccl.release = release_text(nccl.version_code);
  return nccl;
}

StockTables find_stock_tables(const NcclObject& nccl, int api) {
  StockTables tables;
  const auto native = native_api(nccl.version_code);
  if (!native) {
    tables.problem = nccl.version_code == 0 ? "its release cannot be asked (no ncclGetVersion)"
                                            : "NCCL " + nccl.release + " is not a release that topoguard knows";
    return tables;
  }
  if (*native != api) {
    tables.problem =
        "NCCL " + nccl.release + " has net API v" + std::to_string(*native) + " and called v" + std::to_string(api);
    return tables;
  }
  by_symbols(nccl, api, tables);
  const std::string unread = tables.problem;
  tables.problem.clear();
  if (tables.socket == nullptr) {
    tables = {};
    by_search(nccl, api, tables);
  }
  if (tables.socket == nullptr)
    tables.problem = "its transports were not found" + (unread.empty() ? std::string() : " (" + unread + ")");
  return tables;
}

std::string bootstrap_interface(const NcclObject& nccl) {
  constexpr std::size_t bytes = 17;  // MAX_IF_NAME_SIZE + 1
  const auto& object = nccl.object;
  for (const auto& symbol : find_symbols(object.path, {kBootstrapName}, object.headers).found) {
    const std::uintptr_t address = object.base + symbol.value;
    if (symbol.function || symbol.size != bytes || !object.writable(address, bytes)) continue;
    const char* text = reinterpret_cast<const char*>(address);
    const std::size_t length = strnlen(text, bytes);
    if (length > 0 && length < IFNAMSIZ) return std::string(text, length);
  }
  return {};
}

}  // namespace topoguard
