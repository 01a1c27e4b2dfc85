// SPDX-License-Identifier: Apache-2.0
// Somebody else's net plugin, of one API version (FOREIGN_API): one device, a collective network beside it.
#include <cstdlib>
#include <cstring>

#include "wrap/api.h"

#define FOREIGN_JOIN2(a, b, c) a##b##c
#define FOREIGN_JOIN(a, b, c) FOREIGN_JOIN2(a, b, c)
#define FOREIGN_EXPORT __attribute__((visibility("default")))

using Table = FOREIGN_JOIN(tgnccl_net_v, FOREIGN_API, _t);
using CollNet = FOREIGN_JOIN(tgnccl_collnet_v, FOREIGN_API, _t);
using Properties = topoguard::Api<Table>::Properties;

namespace {

template <typename T>
tgnccl_result_t devices(T* count) {
  *count = 3;
  return tgnccl_success;
}

tgnccl_result_t properties(int, Properties* out) {
  std::memset(out, 0, sizeof *out);
  out->name = "foreign0";
  return tgnccl_success;
}

template <typename... A>
tgnccl_result_t init(A...) {
  return std::getenv("FOREIGN_FAILS") != nullptr ? tgnccl_system_error : tgnccl_success;
}

template <typename Function>
struct Succeed;
template <typename... A>
struct Succeed<tgnccl_result_t (*)(A...)> {
  static tgnccl_result_t call(A...) { return tgnccl_success; }
};

}  // namespace

extern "C" {
FOREIGN_EXPORT extern Table FOREIGN_JOIN(ncclNetPlugin_v, FOREIGN_API, );
FOREIGN_EXPORT extern CollNet FOREIGN_JOIN(ncclCollNetPlugin_v, FOREIGN_API, );
Table FOREIGN_JOIN(ncclNetPlugin_v, FOREIGN_API, ) = [] {
  Table t{};
  t.name = "Foreign";
  t.init = &init;
  t.devices = &devices<int>;
  t.get_properties = &properties;
  t.isend = &Succeed<decltype(t.isend)>::call;
  t.listen = &Succeed<decltype(t.listen)>::call;
  return t;
}();
CollNet FOREIGN_JOIN(ncclCollNetPlugin_v, FOREIGN_API, ) = [] {
  CollNet t{};
  t.name = "ForeignColl";
  t.init = &Succeed<decltype(t.init)>::call;
  t.devices = &devices<int>;
  return t;
}();
}
