// SPDX-License-Identifier: Apache-2.0
#include "bench/source.h"

#include <dlfcn.h>

#include <stdexcept>

#include "stock/elf_symbols.h"
#include "stock/foreign_plugin.h"
#include "stock/release.h"

namespace topoguard::bench {
namespace {

// ncclDebugLog(ncclDebugLogLevel, unsigned long, char const*, int, char const*, ...), the same in 2.18 to 2.32. Plugins
// are given it, and topoguard's finds by it the NCCL that it belongs to.
constexpr const char* kLogger = "_Z12ncclDebugLog17ncclDebugLogLevelmPKciS1_z";

void no_log(tgnccl_log_level_t, unsigned long, const char*, int, const char*, ...) {}

tgnccl_logger_t logger_of(const LoadedObject& object) {
  for (const ElfSymbol& symbol : find_symbols(object.path, {kLogger}, object.headers).found)
    if (symbol.function && object.executable(object.base + symbol.value))
      return reinterpret_cast<tgnccl_logger_t>(object.base + symbol.value);
  return no_log;
}

struct UniqueId {
  char bytes[TGNCCL_UNIQUE_ID_BYTES];
};

void* stock_table(const Nccl& nccl, const std::string& name) {
  const StockTables tables = find_stock_tables(nccl.object(), nccl.api());
  if (tables.socket == nullptr) throw std::runtime_error(nccl.path() + ": " + tables.problem);
  void* table = name == "IB" ? tables.ib : tables.socket;
  if (table == nullptr) throw std::runtime_error(nccl.path() + ": this NCCL has no " + name + " transport");
  return table;
}

}  // namespace

Nccl::Nccl(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(std::string("cannot open NCCL: ") + dlerror());
  auto* get_id = reinterpret_cast<tgnccl_result_t (*)(UniqueId*)>(dlsym(handle, "ncclGetUniqueId"));
  const auto found = get_id == nullptr ? std::nullopt : nccl_object_of(reinterpret_cast<const void*>(get_id));
  if (!found) throw std::runtime_error(path + " is no NCCL: it has no ncclGetUniqueId");
  object_ = *found;
  const auto native = native_api(object_.version_code);
  if (!native)
    throw std::runtime_error(path + ": NCCL " + (object_.release.empty() ? "of an unknown release" : object_.release) +
                             " is not one that topoguard knows (2.18 to 2.32)");
  api_ = *native;
  logger_ = logger_of(object_.object);
  UniqueId unused{};
  if (get_id(&unused) != tgnccl_success)
    throw std::runtime_error("ncclGetUniqueId failed: NCCL finds no network interface here; NCCL_DEBUG=WARN shows why");
}

std::unique_ptr<Net> open_source(const Nccl& nccl, const std::string& source, const std::string& plugin) {
  try {
    std::unique_ptr<Net> net;
    if (source == "Socket" || source == "IB") {
      net = open_table(stock_table(nccl, source), nccl.api(), nccl.logger());
    } else {
      const std::string file = source == "topoguard" ? plugin : source;
      if (file.empty()) throw std::runtime_error("libnccl-net-topoguard.so is not found beside this program");
      const ForeignPlugin found = open_foreign(file, nccl.api());
      if (found.net == nullptr) throw std::runtime_error(found.problem);
      net = open_table(const_cast<void*>(found.net), found.net_version, nccl.logger());
    }
    if (net->devices().empty()) throw std::runtime_error("it has no device here; NCCL_DEBUG=INFO shows why");
    return net;
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(source + ": " + error.what());
  }
}

}  // namespace topoguard::bench
