// SPDX-License-Identifier: Apache-2.0
#include "stock/table_shape.h"

#include <array>
#include <cstring>

#include "nccl/net_v10.h"
#include "nccl/net_v11.h"
#include "nccl/net_v12.h"
#include "nccl/net_v6.h"
#include "nccl/net_v7.h"
#include "nccl/net_v8.h"
#include "nccl/net_v9.h"

namespace topoguard {
namespace {

constexpr std::size_t word(std::size_t offset) { return offset / sizeof(void*); }

constexpr std::size_t kProbeBytes = 512;

}  // namespace

std::size_t table_words(int api) {
  switch (api) {
    case 6:
      return word(sizeof(tgnccl_net_v6_t));
    case 7:
      return word(sizeof(tgnccl_net_v7_t));
    case 8:
      return word(sizeof(tgnccl_net_v8_t));
    case 9:
      return word(sizeof(tgnccl_net_v9_t));
    case 10:
      return word(sizeof(tgnccl_net_v10_t));
    case 11:
      return word(sizeof(tgnccl_net_v11_t));
    case 12:
      return word(sizeof(tgnccl_net_v12_t));
    default:
      return 0;
  }
}

bool slot_is_optional(std::size_t slot) {
  return slot == word(offsetof(tgnccl_net_v12_t, reg_mr_dma_buf)) ||
         slot == word(offsetof(tgnccl_net_v12_t, get_device_mr)) ||
         slot == word(offsetof(tgnccl_net_v12_t, irecv_consumed)) ||
         slot == word(offsetof(tgnccl_net_v12_t, make_vdevice)) ||
         slot == word(offsetof(tgnccl_net_v12_t, set_net_attr));
}

bool is_net_table(const LoadedObject& object, std::uintptr_t address, int api, std::string_view name) {
  const std::size_t words = table_words(api);
  if (words == 0 || address % sizeof(void*) != 0 || !object.writable(address, words * sizeof(void*))) return false;
  const auto* slots = reinterpret_cast<const std::uintptr_t*>(address);
  if (!object.has_string(slots[0], name)) return false;
  for (std::size_t i = 1; i < words; ++i)
    if (!object.executable(slots[i]) && !(slots[i] == 0 && slot_is_optional(i))) return false;
  return true;
}

std::optional<std::size_t> properties_extent(const std::function<bool(void* buffer)>& get_properties) {
  std::size_t extent = 0;
  // A byte may happen to be written with the poison's own value: two poisons that share no bit.
  for (const unsigned char poison : {0xa5, 0x5a}) {
    alignas(16) std::array<unsigned char, kProbeBytes> buffer;
    buffer.fill(poison);
    if (!get_properties(buffer.data())) return std::nullopt;
    for (std::size_t i = buffer.size(); i > extent; --i)
      if (buffer[i - 1] != poison) {
        extent = i;
        break;
      }
  }
  return extent;
}

bool extent_fits(int api, std::size_t extent) {
  switch (api) {
    case 6:
      return extent == sizeof(tgnccl_net_properties_v6_t);
    case 7:
      return extent == sizeof(tgnccl_net_properties_v7_t);
    case 8:
      return extent == offsetof(tgnccl_net_properties_v8_t, device_version) + sizeof(int);
    case 9:
    case 10:
      return extent == sizeof(tgnccl_net_properties_v10_t) ||
             extent == offsetof(tgnccl_net_properties_v10_t, max_coll_bytes);
    case 11:
      return extent == offsetof(tgnccl_net_properties_v11_t, max_multi_request_size) + sizeof(int);
    case 12:
      return extent == sizeof(tgnccl_net_properties_v12_t);
    default:
      return false;
  }
}

}  // namespace topoguard
