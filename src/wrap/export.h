// SPDX-License-Identifier: Apache-2.0
// Everything is hidden but what carries this mark and stands in plugin/net/exports.map.
#pragma once

#define TOPOGUARD_EXPORT __attribute__((visibility("default")))
