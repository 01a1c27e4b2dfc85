// SPDX-License-Identifier: Apache-2.0
// A host's name as addresses, by the system's resolver with its patience cut to a second or two. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "topoguard/address.h"

namespace topoguard::check {

/// Best first; one where the text is an address already, none where the name is not known. A zone ("%eth0") is dropped.
std::vector<IpAddress> resolve(const std::string& name);

}  // namespace topoguard::check
