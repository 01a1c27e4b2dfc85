// SPDX-License-Identifier: Apache-2.0
// The wire: framing, and that nothing is believed that is not proven.
#include "check/messages.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "check/frame.h"

using namespace topoguard;
using namespace topoguard::check;
using Json = nlohmann::json;

namespace {

Offer offer(const char* address) {
  Offer out;
  out.device = "mlx5_0";
  out.netdev = "eth2";
  out.use = Use::rdma;
  out.address = *IpAddress::parse(address);
  out.mtu = 9000;
  out.tcp_port = 40001;
  out.udp_port = 40002;
  return out;
}

Hello hello() {
  Hello out;
  out.job = "slurm:1.0";
  out.rank = 1;
  out.ranks = 4;
  out.machine = "boot+1";
  out.host = "node-b";
  out.topoguard = "0.1.0";
  out.key = std::string(kKeyText, 'a');
  out.offers = {offer("10.1.0.2"), offer("fd00::2")};
  out.digest.transport = Transport::ib;
  out.digest.nccl_version = "2.28.9";
  out.digest.env = {{"NCCL_DEBUG", "INFO"}, {"NCCL_IB_HCA", ""}};
  out.digest.hca_count = 2;
  out.digest.gid_types = "RoCE v2 over IPv4";
  Endpoint end;
  end.address = *IpAddress::parse("10.1.0.2");
  end.subnet = *Prefix::parse("10.1.0.0/24");
  end.reach = {*Prefix::parse("10.0.0.0/8")};
  end.lost = {*Prefix::parse("10.9.0.0/16")};
  out.digest.rails = {end};
  out.digest.rail_subnets = {"10.1.0.0/24"};
  out.digest.subnet_aware = true;
  return out;
}

Json valid_hello() { return Json::parse(write_message(hello())); }

std::string error_of(const Json& document) {
  const ReadMessage read = read_message(document.dump(), kHelloLimit);
  CHECK_FALSE(read.message);
  return read.error;
}

}  // namespace

TEST_CASE("a hello comes back as it was") {
  const std::string text = write_message(hello());
  const ReadMessage read = read_message(text, kHelloLimit);
  INFO(read.error);
  REQUIRE(read.message);
  CHECK(write_message(*read.message) == text);
  const auto& back = std::get<Hello>(*read.message);
  CHECK(back.digest.name == "node-b");
  CHECK(back.digest.rails.front().lost == hello().digest.rails.front().lost);
  CHECK(back.offers[1].address == hello().offers[1].address);
}

TEST_CASE("plans, reports and the rest come back as they were") {
  Probe probe;
  probe.partner = 3;
  probe.from = 1;
  probe.tcp = Reach::unreachable;
  probe.error = 113;
  probe.mtu_state = MtuState::told;
  probe.mtu = 1400;
  probe.mtu_wanted = 1500;
  probe.told_by = IpAddress::parse("10.0.0.254");
  probe.usual_source = IpAddress::parse("10.0.0.9");
  const Plan plan{3500, {{2, "node-c", std::string(kKeyText, '0'), {offer("10.1.0.3")}}}};
  for (const Message& message :
       std::vector<Message>{plan, Report{{probe}}, ClockQuestion{}, ClockAnswer{1}, End{2}, Refusal{"no"}}) {
    const std::string text = write_message(message);
    INFO(text);
    const ReadMessage read = read_message(text, kPlanLimit);
    INFO(read.error);
    REQUIRE(read.message);
    CHECK(write_message(*read.message) == text);
  }
}

