// SPDX-License-Identifier: Apache-2.0
#include "check/digest_json.h"

#include <algorithm>

namespace topoguard::check {
namespace {

using Ordered = nlohmann::ordered_json;
using json::Node;

constexpr std::size_t kPrefixes = 512, kEndpoints = 64, kVariables = 512, kValue = 1024, kWord = 256;
constexpr Transport kTransports[] = {Transport::none, Transport::socket, Transport::ib};

template <typename T>
void put(Ordered& out, const char* name, const std::optional<T>& value) {
  if (value) out[name] = *value;
}

Ordered write_prefixes(const std::vector<Prefix>& prefixes) {
  Ordered out = Ordered::array();
  for (const Prefix& prefix : prefixes) out.push_back(prefix.text());
  return out;
}

Ordered write_endpoint(const Endpoint& end) {
  const bool many = end.reach.size() > kPrefixes || end.lost.size() > kPrefixes;
  Ordered out = {{"address", end.address.text()}, {"subnet", end.subnet.text()}};
  out["routes_known"] = end.routes_known && !many;
  out["reach"] = many ? Ordered::array() : write_prefixes(end.reach);
  out["lost"] = many ? Ordered::array() : write_prefixes(end.lost);
  return out;
}

Ordered write_endpoints(const std::vector<Endpoint>& ends) {
  Ordered out = Ordered::array();
  for (const Endpoint& end : ends) {
    if (out.size() == kEndpoints) break;
    out.push_back(write_endpoint(end));
  }
  return out;
}

Prefix read_prefix(const Node& node) {
  const auto prefix = Prefix::parse(short_text(node, 64));
  if (!prefix) node.fail("a prefix such as 10.0.0.0/8");
  return *prefix;
}

std::vector<Node> at_most(const Node& list, std::size_t most) {
  auto items = list.items();
  if (items.size() > most) list.fail("a list of at most " + std::to_string(most));
  return items;
}

std::vector<Prefix> read_prefixes(const Node& node, std::string_view name) {
  std::vector<Prefix> out;
  const Node list = node.required(name, "a list of prefixes");
  for (const Node& item : at_most(list, kPrefixes)) out.push_back(read_prefix(item));
  return out;
}

std::vector<Endpoint> read_endpoints(const Node& node, std::string_view name) {
  std::vector<Endpoint> out;
  const Node list = node.required(name, "a list of ways");
  for (const Node& item : at_most(list, kEndpoints)) {
    Endpoint end;
    end.address = item.required("address", "an address").address();
    end.subnet = read_prefix(item.required("subnet", "a prefix"));
    end.routes_known = item.required("routes_known", "true or false").boolean();
    end.reach = read_prefixes(item, "reach");
    end.lost = read_prefixes(item, "lost");
    out.push_back(std::move(end));
  }
  return out;
}

std::optional<std::string> read_word(const Node& node, std::string_view name) {
  if (const auto member = node.member(name)) return short_text(*member, kWord);
  return std::nullopt;
}

}  // namespace

std::string short_text(const Node& node, std::size_t limit) {
  std::string text = node.text();
  if (text.size() > limit) node.fail("text of at most " + std::to_string(limit) + " bytes");
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    node.fail("text without control characters");
  return text;
}

Ordered write_digest(const HostDigest& digest) {
  Ordered out = {{"transport", transport_name(digest.transport)}};
  put(out, "nccl", digest.nccl_version);
  Ordered& env = out["env"] = Ordered::object();
  for (const auto& [name, value] : digest.env)
    if (env.size() < kVariables && name.size() <= kWord) env[name] = value.substr(0, kValue);
  out["hca_count"] = digest.hca_count;
  put(out, "link_layers", digest.link_layers);
  put(out, "gid_types", digest.gid_types);
  put(out, "speeds", digest.speeds);
  put(out, "mtus", digest.mtus);
  put(out, "netdev_mtus", digest.netdev_mtus);
  out["interfaces"] = write_endpoints(digest.interfaces);
  out["rails"] = write_endpoints(digest.rails);
  out["rail_subnets"] = digest.rail_subnets;
  out["subnet_aware"] = digest.subnet_aware;
  return out;
}

HostDigest read_digest(const Node& node) {
  HostDigest out;
  const Node transport = node.required("transport", "a transport");
  const auto* at = std::find_if(std::begin(kTransports), std::end(kTransports),
                                [name = transport.text()](Transport known) { return transport_name(known) == name; });
  if (at == std::end(kTransports)) transport.fail("IB, Socket or none");
  out.transport = *at;
  out.nccl_version = read_word(node, "nccl");
  const Node env = node.required("env", "variables");
  const auto variables = env.fields();
  if (variables.size() > kVariables) env.fail("at most " + std::to_string(kVariables) + " variables");
  for (const Node& variable : variables) {
    if (variable.key().rfind("NCCL_", 0) != 0 || variable.key().size() > kWord) env.fail("variables of NCCL");
    out.env[variable.key()] = short_text(variable, kValue);
  }
  out.hca_count =
      static_cast<std::size_t>(node.required("hca_count", "a number").integer(0, 1024, "a number from 0 to 1024"));
  out.link_layers = read_word(node, "link_layers");
  out.gid_types = read_word(node, "gid_types");
  out.speeds = read_word(node, "speeds");
  out.mtus = read_word(node, "mtus");
  out.netdev_mtus = read_word(node, "netdev_mtus");
  out.interfaces = read_endpoints(node, "interfaces");
  out.rails = read_endpoints(node, "rails");
  const Node subnets = node.required("rail_subnets", "a list");
  for (const Node& subnet : at_most(subnets, kEndpoints)) out.rail_subnets.push_back(short_text(subnet, 64));
  out.subnet_aware = node.required("subnet_aware", "true or false").boolean();
  return out;
}

}  // namespace topoguard::check
