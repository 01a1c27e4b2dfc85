// SPDX-License-Identifier: Apache-2.0
// A snapshot as plain lines, one fact group each, for expected outputs that people can read and diff. Unknown members
// are not printed.
#pragma once

#include <string>

#include "topoguard/snapshot.h"

namespace topoguard::test {
std::string render(const HostSnapshot& snapshot);
}
