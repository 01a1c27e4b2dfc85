// SPDX-License-Identifier: Apache-2.0
//
// What topoguard finds in one libnccl.so.2, without starting NCCL: probe libnccl.so.2 prints a line of JSON,
// {"version", "api", "how", "ib", "socket", "gin", "problem"}; tables are offsets from the load address.
#include <dlfcn.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "stock/release.h"
#include "stock/stock_tables.h"

using namespace topoguard;

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: probe libnccl.so.2\n");
    return 2;
  }
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "probe: %s\n", dlerror());
    return 1;
  }
  const auto nccl = nccl_object_of(dlsym(library, "ncclGetVersion"));
  if (!nccl) {
    std::fprintf(stderr, "probe: %s has no ncclGetVersion\n", arguments[1]);
    return 1;
  }
  const int api = native_api(nccl->version_code).value_or(0);
  const StockTables tables = find_stock_tables(*nccl, api);
  const auto offset = [&](const void* table) {
    return table == nullptr ? nlohmann::json()
                            : nlohmann::json(reinterpret_cast<std::uintptr_t>(table) - nccl->object.base);
  };
  nlohmann::json found{{"version", nccl->version_code},
                       {"api", api},
                       {"how", tables.how},
                       {"ib", offset(tables.ib)},
                       {"socket", offset(tables.socket)},
                       {"gin", tables.gin_ib_proxy != nullptr},
                       {"problem", tables.problem}};
  std::puts(found.dump().c_str());
  return 0;
}
