// SPDX-License-Identifier: Apache-2.0
// The rows by which one interface is judged, first match wins. Each names the case that taught it.
#pragma once

#include <string>
#include <vector>

#include "decide/interfaces.h"

namespace topoguard {

struct InterfaceFacts {
  const View& view;
  const Link& link;
  const LinkAddress* address;    ///< best_address()
  bool only_routable_elsewhere;  ///< no physical-backed interface, or none with a default route while this one's
                                 ///< address is that route's source, has an address that other hosts can use
};

struct InterfaceRule {
  const char* id;
  bool (*when)(const InterfaceFacts&);
  Standing standing;  ///< virtual_good becomes virtual_link_local where the address is link-local
  const char* reason;
  std::string (*detail)(const InterfaceFacts&);
  const char* taught_by;  ///< a recorded host, or the report or kernel document
};

const std::vector<InterfaceRule>& interface_rules();

}  // namespace topoguard
