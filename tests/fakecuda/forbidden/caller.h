// SPDX-License-Identifier: Apache-2.0
//
// Says who called and ends the process: for libraries that a caller must not use.
#pragma once

namespace fakecuda {

// `address`: a return address. Prints "forbidden: FUNCTION was called from OBJECT" on stderr and aborts.
[[noreturn]] void forbid(const char* function, void* address);

// Path of the object that holds `address`, "?" where there is none. Valid while that object is loaded.
const char* object_of(void* address);

}  // namespace fakecuda
