// SPDX-License-Identifier: Apache-2.0
#include "stock/release.h"

namespace topoguard {
namespace {

struct Row {
  int first;  // version code without the patch
  int last;
  int api;
};

// src/plugin/net.cc (net.cc before 2.26) of each release: the first symbol it looks up. 2.31.2 and 2.32.3 by their
// published libraries: they ask for ncclNetPlugin_v12 first, and their debug information has ncclNet_v12_t and its
// structures member by member as 2.30.7's source (tests/matrix looks again at every run).
constexpr Row kNative[] = {
    {21800, 21899, 6},  {21900, 21999, 7},  {22000, 22399, 8},  {22400, 22599, 9},
    {22600, 22799, 10}, {22800, 22999, 11}, {23000, 23299, 12},
};

}  // namespace

std::string release_text(int version_code) {
  return std::to_string(version_code / 10000) + '.' + std::to_string(version_code / 100 % 100) + '.' +
         std::to_string(version_code % 100);
}

std::optional<int> native_api(int version_code) {
  for (const auto& row : kNative)
    if (version_code >= row.first && version_code <= row.last) return row.api;
  return std::nullopt;
}

bool takes_gin_v11(int version_code) { return version_code >= 22807 && version_code <= 22903; }

bool finalizes_after_failed_init(int version_code) { return version_code >= 22800 && version_code <= 22903; }

}  // namespace topoguard
