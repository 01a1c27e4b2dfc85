// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <exception>

#include "import/problems.h"

namespace topoguard {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

bool has(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

}  // namespace

std::optional<Paste> paste_kind(std::string_view text) {
  const std::string_view head = text.substr(0, 64 << 10);
  const std::size_t start = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (start == std::string_view::npos) return std::nullopt;
  if (head[start] == '<') return Paste::topology;
  if (head[start] == '[') {
    if (has(head, "\"ifindex\"") || has(head, "\"ifname\"")) return Paste::addresses;
    if (has(head, "\"dst\"")) return Paste::routes;
    return std::nullopt;
  }
  if (has(head, "GID") && has(head, "INDEX") && has(head, "PORT")) return Paste::gids;
  if (has(head, "GPU0")) return Paste::gpu_paths;
  return std::nullopt;
}

Imported import_paste(Paste kind, std::string_view text, std::string_view file, HostSnapshot& host) {
  Imported out;
  import::Problems problems(file, out);
  if (text.size() > kMaxBytes) {
    problems.line_of(problems.file() + ": expected at most 16 MiB, found more");
    return out;
  }
  try {
    switch (kind) {
      case Paste::addresses:
      case Paste::routes:
        import::read_iproute(kind, text, problems, out, host);
        break;
      case Paste::gids:
        import::read_show_gids(text, problems, out, host);
        break;
      case Paste::gpu_paths:
        import::read_gpu_paths(text, problems, out, host);
        break;
      case Paste::topology:
        import::read_topology(text, problems, out, host);
        break;
    }
  } catch (const std::exception& error) {
    problems.line_of(problems.file() + ": cannot be read: " + printable(error.what(), 100));
  }
  problems.close();
  return out;
}

}  // namespace topoguard
