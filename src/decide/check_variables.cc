// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "decide/checks.h"
#include "decide/findings.h"
#include "nccl_rules/gid_search.h"
#include "nccl_rules/variables.h"

namespace topoguard {
namespace {

using Names = std::vector<std::string>;

std::string listed(const Names& names, std::size_t most = 6) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// An entry that matches more than what it names. In a ^ list an entry is usually meant as a prefix (docker, veth),
/// unless it is a device's whole name.
void prefix_match(const std::string& variable, const NameList& list, const Names& devices,
                  std::vector<Finding>& findings) {
  if (list.exact) return;
  for (const auto& entry : list.entries) {
    Names matched;
    bool named = false;
    for (const auto& device : devices) {
      if (!list.entry_matches(entry, device)) continue;
      matched.push_back(device);
      named = named || device == entry.name;
    }
    if (matched.size() < 2 || (list.exclude && !named)) continue;
    findings.push_back(
        make_finding("env-prefix-match", entry.name,
                     "'" + entry.name + "' in " + variable + " is a prefix for NCCL and matches " + listed(matched)));
  }
}

/// What cannot be meant as it is written; "" where nothing is wrong.
std::string list_mistake(std::string_view text, const NameList& list) {
  auto rest = text;
  if (!rest.empty() && rest.front() == '^') rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '=') rest.remove_prefix(1);
  if (rest.find_first_of(" \t\n\r") != std::string_view::npos) return "blanks become part of a name";
  if (rest.find_first_of(";|") != std::string_view::npos) return "names are separated by commas";
  if (rest.find_first_of("\"'") != std::string_view::npos) return "quotes become part of a name";
  if (list.entries.empty()) return "the list names nothing";
  for (const auto& entry : list.entries)
    if (entry.name.find_first_of("^=") != std::string::npos)
      return "^ and = count once, before the first name; '" + entry.name + "' is taken as a name and matches nothing";
  if (rest.find_first_of("*?[") != std::string_view::npos) return "NCCL knows no wildcards: every name is a prefix";
  if (list.dropped) return "NCCL reads the first " + std::to_string(list.entries.size()) + " names only";
  return "";
}

void check_list(const std::string& variable, const NameList& list, std::string_view text, const Names& devices,
                bool takes_any, std::vector<Finding>& findings) {
  if (const auto mistake = list_mistake(text, list); !mistake.empty())
    findings.push_back(make_finding("env-syntax", "", variable + "=" + std::string(text) + ": " + mistake));
  prefix_match(variable, list, devices, findings);
  if (takes_any) return;
  findings.push_back(make_finding("env-no-match", "",
                                  variable + "=" + std::string(text) +
                                      (list.exclude ? " leaves nothing of what this host has: "
                                                    : " matches nothing that NCCL could use here; there is ") +
                                      (devices.empty() ? "nothing of that kind" : listed(devices))));
}

void interface_list(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  if (const auto* text = user.find("NCCL_SOCKET_IFNAME"); text && text->size() == 1)
    findings.push_back(
        make_finding("env-syntax", "", "NCCL_SOCKET_IFNAME=" + *text + ": NCCL ignores a list this short"));
  if (!user.ifname || !view.host().links) return;
  Names names;
  for (const auto* link : view.links()) names.push_back(link->ifname);
  const auto taken = replay_sockets(view, user, {}).data;
  check_list("NCCL_SOCKET_IFNAME", *user.ifname, *user.find("NCCL_SOCKET_IFNAME"), names, !taken.empty(), findings);
  if (!user.ifname->exclude) return;
  for (const auto& interface : taken) {
    const auto* link = view.link(interface.name);
    if (!link || !view.loopback(*link) || !interface.address.is_loopback()) continue;
    findings.push_back(make_finding(
        "env-loopback-reenabled", interface.name,
        "NCCL_SOCKET_IFNAME=" + *user.find("NCCL_SOCKET_IFNAME") + " replaces NCCL's own exclusions, so that " +
            interface.name + " (" + interface.address.text() + ") is used and announced to other hosts",
        "Add " + interface.name + " to the list: NCCL_SOCKET_IFNAME=" + *user.find("NCCL_SOCKET_IFNAME") + "," +
            interface.name));
  }
}

void hca_list(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  if (!user.hca || !view.host().rdma) return;
  Names names;
  bool any = false;
  for (const auto& device : *view.host().rdma) {
    names.push_back(device.name);
    for (const auto& port : device.ports) any = any || user.hca->takes(device.name, port.port);
    any = any || (device.ports.empty() && user.hca->takes(device.name));
  }
  std::sort(names.begin(), names.end());
  check_list("NCCL_IB_HCA", *user.hca, *user.find("NCCL_IB_HCA"), names, any, findings);
}

void values(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  const auto empty = [&](const char* name) {
    const auto* text = user.find(name);
    return text && text->empty();
  };
  if (empty("NCCL_NET"))
    findings.push_back(make_finding("env-empty-value", "",
                                    "NCCL_NET is set to nothing: NCCL looks for a network of that name and fails"));
  if (empty("NCCL_NET_PLUGIN") && view.release().empty_plugin_is_none())
    findings.push_back(make_finding("env-empty-value", "",
                                    "NCCL_NET_PLUGIN is set to nothing: NCCL loads no external network plugin"));
  if (empty("NCCL_COMM_ID"))
    findings.push_back(make_finding("env-empty-value", "",
                                    "NCCL_COMM_ID is set to nothing: NCCL cannot read an address from it and fails"));
  if (const auto* family = user.find("NCCL_SOCKET_FAMILY"); family && !family->empty() && !user.family)
    findings.push_back(make_finding("env-syntax", "",
                                    "NCCL_SOCKET_FAMILY=" + *family +
                                        ": NCCL knows AF_INET and AF_INET6 and ignores "
                                        "everything else"));
  // nccl_rules/gid_search.h: a range that NCCL cannot read counts as unset.
  if (const auto* range = user.find("NCCL_IB_ADDR_RANGE"); range && !range->empty() && view.release().searches_gid() &&
                                                           !GidSettings::read(view.release(), user.finder()).range)
    findings.push_back(make_finding("env-syntax", "",
                                    "NCCL_IB_ADDR_RANGE=" + *range +
                                        ": NCCL reads a subnet of NCCL_IB_ADDR_FAMILY here (IPv4 unless that is "
                                        "AF_INET6), and takes this as unset",
                                    "Write a subnet, such as NCCL_IB_ADDR_RANGE=10.0.0.0/8, or unset it."));
}

void numbers_and_names(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  const auto release = view.release().text();
  for (const auto& [name, value] : user.nccl) {
    const auto verdict = judge_name(name, view.release());
    std::string message, remedy;
    switch (verdict.status) {
      case NameStatus::read: {
        if (!verdict.variable->number || value.empty()) continue;
        char* end = nullptr;
        std::strtoll(value.c_str(), &end, 0);
        while (std::isspace(static_cast<unsigned char>(*end))) ++end;
        const auto number = user.number(name);
        if (end != value.c_str() && *end == '\0' && number) continue;
        findings.push_back(make_finding("env-syntax", "",
                                        name + "=" + value + ": NCCL reads a number here, and takes this as " +
                                            (number ? std::to_string(*number) : "unset: it is out of range"),
                                        "Write a number, such as " + name + "=1 or 0."));
        continue;
      }
      case NameStatus::newer:
        message = name + " is read since NCCL " + verdict.variable->since.text() + ", and this is " + release;
        remedy = "Remove it, or use the newer release.";
        break;
      case NameStatus::retired:
        message = name + " was last read by NCCL " + verdict.variable->until.text() + "; " + release + " ignores it";
        remedy = "Remove it.";
        break;
      case NameStatus::pytorch:
        message = name + " is not NCCL's: PyTorch reads it as " + verdict.likely + " today";
        remedy = "Set " + verdict.likely + ".";
        break;
      case NameStatus::misspelt:
        message = "NCCL " + release + " reads no " + name + ": probably " + verdict.likely + " is meant";
        remedy = "Set " + verdict.likely + ".";
        break;
      case NameStatus::unknown:
        message = "NCCL " + release + " reads no " + name;
        break;
      case NameStatus::foreign:
        continue;
    }
    findings.push_back(make_finding("env-unknown", "", message, remedy));
  }
}

}  // namespace

std::vector<Finding> check_variables(const View& view, const UserSettings& user) {
  std::vector<Finding> findings;
  interface_list(view, user, findings);
  hca_list(view, user, findings);
  values(view, user, findings);
  numbers_and_names(view, user, findings);
  return findings;
}

}  // namespace topoguard
