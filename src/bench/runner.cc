// SPDX-License-Identifier: Apache-2.0
#include "bench/runner.h"

#include <algorithm>
#include <stdexcept>

#include "bench/half.h"

namespace topoguard::bench {
namespace {

using nlohmann::json;

// Of one batch or of all connections: a guard against hangs, no measure of anything.
constexpr double kPatience = 120;

// The first batch of fresh connections fills buffers and opens TCP's window.
std::uint64_t warm_up(const Plan& plan) { return std::clamp<std::uint64_t>(plan.messages / 10, 1, batch_of(plan)); }

// Calls batch(messages, counts) until all messages of the plan were moved.
template <typename Batch>
void in_batches(const Plan& plan, Batch batch) {
  batch(warm_up(plan), false);
  for (std::uint64_t left = plan.messages; left > 0;) {
    const std::uint64_t now = std::min(left, batch_of(plan));
    batch(now, true);
    left -= now;
  }
}

void add(Sample& sample, const Plan& plan, std::uint64_t messages, double seconds, double cpu) {
  sample.seconds += seconds;
  sample.cpu += cpu;
  sample.messages += messages;
  sample.bytes += messages * plan.size;
}

class Here : public Runner {
 public:
  explicit Here(Nets& nets) : nets_(nets) {}

  Sample run(std::size_t net, const Plan& plan) override {
    Sample sample;
    const double start = now();
    Half initiator(*nets_.at(net), plan, Role::initiator), responder(*nets_.at(net), plan, Role::responder);
    const auto ours = initiator.handles(), theirs = responder.handles();
    initiator.connect(theirs);
    responder.connect(ours);
    drive({[&] { return initiator.connected(); }, [&] { return responder.connected(); }}, "connecting", kPatience);
    sample.connect = now() - start;
    in_batches(plan, [&](std::uint64_t messages, bool counts) {
      initiator.begin(messages);
      responder.begin(messages);
      const double cpu = cpu_time(), began = now();
      drive({[&] { return initiator.progress(); }, [&] { return responder.progress(); }}, "a batch", kPatience);
      const double ended = now();
      if (counts)
        add(sample, plan, messages, ended - began, cpu_time() - cpu);
      else
        initiator.round_trips().clear();
      initiator.check();
      responder.check();
    });
    sample.round_trips = std::move(initiator.round_trips());
    return sample;
  }

