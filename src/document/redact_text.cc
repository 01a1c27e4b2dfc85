// SPDX-License-Identifier: Apache-2.0
// Redaction of values that are text: settings and messages.
#include <algorithm>
#include <array>

#include "document/redact.h"

namespace topoguard {
namespace {

constexpr std::array<std::string_view, 4> kNameLists = {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "GLOO_SOCKET_IFNAME",
                                                        "NCCL_OOB_NET_IFNAME"};
constexpr std::array<std::string_view, 2> kHosts = {"MASTER_ADDR", "NCCL_HOSTID"};
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

template <typename List>
bool among(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Each piece between separators through use; the separators stay.
template <typename F>
std::string pieces(std::string_view text, std::string_view separators, F use) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) out += use(text.substr(0, end));
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string Redactor::name_list(std::string_view list) const {
  return pieces(list, ",", [&](std::string_view entry) {
    const std::size_t start = std::min(entry.find_first_not_of("^= "), entry.size());
    const std::size_t colon = std::min(entry.find(':', start), entry.size());
    return std::string(entry.substr(0, start)) + names_.device(entry.substr(start, colon - start)) +
           std::string(entry.substr(colon));
  });
}

std::string Redactor::path(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return "/redacted" + std::string(path.substr(slash));
}

// "10.0.0.1", "10.0.0.1:29500", "[fe80::1%eth0]:29500", "node-a.example.org:29500"
std::string Redactor::host_or_address(std::string_view text) const {
  if (text.empty()) return {};
  if (const auto plain = IpAddress::parse(text)) return addresses_.address(*plain).text();
  if (text[0] == '[') {
    const std::size_t end = std::min(text.find(']'), text.size());
    const std::string_view inside = text.substr(1, end - 1);
    const std::size_t zone = std::min(inside.find('%'), inside.size());
    const auto address = IpAddress::parse(inside.substr(0, zone));
    if (address)
      return "[" + addresses_.address(*address).text() +
             (zone < inside.size() ? "%" + names_.device(inside.substr(zone + 1)) : "") + std::string(text.substr(end));
  }
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view host = text.substr(0, colon);
  if (const auto address = IpAddress::parse(host))
    return addresses_.address(*address).text() + std::string(text.substr(colon));
  return names_.host(host) + std::string(text.substr(colon));
}

std::string Redactor::word(std::string_view word) const {
  if (devices_.count(word) != 0) return names_.device(word);
  if (host_.system.hostname && word == *host_.system.hostname) return names_.host(word);
  if (const auto prefix = Prefix::parse(word)) {
    const bool whole = word.find('/') == std::string_view::npos;
    return whole ? addresses_.address(prefix->address).text() : addresses_.prefix(*prefix).text();
  }
  if (const auto hardware = addresses_.hardware(word)) return *hardware;
  // GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, also shortened; MIG-...
  if ((word.rfind("GPU-", 0) == 0 || word.rfind("MIG-", 0) == 0) && word.size() > 4) {
    std::string out(word.substr(0, 4));
    for (std::size_t i = 4; i < word.size(); ++i)
      out += word[i] == '-' || word[i] == '/' ? word[i]
                                              : "0123456789abcdef"[key_.hash("uuid", word.substr(4, i - 3)) & 15];
    return out;
  }
  if (word.size() > 1 && word[0] == '/') {
    const auto system = {"/sys", "/proc", "/dev"};
    if (std::none_of(system.begin(), system.end(),
                     [&](std::string_view s) { return word == s || word.rfind(std::string(s) + "/", 0) == 0; }))
      return path(word);
    return pieces(word, "/", [&](std::string_view part) {
      return devices_.count(part) != 0 ? names_.device(part) : std::string(part);
    });
  }
  // "eth0:", "10.0.0.1." and the like, in sentences
  const std::size_t last = word.find_last_of(kLetters);
  if (last != std::string_view::npos && last + 1 < word.size())
    return this->word(word.substr(0, last + 1)) + std::string(word.substr(last + 1));
  return std::string(word);
}

std::string Redactor::words(std::string_view text) const {
  return pieces(text, " \t,;()\"'=<>|", [&](std::string_view piece) { return word(piece); });
}

std::string Redactor::variable(const std::string& name, const std::string& value) const {
  if (among(kNameLists, name)) return name_list(value);
  if (among(kHosts, name) || name == "NCCL_COMM_ID") return host_or_address(value);
  if (name == "TOPOGUARD_APPLIED") {
    const std::size_t colon = value.find(':');
    return colon == std::string::npos ? "redacted" : "redacted" + value.substr(colon);
  }
  if (name == "TOPOGUARD_EXCLUDE" || name == "TOPOGUARD_INCLUDE") {
    return pieces(value, ", \t", [&](std::string_view entry) -> std::string {
      if (entry.rfind("kind:", 0) == 0) return std::string(entry);
      if (entry.rfind("name:", 0) == 0) return "name:" + names_.device(entry.substr(5));
      return Prefix::parse(entry) ? word(entry) : names_.device(entry);
    });
  }
  return words(value);
}

}  // namespace topoguard
