// SPDX-License-Identifier: Apache-2.0
// How the operator's filters (TOPOGUARD_INCLUDE, TOPOGUARD_EXCLUDE, TOPOGUARD_SUBNETS) fared with the devices of one
// kind, interfaces or HCA ports. A filter that would leave nothing is not applied.
#pragma once

namespace topoguard {

struct FilterUse {
  bool names = false;       ///< some device is what it names, whatever that device is good for
  bool followed = false;    ///< INCLUDE, SUBNETS: of those that are left, some is what it names
  bool overridden = false;  ///< EXCLUDE: what is left is what it names
};

struct FilterUses {
  FilterUse include, exclude, subnets;
  bool include_excluded = false;  ///< some device is what both INCLUDE and EXCLUDE name
};

}  // namespace topoguard
