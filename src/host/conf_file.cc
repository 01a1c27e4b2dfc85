// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"
#include "host/file.h"

namespace topoguard::host {
namespace {

constexpr std::size_t kFileLimit = 256 * 1024;
constexpr std::size_t kNcclLength = 1023;

template <typename Line>
int each_line(const std::string& path, Line&& line) {
  const FileText file = read_file(path, kFileLimit);
  if (!file) return file.error;
  std::string_view left = file.text;
  while (!left.empty()) {
    const auto end = left.find('\n');
    line(left.substr(0, end));
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + 1);
  }
  return 0;
}

}  // namespace

Settings read_nccl_conf(const std::string& path) {
  Settings settings;
  settings.error = each_line(path, [&](std::string_view line) {
    if (line.empty() || line[0] == '#') return;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) return;
    const auto name = line.substr(0, equals), value = line.substr(equals + 1);
    settings.values.emplace(std::string(name.substr(0, kNcclLength)), std::string(value.substr(0, kNcclLength)));
  });
  return settings;
}

bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0xff >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    // Overlong forms, surrogates, beyond the last plane.
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000))
      return false;
    i += length;
  }
  return true;
}

}  // namespace topoguard::host
