// SPDX-License-Identifier: Apache-2.0
#include "check/messages.h"

#include <algorithm>

#include "check/digest_json.h"
#include "check/launcher.h"
#include "check/pairs.h"
#include "document/printable.h"

namespace topoguard::check {
namespace {

using Ordered = nlohmann::ordered_json;
using json::Node;

constexpr std::string_view kReach[] = {"ok",      "refused", "silent",       "unreachable",
                                       "stalled", "broken",  "other-family", "not-tried"};
constexpr std::string_view kMtu[] = {"full", "told", "black-hole", "unknown"};
constexpr std::size_t kName = 256, kJob = 512;
constexpr std::int64_t kLongest = 3'600'000'000;  // microseconds

template <typename Enum, std::size_t N>
Enum read_enum(const Node& node, const std::string_view (&names)[N]) {
  const std::string text = node.text();
  const auto* at = std::find(std::begin(names), std::end(names), text);
  if (at == std::end(names)) node.fail("a known word");
  return static_cast<Enum>(at - std::begin(names));
}

int number(const Node& object, std::string_view name, std::int64_t low, std::int64_t high) {
  return static_cast<int>(
      object.required(name, "a number")
          .integer(low, high, "a number from " + std::to_string(low) + " to " + std::to_string(high)));
}

std::string word(const Node& object, std::string_view name, std::size_t limit = kName) {
  return short_text(object.required(name, "text"), limit);
}

std::vector<Node> at_most(const Node& list, std::size_t most) {
  auto items = list.items();
  if (items.size() > most) list.fail("a list of at most " + std::to_string(most));
  return items;
}

std::string read_key(const Node& object) {
  const Node node = object.required("key", "a key");
  const std::string key = node.text();
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (key.size() != kKeyText || !std::all_of(key.begin(), key.end(), digit)) node.fail("32 hexadecimal digits");
  return key;
}

Ordered write(const Offer& offer) {
  return {{"use", use_name(offer.use)},      {"device", offer.device}, {"netdev", offer.netdev},
          {"address", offer.address.text()}, {"mtu", offer.mtu},       {"tcp_port", offer.tcp_port},
          {"udp_port", offer.udp_port}};
}

Ordered write(const std::vector<Offer>& offers) {
  Ordered out = Ordered::array();
  for (const Offer& offer : offers)
    if (out.size() < kMostOffers) out.push_back(write(offer));
  return out;
}

// What a stranger names must not become a broadcast, or a connection to ourselves.
bool belongs_to_one_host(const IpAddress& address) {
  const bool many = address.family == Family::inet ? address.bytes[0] >= 224 : address.bytes[0] == 0xff;
  return !many && !address.is_unspecified() && !address.is_loopback();
}

std::vector<Offer> read_offers(const Node& object) {
  constexpr std::string_view kUses[] = {"socket", "rdma"};
  std::vector<Offer> out;
  const Node list = object.required("offers", "a list of addresses");
  for (const Node& item : at_most(list, kMostOffers)) {
    Offer offer;
    offer.use = read_enum<Use>(item.required("use", "a use"), kUses);
    offer.device = word(item, "device");
    offer.netdev = word(item, "netdev");
    const Node address = item.required("address", "an address");
    offer.address = address.address();
    if (!belongs_to_one_host(offer.address)) address.fail("an address of one host");
    offer.mtu = number(item, "mtu", 0, 1 << 20);
    offer.tcp_port = static_cast<std::uint16_t>(number(item, "tcp_port", 0, 65535));
    offer.udp_port = static_cast<std::uint16_t>(number(item, "udp_port", 0, 65535));
    out.push_back(std::move(offer));
  }
  return out;
}

struct Writer {
  Ordered operator()(const Hello& hello) const {
    return {{"type", "hello"},
            {"job", hello.job},
            {"rank", hello.rank},
            {"ranks", hello.ranks},
            {"stands_for", hello.stands_for},
            {"machine", hello.machine},
            {"host", hello.host},
            {"topoguard", hello.topoguard},
            {"key", hello.key},
            {"offers", write(hello.offers)},
            {"digest", write_digest(hello.digest)}};
  }
  Ordered operator()(const ClockQuestion&) const { return {{"type", "clock-question"}}; }
  Ordered operator()(const ClockAnswer& answer) const {
    return {{"type", "clock-answer"}, {"unix_ns", answer.unix_ns}};
  }
  Ordered operator()(const Plan& plan) const {
    Ordered list = Ordered::array();
    for (const Partner& partner : plan.partners)
      list.push_back(
          {{"rank", partner.rank}, {"host", partner.host}, {"key", partner.key}, {"offers", write(partner.offers)}});
    return {{"type", "plan"}, {"budget_ms", plan.budget_ms}, {"partners", std::move(list)}};
  }
  Ordered operator()(const Report& report) const {
    Ordered list = Ordered::array();
    for (const Probe& probe : report.probes) {
      Ordered one = {{"partner", probe.partner},
                     {"from", probe.from},
                     {"to", probe.to},
                     {"tcp", reach_name(probe.tcp)},
                     {"error", probe.error},
                     {"connect_us", probe.connect_us},
                     {"mtu_state", mtu_state_name(probe.mtu_state)},
                     {"mtu", probe.mtu},
                     {"mtu_wanted", probe.mtu_wanted}};
      if (probe.told_by) one["told_by"] = probe.told_by->text();
      if (probe.usual_source) one["usual_source"] = probe.usual_source->text();
      list.push_back(std::move(one));
    }
    return {{"type", "report"}, {"probes", std::move(list)}};
  }
  Ordered operator()(const End& end) const { return {{"type", "end"}, {"status", end.status}}; }
  Ordered operator()(const Refusal& refusal) const { return {{"type", "refusal"}, {"reason", refusal.reason}}; }
};

Hello read_hello(const Node& root) {
  Hello out;
  out.job = word(root, "job", kJob);
  out.ranks = number(root, "ranks", 1, kMostRanks);
  out.rank = number(root, "rank", 0, out.ranks - 1);
  out.stands_for = number(root, "stands_for", 1, kMostRanks);
  out.machine = word(root, "machine");
  out.host = word(root, "host");
  out.topoguard = word(root, "topoguard");
  out.key = read_key(root);
  out.offers = read_offers(root);
  out.digest = read_digest(root.required("digest", "a digest"));
  out.digest.name = out.host;
  return out;
}

Plan read_plan(const Node& root) {
  Plan out;
  out.budget_ms = number(root, "budget_ms", 100, 3'600'000);
  const Node list = root.required("partners", "a list of partners");
  for (const Node& item : at_most(list, kEveryPair)) {
    Partner partner;
    partner.rank = number(item, "rank", 0, kMostRanks - 1);
    partner.host = word(item, "host");
    partner.key = read_key(item);
    partner.offers = read_offers(item);
    out.partners.push_back(std::move(partner));
  }
  return out;
}

Report read_report(const Node& root) {
  Report out;
  const Node list = root.required("probes", "a list of probes");
  for (const Node& item : at_most(list, kEveryPair * kMostOffers)) {
    Probe probe;
    probe.partner = number(item, "partner", 0, kMostRanks - 1);
    probe.from = number(item, "from", 0, kMostOffers - 1);
    probe.to = number(item, "to", 0, kMostOffers - 1);
    probe.tcp = read_enum<Reach>(item.required("tcp", "how it went"), kReach);
    probe.error = number(item, "error", 0, 4095);
    probe.connect_us = item.required("connect_us", "microseconds").integer(0, kLongest, "microseconds");
    probe.mtu_state = read_enum<MtuState>(item.required("mtu_state", "how it went"), kMtu);
    probe.mtu = number(item, "mtu", 0, 1 << 20);
    probe.mtu_wanted = number(item, "mtu_wanted", 0, 1 << 20);
    if (const auto by = item.member("told_by")) probe.told_by = by->address();
    if (const auto source = item.member("usual_source")) probe.usual_source = source->address();
    out.probes.push_back(probe);
  }
  return out;
}

Message read(const Node& root) {
  const Node type = root.required("type", "a type of message");
  const std::string name = type.text();
  if (name == "hello") return read_hello(root);
  if (name == "clock-question") return ClockQuestion{};
  if (name == "clock-answer")
    return ClockAnswer{root.required("unix_ns", "nanoseconds")
                           .integer(0, std::numeric_limits<std::int64_t>::max(), "nanoseconds since 1970")};
  if (name == "plan") return read_plan(root);
  if (name == "report") return read_report(root);
  if (name == "end") return End{number(root, "status", 0, 2)};
  if (name == "refusal") return Refusal{word(root, "reason", 1024)};
  type.fail("a known type of message");
}

}  // namespace

std::string_view reach_name(Reach reach) { return kReach[static_cast<std::size_t>(reach)]; }
std::string_view mtu_state_name(MtuState state) { return kMtu[static_cast<std::size_t>(state)]; }

std::string write_message(const Message& message) {
  return std::visit(Writer(), message).dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

ReadMessage read_message(std::string_view text, std::size_t limit) {
  try {
    const json::Json root = json::parse(text, {limit, 16, limit / 2});
    return {read(Node(root)), {}};
  } catch (const json::Malformed& problem) {
    return {std::nullopt, problem.line("message")};
  } catch (const std::exception& problem) {
    return {std::nullopt, printable(problem.what(), 200)};
  }
}

}  // namespace topoguard::check
