// SPDX-License-Identifier: Apache-2.0
#include "decide/transport.h"

namespace topoguard {
namespace {

struct Facts {
  const UserSettings& user;
  const HcaResult& hcas;
  bool interfaces;

  bool wants(std::string_view network) const {
    const auto* net = user.find("NCCL_NET");
    return net && same_network_name(*net, network);
  }
};

struct Row {
  const char* id;
  bool (*when)(const Facts&);
  Transport transport;
  std::string (*why)(const Facts&);
  const char* taught_by;
};

const Row kRows[] = {
    {"no-network", [](const Facts& f) { return !f.user.no_network.empty(); }, Transport::none,
     [](const Facts& f) { return "with " + f.user.no_network + " NCCL finds no network"; }, "42f-net-empty"},
    {"no-interface", [](const Facts& f) { return !f.interfaces; }, Transport::none,
     [](const Facts&) { return std::string("NCCL finds no interface to bootstrap on"); }, "75-ifname-in-image"},
    {"user-off", [](const Facts& f) { return f.user.rdma_off(); }, Transport::socket,
     [](const Facts& f) { return "the user's " + f.user.rdma_off_by; }, "98-plugin-bypassed"},
    {"hcas", [](const Facts& f) { return !f.hcas.hcas.empty(); }, Transport::ib,
     [](const Facts& f) { return std::to_string(f.hcas.hcas.size()) + " HCA ports can be used"; }, "17-mixed-ib-roce"},
    {"user-ib", [](const Facts& f) { return f.wants("IB"); }, Transport::none,
     [](const Facts&) { return std::string("NCCL_NET=IB, and no HCA can be used"); }, "nccl-abi.md 4.3"},
    {"sockets", [](const Facts&) { return true; }, Transport::socket,
     [](const Facts& f) { return f.hcas.idle_cause.empty() ? std::string("no RDMA device") : f.hcas.idle_cause; },
     "91-no-uverbs-in-container"},
};

}  // namespace

TransportChoice choose_transport(const UserSettings& user, const HcaResult& hcas, bool interfaces) {
  const Facts facts{user, hcas, interfaces};
  for (const auto& row : kRows)
    if (row.when(facts)) return {row.transport, row.id, row.why(facts)};
  return {};
}

}  // namespace topoguard
