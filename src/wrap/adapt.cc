// SPDX-License-Identifier: Apache-2.0
#include "wrap/adapt.h"

#include "wrap/adapt_collnet.h"
#include "wrap/adapt_net.h"

namespace topoguard {

const void* adapt_net(const void* table, int version, int native) {
  return adapted<NetAdapter>(table, version, native);
}

const void* adapt_collnet(const void* table, int version, int native) {
  return adapted<CollNetAdapter>(table, version, native);
}

}  // namespace topoguard
