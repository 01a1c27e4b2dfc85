// SPDX-License-Identifier: Apache-2.0
#include "document/read_parts.h"
#include "import/problems.h"

namespace topoguard::import {
namespace {

template <typename T, typename F>
void read_each(const json::Node& root, F read, std::optional<std::vector<T>>& into, Problems& problems, Imported& out) {
  if (!into) into.emplace();
  for (const json::Node& item : root.items()) {
    if (item.value().is_object() && item.value().empty()) continue;  // old iproute2's place of a filtered entry
    try {
      into->push_back(read(item));
      ++out.used;
    } catch (const json::Malformed& problem) {
      problems.line_of(problem.line(problems.file()) + "; skipped");
    }
  }
}

}  // namespace

void read_iproute(Paste kind, std::string_view text, Problems& problems, Imported& out, HostSnapshot& host) {
  try {
    const json::Json value = json::parse(text);
    const json::Node root(value);
    if (kind == Paste::addresses)
      read_each(root, json::read_link, host.links, problems, out);
    else
      read_each(root, json::read_route, host.routes, problems, out);
  } catch (const json::Malformed& problem) {
    problems.line_of(problem.line(problems.file()));
  }
}

}  // namespace topoguard::import
