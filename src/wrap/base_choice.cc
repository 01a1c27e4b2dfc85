// SPDX-License-Identifier: Apache-2.0
#include "wrap/base_choice.h"

#include <strings.h>

#include "host/process_env.h"
#include "stock/foreign_plugin.h"
#include "stock/release.h"
#include "wrap/adapt.h"

namespace topoguard {
namespace {

constexpr std::string_view kDefaultPlugin = "libnccl-net.so";

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// NCCL looks for libnccl-net.so only where NCCL_NET_PLUGIN names nothing; naming topoguard is what hid it.
bool only_we_are_named() {
  const auto value = live_variable("NCCL_NET_PLUGIN");
  std::string_view list = value ? std::string_view(*value) : std::string_view();
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (end > 0 && list.substr(0, end).find("topoguard") == std::string_view::npos &&
        file_name(list.substr(0, end)) != kDefaultPlugin)
      return false;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return true;
}

// With NCCL_NET=IB or Socket NCCL alone would use no external plugin.
bool nccl_net_names_stock() {
  const auto net = live_variable("NCCL_NET");
  return net && (same_word(*net, "IB") || same_word(*net, "Socket"));
}

// Names to try, in order. Empty: nothing but NCCL's own.
std::vector<std::string> foreign_names(const Session& session) {
  const std::string& base = session.policy.base;
  if (base == "stock" || (base == "auto" && (!only_we_are_named() || nccl_net_names_stock()))) return {};
  std::vector<std::string> names;
  if (base == "auto") {
    for (const auto& plugin : known(session.host.plugins))
      if (plugin.kind == "net" && file_name(plugin.path) == kDefaultPlugin) names.push_back(plugin.path);
  } else if (base.find('/') != std::string::npos) {
    names.push_back(base);
  } else {
    // As NCCL_NET_PLUGIN does it, but never the name that is our own SONAME.
    names.push_back("libnccl-net-" + base + ".so");
    if (base != kDefaultPlugin) names.push_back(base);
  }
  return names;
}

struct ForeignSearch {
  std::vector<Base> bases;
  std::string lost;  ///< a plugin that was asked for or that NCCL alone would use, and that cannot be wrapped: why
};

// "/opt/hpcx/lib/libnccl-net.so (API v8)": people look for the file, and for what it is served as.
std::string label_of(const ForeignPlugin& plugin, int api) {
  return plugin.net_version == api
             ? plugin.path
             : plugin.path + " (adapted from net API v" + std::to_string(plugin.net_version) + ")";
}

ForeignSearch find_foreign(const Session& session, int api) {
  ForeignSearch search;
  const std::string network = foreign_network_asked_for();
  for (const auto& name : foreign_names(session)) {
    const ForeignPlugin plugin = open_foreign(name, api);
    if (plugin.ours) continue;
    if (plugin.net != nullptr && !network.empty() && !same_word(plugin.net_name, network)) {
      search.lost = plugin.path + ": its network is \"" + plugin.net_name + "\", not NCCL_NET's \"" + network + "\"";
      return search;
    }
    if (plugin.net != nullptr) {
      Base base{BaseKind::foreign, adapt_net(plugin.net, plugin.net_version, api),
                plugin.collnet != nullptr ? adapt_collnet(plugin.collnet, plugin.collnet_version, api) : nullptr,
                plugin.gin, label_of(plugin, api)};
      search.bases.push_back(std::move(base));
      search.lost.clear();
      return search;
    }
    // NCCL passes over a file of its default name that has nothing for it: so does topoguard.
    const bool passed_over = session.policy.base == "auto" && !plugin.versions.empty() && plugin.versions.front() > api;
    if (search.lost.empty() && !passed_over) search.lost = plugin.path + ": " + plugin.problem;
    // The first one that loads is the one that NCCL would take.
    if (!plugin.versions.empty()) return search;
  }
  return search;
}

void add_stock(const StockTables& tables, bool with_ib, std::vector<Base>& bases) {
  if (with_ib && tables.ib != nullptr)
    bases.push_back({BaseKind::ib, tables.ib, nullptr, tables.gin_ib_proxy, "NCCL's own IB transport"});
  if (tables.socket != nullptr)
    bases.push_back({BaseKind::socket, tables.socket, nullptr, nullptr, "NCCL's own Socket transport"});
}

}  // namespace

std::string foreign_network_asked_for() {
  const auto net = live_variable("NCCL_NET");
  return net && !net->empty() && !nccl_net_names_stock() && !nccl_net_names_us() ? *net : std::string();
}

bool nccl_net_names_us() {
  const auto net = live_variable("NCCL_NET");
  return net && same_word(*net, "topoguard");
}

BaseChoice choose_bases(const Session& session, const NcclObject& nccl, int api, tgnccl_logger_t logger) {
  BaseChoice choice;
  choice.remedy = "a topoguard release that knows this NCCL; until then the job runs as described";
  const bool pass_through = nccl_net_names_us();

  ForeignSearch foreign = find_foreign(session, api);
  choice.bases = std::move(foreign.bases);
  if (!foreign.lost.empty() && choice.bases.empty() && foreign_network_asked_for().empty()) {
    const bool named = session.policy.base != "auto";
    const std::string release = nccl.release.empty() ? "here" : nccl.release;
    complain(
        session.voice(logger), Severity::warning, "base-plugin-lost",
        named
            ? "TOPOGUARD_BASE=" + session.policy.base + " cannot be wrapped for NCCL " + release + ": " + foreign.lost +
                  ". NCCL's own transports are used instead. Remedy: name a net plugin in TOPOGUARD_BASE, as "
                  "NCCL_NET_PLUGIN would have it, or the path of its library, or set TOPOGUARD_BASE=stock if "
                  "NCCL's own are meant"
            : "NCCL alone would use the plugin " + foreign.lost + "; topoguard cannot wrap it for NCCL " + release +
                  ", so NCCL's own transports are used instead. Remedy: leave NCCL_NET_PLUGIN unset to use that "
                  "plugin (topoguard exec or the env plugin still steer), or set TOPOGUARD_BASE=stock if this is "
                  "meant");
    choice.declined = named ? "the plugin that TOPOGUARD_BASE names cannot be wrapped"
                            : "the plugin that NCCL alone would use cannot be wrapped";
    if (!pass_through) return choice;
  }
  // NCCL_NET names that plugin's network: no other one may answer to the name. A plugin that stands after topoguard in
  // NCCL_NET_PLUGIN still may.
  if (const std::string network = foreign_network_asked_for(); !network.empty()) {
    if (choice.bases.empty()) {
      if (choice.declined.empty()) choice.declined = "no plugin that brings it is in the library path";
      if (only_we_are_named())
        complain(session.voice(logger), Severity::error, "base-network-missing",
                 "NCCL_NET=" + network + " allows no other network, and topoguard cannot wrap it: " +
                     (foreign.lost.empty() ? choice.declined : foreign.lost) +
                     ". Remedy: name its plugin in TOPOGUARD_BASE, put its libnccl-net.so into the library path, or "
                     "unset NCCL_NET");
    }
    return choice;
  }

  // Off, undecided and observing change nothing at all: NCCL tries its own transports by itself, unless it may not.
  const char* idle = session.off                            ? "topoguard is off"
                     : !session.decided                     ? "topoguard failed and changes nothing"
                     : session.policy.mode == Mode::observe ? "mode observe changes nothing"
                                                            : nullptr;
  if (idle != nullptr && !pass_through) {
    choice.declined = idle;
    return choice;
  }
  if (idle == nullptr && !pass_through && session.decision.transport == Transport::none) {
    choice.declined = "no transport can be used on this host";
    return choice;
  }
  // Behind a foreign plugin they wait for the case that it has no device here.
  const StockTables tables = find_stock_tables(nccl, api);
  choice.how = tables.how;
  if (tables.socket == nullptr) {
    choice.declined =
        (choice.declined.empty() ? "" : choice.declined + "; ") + nccl.object.path + ": " + tables.problem;
    choice.surprising = idle == nullptr && choice.bases.empty();
    return choice;
  }
  const bool with_ib = idle != nullptr || session.decision.transport != Transport::socket;
  add_stock(tables, with_ib, choice.bases);
  // GIN comes out of the net plugin's library in these releases only; elsewhere NCCL finds its own.
  if (!takes_gin_v11(nccl.version_code))
    for (auto& base : choice.bases) base.gin = nullptr;
  return choice;
}

}  // namespace topoguard
