// SPDX-License-Identifier: Apache-2.0
// One line per thing that could not be read; and the guard that turns whatever a collector throws into such a line.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "document/printable.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Adds "SOURCE: what", made printable. Each collector passes its own name as `source`.
inline void note(HostSnapshot& out, const char* source, const std::string& what) {
  out.notes.push_back(std::string(source) + ": " + printable(what));
}

/// Runs one collector. What it throws becomes a note; where memory is short even for that, nothing.
template <typename Collector>
void guarded(HostSnapshot& out, const char* source, Collector&& collector) noexcept {
  try {
    try {
      collector();
    } catch (const std::bad_alloc&) {
      note(out, source, "not enough memory to read it; unknown");
    } catch (const std::exception& problem) {
      note(out, source, std::string("could not be read (") + problem.what() + "); unknown");
    } catch (...) {
      note(out, source, "could not be read; unknown");
    }
  } catch (...) {
  }
}

}  // namespace topoguard::host
