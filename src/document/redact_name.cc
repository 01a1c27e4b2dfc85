// SPDX-License-Identifier: Apache-2.0
#include "document/redact_name.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace topoguard {
namespace {

// Link kinds, which TOPOGUARD_EXCLUDE takes as well; kernel and systemd (man systemd.net-naming-scheme), container
// networks, RDMA drivers and rdma-core's persistent names.
constexpr std::array<std::string_view, 89> kUsual = {
    "bareudp",   "bnxt_re",      "bridge",     "ipip",        "ipvtap",    "loopback", "wireguard", "bond",
    "br",        "br-",          "cali",       "cilium_",     "cni",       "docker",   "dummy",     "efa",
    "en",        "enP",          "ena",        "eno",         "enp",       "ens",      "enu",       "erspan",
    "eth",       "flannel",      "flannel.",   "genev_sys_",  "geneve",    "gre",      "gretap",    "hfi1_",
    "hns_",      "ib",           "ibP",        "ibp",         "ibs",       "ifb",      "ip6gre",    "ip6tnl",
    "ipvlan",    "irdma",        "kube-",      "kube-bridge", "kube-ipvs", "lan",      "lo",        "lxc",
    "lxdbr",     "macvlan",      "macvtap",    "mana_",       "mgmt",      "mlx4_",    "mlx5_",     "mlx5_bond_",
    "net",       "nodelocaldns", "ovs-system", "podman",      "qedr",      "rdma",     "rdmap",     "rocep",
    "roceP",     "roce",         "rocem",      "rxe",         "rxe_",      "sit",      "siw",       "siw_",
    "tailscale", "tap",          "team",       "tun",         "tunl",      "usb",      "vbond",     "veth",
    "virbr",     "vlan",         "vmnet",      "vrf",         "vxlan",     "vxlan.",   "wg",        "wl",
    "ww"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// What may follow a usual beginning and still tell nothing: numbers, systemd's s0f1np0 and d1v2, VLAN ids, container
// ids.
bool tells_nothing(std::string_view tail) {
  if (tail.size() <= 12 && std::all_of(tail.begin(), tail.end(), is_hex)) return true;
  for (std::size_t i = 0; i < tail.size();) {
    std::size_t letters = 0;
    while (i < tail.size() && std::string_view("dfinprsuvcbPf_.-@:").find(tail[i]) != std::string_view::npos &&
           letters < 2)
      ++i, ++letters;
    const std::size_t start = i;
    while (i < tail.size() && is_digit(tail[i])) ++i;
    if (i - start > 6 || (i == start && i < tail.size())) return false;
  }
  return true;
}

std::string_view longest(const std::vector<std::string>& beginnings, std::string_view name) {
  for (const std::string& beginning : beginnings)
    if (name.rfind(beginning, 0) == 0) return beginning;
  return {};
}

const std::vector<std::string>& usual() {
  static const std::vector<std::string> sorted = [] {
    std::vector<std::string> out(kUsual.begin(), kUsual.end());
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return out;
  }();
  return sorted;
}

// The letter that stands for c after this beginning: a permutation of pool, chosen by the key.
char exchanged(const RedactKey& key, std::string_view before, char c, std::string_view pool) {
  std::string order(pool);
  std::vector<std::uint64_t> rank(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) rank[i] = key.hash(std::string("name ") + pool[i], before);
  std::vector<std::size_t> place(pool.size());
  std::iota(place.begin(), place.end(), 0);
  std::sort(place.begin(), place.end(), [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
  return pool[place[pool.find(c)]];
}

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

bool usual_device_name(std::string_view name) {
  const std::string_view beginning = longest(usual(), name);
  return !beginning.empty() && tells_nothing(name.substr(beginning.size()));
}

NameRedactor::NameRedactor(const RedactKey& key, const std::vector<std::string>& tokens)
    : key_(key), beginnings_(usual()) {
  for (const std::string& token : tokens)
    if (!token.empty() &&
        std::any_of(kUsual.begin(), kUsual.end(), [&](std::string_view word) { return word.rfind(token, 0) == 0; }))
      beginnings_.push_back(token);
  std::sort(beginnings_.begin(), beginnings_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string NameRedactor::device(std::string_view name) const {
  if (usual_device_name(name)) return std::string(name);
  std::size_t kept = longest(beginnings_, name).size();
  for (std::size_t length = kept + 1; length < name.size(); ++length)
    if (usual_device_name(name.substr(0, length))) kept = length;
  std::string out(name.substr(0, kept));
  for (std::size_t i = kept; i < name.size(); ++i) {
    const std::string_view before = name.substr(0, i);
    if (!is_letter(name[i]))
      out += name[i];
    else if (i > 0)
      out += exchanged(key_, before, name[i], name[i] >= 'a' ? kLower : kUpper);
    else
      // An unusual name begins with a capital, so that it cannot become a usual one. Two that differ in case only
      // become one.
      out += exchanged(key_, before, name[i] >= 'a' ? static_cast<char>(name[i] - 'a' + 'A') : name[i], kUpper);
  }
  return out;
}

std::string NameRedactor::host(std::string_view name) const {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  while (true) {
    const std::size_t end = std::min(name.find('.'), name.size());
    const std::uint64_t hash = key_.hash("host", name.substr(0, end));
    if (end > 0) {
      out += out.empty() ? "host-" : "d";
      for (int shift = 0; shift < 24; shift += 4) out += kHex[(hash >> shift) & 15];
    }
    if (end == name.size()) return out;
    out += '.';
    name.remove_prefix(end + 1);
  }
}

}  // namespace topoguard
