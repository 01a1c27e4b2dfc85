// SPDX-License-Identifier: Apache-2.0
//
// Machine code made at run time (x86-64): small pieces that count a call and go on to a function of ours, and the jump
// that is written over the entry of the CUDA runtime's own function.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fakecuda {

constexpr std::size_t kJumpSize = 14;  // FF 25 00000000 <address>: reaches everywhere and changes no register

// Code that adds one to `name`'s counter and jumps to `target`, all argument registers untouched. With target ==
// nullptr: code that reports "UNIMPLEMENTED name" on stderr (once per name) and returns cudaErrorNotSupported. One per
// name and process.
void* counted_thunk(const std::string& name, void* target);

// Calls of each name so far.
std::map<std::string, std::uint64_t> call_counts();

// Overwrites the function at `entry` (at least kJumpSize bytes) by a jump to `target`. False: memory protection
// refused. No thread may be inside the function's first bytes.
bool write_jump(std::uintptr_t entry, const void* target);

// Whether write_jump has been here with that target before.
bool is_jump_to(std::uintptr_t entry, const void* target);

}  // namespace fakecuda