 private:
  Nets& nets_;
};

std::string hex(const Handle& handle) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : handle) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

Handle handle_of(const std::string& text) {
  Handle handle;
  if (text.size() != 2 * handle.size() || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::runtime_error("the other side's handle is none");
  const auto digit = [](char letter) { return letter <= '9' ? letter - '0' : letter - 'a' + 10; };
  for (std::size_t i = 0; i < handle.size(); ++i)
    handle[i] = static_cast<char>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  return handle;
}

json texts(const std::vector<Handle>& handles) {
  json list = json::array();
  for (const Handle& handle : handles) list.push_back(hex(handle));
  return list;
}

std::vector<Handle> handles_in(const json& message) {
  std::vector<Handle> out;
  for (const json& text : message.at("handles")) out.push_back(handle_of(text.get<std::string>()));
  return out;
}

json as_json(std::size_t net, const Plan& plan) {
  return {{"net", net},
          {"ping_pong", plan.traffic == Traffic::ping_pong},
          {"size", plan.size},
          {"messages", plan.messages},
          {"connections", plan.connections},
          {"window", plan.window},
          {"device", plan.device},
          {"seed", plan.seed},
          {"memory", plan.memory}};
}

// From another host: nothing in it is believed.
Plan plan_in(const json& message) {
  Plan plan;
  plan.traffic = message.at("ping_pong").get<bool>() ? Traffic::ping_pong : Traffic::stream;
  plan.size = message.at("size").get<std::size_t>();
  plan.messages = message.at("messages").get<std::uint64_t>();
  plan.connections = message.at("connections").get<int>();
  plan.window = message.at("window").get<int>();
  plan.device = message.at("device").get<int>();
  plan.seed = message.at("seed").get<std::uint64_t>();
  plan.memory = message.at("memory").get<std::string>();
  if (plan.size < 1 || plan.size > kMostBytes || plan.messages < 1 || plan.connections < 1 ||
      plan.connections > kMostConnections || plan.window < 1 || plan.window > kMostInFlight)
    throw std::runtime_error("the other side asks for what topoguard bench never asks for");
  return plan;
}

class With : public Runner {
 public:
  With(Nets& nets, Wire wire) : nets_(nets), wire_(std::move(wire)) {}
  ~With() override {
    try {
      wire_.send({{"end", true}});
    } catch (const std::exception&) {  // the other side is gone already
    }
  }

  Sample run(std::size_t net, const Plan& plan) override {
    try {
      return run_checked(net, plan);
    } catch (const json::exception&) {
      throw std::runtime_error("the other side is not topoguard bench");
    }
  }

 private:
  Sample run_checked(std::size_t net, const Plan& plan) {
    Sample sample;
    const double start = now();
    wire_.send({{"plan", as_json(net, plan)}});
    Half half(*nets_.at(net), plan, Role::initiator);
    const json theirs = wire_.receive(kPatience);
    wire_.send({{"handles", texts(half.handles())}});
    half.connect(handles_in(theirs));
    drive({[&] { return half.connected(); }}, "connecting", kPatience);
    wire_.receive(kPatience);
    sample.connect = now() - start;
    in_batches(plan, [&](std::uint64_t messages, bool counts) {
      wire_.send({{"batch", messages}});
      half.begin(messages);
      const double cpu = cpu_time(), began = now();
      drive({[&] { return half.progress(); }}, "a batch", kPatience);
      const double ours = now() - began, used = cpu_time() - cpu;
      const json theirs_done = wire_.receive(kPatience);
      // A send is done when the transport has taken it: when all has arrived, the receiver knows.
      const double seconds = plan.traffic == Traffic::stream ? theirs_done.at("seconds").get<double>() : ours;
      if (counts)
        add(sample, plan, messages, seconds, used + theirs_done.at("cpu").get<double>());
      else
        half.round_trips().clear();
      half.check();
    });
    wire_.send({{"batch", 0}});
    wire_.receive(kPatience);
    sample.round_trips = std::move(half.round_trips());
    return sample;
  }

  Nets& nets_;
  Wire wire_;
};

void serve_one(Nets& nets, Wire& wire, const json& asked) {
  const Plan plan = plan_in(asked);
  Half half(*nets.at(asked.at("net").get<std::size_t>()), plan, Role::responder);
  wire.send({{"handles", texts(half.handles())}});
  half.connect(handles_in(wire.receive(kPatience)));
  drive({[&] { return half.connected(); }}, "connecting", kPatience);
  wire.send({{"ready", true}});
  while (const auto messages = wire.receive(kPatience).at("batch").get<std::uint64_t>()) {
    if (messages > batch_of(plan)) throw std::runtime_error("the other side asks for more than was agreed");
    half.begin(messages);
    const double cpu = cpu_time(), began = now();
    drive({[&] { return half.progress(); }}, "a batch", kPatience);
    const double seconds = now() - began, used = cpu_time() - cpu;
    half.check();
    wire.send({{"seconds", seconds}, {"cpu", used}});
  }
  wire.send({{"closing", true}});
}

}  // namespace

std::unique_ptr<Runner> run_here(Nets& nets) { return std::make_unique<Here>(nets); }

std::unique_ptr<Runner> run_with(Nets& nets, Wire wire) { return std::make_unique<With>(nets, std::move(wire)); }

void serve(Nets& nets, Wire wire) {
  while (true) {
    const json message = wire.receive(3600);
    if (message.contains("end")) return;
    try {
      serve_one(nets, wire, message.at("plan"));
    } catch (const std::exception& error) {
      wire.send({{"error", error.what()}});
      throw;
    }
  }
}

}  // namespace topoguard::bench
