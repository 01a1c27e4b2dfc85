// SPDX-License-Identifier: Apache-2.0
// What a net table of one API version looks like in memory, and the proofs that a place is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stock/loaded_object.h"

namespace topoguard {

/// Words of a net table: the name and the function slots. 17 (v6) to 22 (v12).
std::size_t table_words(int api);

/// May this slot be NULL? regMrDmaBuf, getDeviceMr, irecvConsumed, makeVDevice, setNetAttr.
bool slot_is_optional(std::size_t slot);

/// The first word points to `name`, every following one into the object's code (or is NULL where that is allowed).
bool is_net_table(const LoadedObject& object, std::uintptr_t address, int api, std::string_view name);

/// Calls get_properties(0) of a stock transport on 512 poisoned bytes, twice with different poison, and returns how
/// many bytes it wrote up to the last one. nullopt where the call failed. Equal table sizes hide different layouts
/// (v7 and v8, v9 and v10, v11 and v12); this tells.
std::optional<std::size_t> properties_extent(const std::function<bool(void* buffer)>& get_properties);

/// Does this extent fit the stock transports of that API version? v9 and v10 leave maxCollBytes unset (before 2.28).
bool extent_fits(int api, std::size_t extent);

}  // namespace topoguard
