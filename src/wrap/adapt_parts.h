// SPDX-License-Identifier: Apache-2.0
// What net and collective-network adapters share: the versions as types, properties, sizes.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "stock/release.h"
#include "wrap/api.h"

namespace topoguard {

// What NCCL assumes of a plugin that cannot say it (nccl_net.h: MAX_NET_SIZE, MAX_COLLNET_SIZE; net_v12.h:
// NCCL_NET_ID_UNDEF).
inline constexpr std::size_t kMostNetBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMostCollBytes = std::size_t{1} << 29;
inline constexpr std::int16_t kNoRail = -1;

// More parts than NCCL gives to one receive (proxy.h: NCCL_PROXY_MAX_SUBS).
inline constexpr int kMostParts = 64;

template <int Version>
struct TablesOf;
#define TOPOGUARD_TABLES(version)                  \
  template <>                                      \
  struct TablesOf<version> {                       \
    using Net = tgnccl_net_v##version##_t;         \
    using CollNet = tgnccl_collnet_v##version##_t; \
  }
TOPOGUARD_TABLES(6);
TOPOGUARD_TABLES(7);
TOPOGUARD_TABLES(8);
TOPOGUARD_TABLES(9);
TOPOGUARD_TABLES(10);
TOPOGUARD_TABLES(11);
TOPOGUARD_TABLES(12);
#undef TOPOGUARD_TABLES

template <int Version>
using PropertiesOf = typename Api<typename TablesOf<Version>::Net>::Properties;

/// Every member of the newer structure gets a value: the plugin's where it has one. `collective`: before v9 the device
/// type of a collective network is not passed on.
template <int New, int Old>
void convert_properties(int device, const PropertiesOf<Old>& from, PropertiesOf<New>* to, bool collective) {
  to->name = from.name;
  to->pci_path = from.pci_path;
  to->guid = from.guid;
  to->ptr_support = from.ptr_support;
  to->speed = from.speed;
  to->port = from.port;
  to->latency = from.latency;
  to->max_comms = from.max_comms;
  to->max_recvs = from.max_recvs;
  if constexpr (New >= 7) {
    to->device_type = TGNCCL_NET_DEVICE_HOST;
    to->device_version = 0;
    if constexpr (Old >= 7)
      if (Old >= 9 || !collective) {
        to->device_type = from.device_type;
        to->device_version = from.device_version;
      }
  }
  if constexpr (New >= 8) {
    to->reg_is_global = 0;
    if constexpr (Old >= 8) to->reg_is_global = from.reg_is_global;
  }
  if constexpr (New >= 9) {
    to->vprops = {1, {device}};
    to->force_flush = 0;
    to->max_p2p_bytes = kMostNetBytes;
    to->max_coll_bytes = kMostCollBytes;
    if constexpr (Old >= 9) {
      to->force_flush = from.force_flush;
      to->max_p2p_bytes = from.max_p2p_bytes;
      to->max_coll_bytes = from.max_coll_bytes;
      constexpr int most = std::extent_v<decltype(from.vprops.devs)>;
      to->vprops.ndevs = from.vprops.ndevs < most ? from.vprops.ndevs : most;
      for (int i = 0; i < to->vprops.ndevs; ++i) to->vprops.devs[i] = from.vprops.devs[i];
    }
  }
  if constexpr (New >= 11) {
    to->max_multi_request_size = 1;
    if constexpr (Old >= 11) to->max_multi_request_size = from.max_multi_request_size;
  }
  if constexpr (New >= 12) {
    to->rail_id = kNoRail;
    to->plane_id = kNoRail;
  }
}

/// make_vdevice() of a plugin that knows four parts for one of eight.
template <typename Function>
tgnccl_result_t make_vdevice_of_four(Function function, int* device, tgnccl_vdevice_v12_t* parts) {
  tgnccl_vdevice_v9_t old = {};
  constexpr int most = sizeof old.devs / sizeof old.devs[0];
  // NCCL asks no v11 plugin for more; it counts us as v12. A refusal leaves the devices unmerged.
  if (parts->ndevs < 0 || parts->ndevs > most) return tgnccl_invalid_usage;
  old.ndevs = parts->ndevs;
  for (int i = 0; i < old.ndevs; ++i) old.devs[i] = parts->devs[i];
  return function(device, &old);
}

/// `int` is how the plugin takes it: more than a gigabyte is an error, as with NCCL.
inline bool fits_int(std::size_t bytes) { return bytes <= kMostNetBytes; }

/// Calls pick<Old, Native>() for the pair of run-time versions; null for a pair that cannot be.
template <template <int, int> class Adapter, int... Index>
const void* adapter_for(const void* table, int version, int native, std::integer_sequence<int, Index...>) {
  constexpr int count = kNewestApi - kOldestApi + 1;
  const void* found = nullptr;
  const auto attempt = [&](auto index) {
    constexpr int old_version = kOldestApi + decltype(index)::value / count;
    constexpr int new_version = kOldestApi + decltype(index)::value % count;
    if constexpr (old_version < new_version)
      if (version == old_version && native == new_version) found = Adapter<new_version, old_version>::show(table);
  };
  (attempt(std::integral_constant<int, Index>()), ...);
  return found;
}

template <template <int, int> class Adapter>
const void* adapted(const void* table, int version, int native) {
  constexpr int count = kNewestApi - kOldestApi + 1;
  if (version == native && version >= kOldestApi && version <= kNewestApi) return table;
  return adapter_for<Adapter>(table, version, native, std::make_integer_sequence<int, count * count>());
}

}  // namespace topoguard
