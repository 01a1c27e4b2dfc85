// SPDX-License-Identifier: Apache-2.0
// Helpers of the two writers: optional members, and numbers without a needless ".0". Internal to src/document.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "document/document.h"
#include "topoguard/address.h"
#include "topoguard/cpu_set.h"

namespace topoguard::json {

using Ordered = nlohmann::ordered_json;  // members stand in the order of the specification

template <typename T>
Ordered value(const T& plain) {
  return plain;
}
inline Ordered value(double number) {
  const bool whole = std::floor(number) == number && std::fabs(number) < 1e15;
  return whole ? Ordered(static_cast<std::int64_t>(number)) : Ordered(number);
}
inline Ordered value(const IpAddress& address) { return address.text(); }
inline Ordered value(const CpuSet& cpus) { return cpus.text(); }
inline Ordered value(const Gid& gid) { return gid.sysfs(); }

template <typename T>
void put(Ordered& object, const char* key, const std::optional<T>& known) {
  if (known) object[key] = value(*known);
}

/// A list of parts: absent where it is unknown.
template <typename T, typename F>
void put_list(Ordered& object, const char* key, const std::optional<T>& list, F write) {
  if (!list) return;
  Ordered& out = object[key] = Ordered::array();
  for (const auto& item : *list) out.push_back(write(item));
}

/// Left out where the part says nothing.
inline void put_part(Ordered& object, const char* key, Ordered&& part) {
  if (!part.empty()) object[key] = std::move(part);
}

inline std::string dump(const Ordered& document, Layout layout) {
  return document.dump(layout == Layout::people ? 2 : -1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace topoguard::json
