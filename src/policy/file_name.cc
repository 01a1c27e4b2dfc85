// SPDX-License-Identifier: Apache-2.0
#include "policy/file_name.h"

namespace topoguard {
namespace {

// The C locale's letters only: a name must not depend on the job's.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

std::string plain(std::string_view host) {
  std::string out;
  for (const char c : host) out += is_plain(c) ? c : '_';
  return out.empty() || out == "." || out == ".." ? "localhost" : out;
}

}  // namespace

std::string file_name_problem(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (static_cast<unsigned char>(pattern[i]) < 0x20) return "expected a file name without control characters";
    if (pattern[i] != '%') continue;
    const char next = i + 1 < pattern.size() ? pattern[++i] : '\0';
    if (next != 'h' && next != 'p' && next != '%')
      return "expected %h (host name), %p (process number) or %% after a percent sign";
  }
  if (pattern.empty() || pattern.back() == '/') return "expected the name of a file";
  return {};
}

std::string expanded_file_name(std::string_view pattern, std::string_view host, long pid) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char next = pattern[++i];
    if (next == 'h')
      out += plain(host);
    else if (next == 'p')
      out += std::to_string(pid);
    else
      out += next;
  }
  return out;
}

}  // namespace topoguard