TEST_CASE("a hello with one thing wrong is refused as a whole") {
  REQUIRE(read_message(valid_hello().dump(), kHelloLimit).message);
  const std::pair<const char*, Json> rows[] = {
      {"/type", "welcome"},
      {"/type", 1},
      {"/rank", 4},
      {"/rank", -1},
      {"/rank", "1"},
      {"/rank", 1.5},
      {"/ranks", 0},
      {"/ranks", 1000000},
      {"/stands_for", 0},
      {"/job", std::string(600, 'x')},
      {"/job", "a\nb"},
      {"/host", "\x1b[31mred"},
      {"/host", nullptr},
      {"/key", "short"},
      {"/key", std::string(kKeyText, 'G')},
      {"/offers", "none"},
      {"/offers/0/address", "node-b"},
      {"/offers/0/address", "127.0.0.1"},
      {"/offers/0/address", "255.255.255.255"},
      {"/offers/0/address", "224.0.0.1"},
      {"/offers/0/address", "::"},
      {"/offers/0/address", "ff02::1"},
      {"/offers/0/tcp_port", 70000},
      {"/offers/0/mtu", -1},
      {"/offers/0/use", "storage"},
      {"/offers/0/device", std::string(300, 'd')},
      {"/digest", Json::array()},
      {"/digest/transport", "carrier pigeon"},
      {"/digest/hca_count", 100000},
      {"/digest/env", {{"LD_PRELOAD", "x"}}},
      {"/digest/env", {{"NCCL_DEBUG", 1}}},
      {"/digest/rails/0/subnet", "10.0.0.0/99"},
      {"/digest/rails/0/reach", {"everything"}},
      {"/digest/rail_subnets", {"a\u0007"}},
      {"/digest/subnet_aware", "yes"},
  };
  for (const auto& [pointer, value] : rows) {
    Json document = valid_hello();
    document[Json::json_pointer(pointer)] = value;
    INFO(pointer << " " << value.dump());
    CHECK_FALSE(error_of(document).empty());
  }
  const Json whole = valid_hello();
  for (const auto& [name, value] : whole.items()) {
    Json document = valid_hello();
    document.erase(name);
    INFO("without " << name);
    CHECK_FALSE(error_of(document).empty());
  }
}

TEST_CASE("lists have an end") {
  Json document = valid_hello();
  for (int i = 0; i < 70; ++i) document["offers"].push_back(document["offers"][0]);
  CHECK(error_of(document).find("at most 64") != std::string::npos);
  document = valid_hello();
  for (int i = 0; i < 600; ++i) document["digest"]["rails"][0]["reach"].push_back("10.0.0.0/8");
  CHECK(error_of(document).find("at most 512") != std::string::npos);
}

TEST_CASE("bytes that are no document") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("\xff\xfe"),
        std::string(100000, '['), std::string(kHelloLimit + 1, ' ')}) {
    const ReadMessage read = read_message(text, kHelloLimit);
    CHECK_FALSE(read.message);
    CHECK_FALSE(read.error.empty());
    CHECK(read.error.find('\n') == std::string::npos);
  }
}

TEST_CASE("more routes than are told count as unknown") {
  Hello many = hello();
  for (int i = 0; i < 600; ++i)
    many.digest.rails[0].reach.push_back(*Prefix::parse("10.1." + std::to_string(i % 250) + ".0/24"));
  const ReadMessage read = read_message(write_message(many), kHelloLimit);
  REQUIRE(read.message);
  CHECK_FALSE(std::get<Hello>(*read.message).digest.rails[0].routes_known);
}

TEST_CASE("frames come out whole, however they are cut") {
  const std::string two = frame("first") + frame("");
  for (std::size_t part = 1; part <= two.size(); ++part) {
    FrameReader reader(100);
    std::vector<std::string> out;
    for (std::size_t at = 0; at < two.size(); at += part) {
      reader.add(std::string_view(two).substr(at, part));
      while (auto body = reader.next()) out.push_back(*body);
    }
    CHECK(out == std::vector<std::string>{"first", ""});
    CHECK(reader.error() == FrameError::none);
  }
}

TEST_CASE("strangers are told at their first wrong byte, other versions from strangers") {
  const auto error = [](std::string_view bytes) {
    FrameReader reader(100);
    reader.add(bytes);
    CHECK_FALSE(reader.next());
    return reader.error();
  };
  CHECK(error("G") == FrameError::stranger);
  CHECK(error("TGCX") == FrameError::stranger);
  CHECK(error("TG") == FrameError::none);
  CHECK(error(std::string("TGCK\0\1\0\1\0\0\0\0", 12)) == FrameError::stranger);
  CHECK(error(frame(std::string(101, 'x'))) == FrameError::too_long);
  CHECK(error(frame("{}", 2)) == FrameError::other_version);
  FrameReader reader(100);
  reader.add(frame("{}", 513));
  CHECK(reader.version() == 513);
  reader.add(frame("late"));
  CHECK_FALSE(reader.next());
}
