// SPDX-License-Identifier: Apache-2.0
#include "check/prober.h"

#include <algorithm>

#include "check/pairs.h"
#include "check/path_mtu.h"
#include "check/tcp_probe.h"

namespace topoguard::check {

Prober::Prober(Loop& loop, std::vector<Offer> own, Plan plan, std::size_t most, std::function<void(Report)> done)
    : loop_(loop),
      own_(std::move(own)),
      plan_(std::move(plan)),
      most_(std::max<std::size_t>(most, 1)),
      done_(std::move(done)) {
  for (const Partner& partner : plan_.partners)
    for (const Use use : {Use::socket, Use::rdma}) add_pairs(partner, use);
  deadline_ = loop_.at(Clock::now() + std::chrono::milliseconds(plan_.budget_ms), [this] { stop(); });
  loop_.at(Clock::now(), [this] { start_some(); });
}

Prober::~Prober() = default;

void Prober::add_pairs(const Partner& partner, Use use) {
  const auto mine = of_use(own_, use), theirs = of_use(partner.offers, use);
  for (const auto& [from, to] : matched(mine.size(), theirs.size())) {
    Pair& pair = pairs_.emplace_back();
    pair.partner = &partner;
    pair.probe.partner = partner.rank;
    pair.probe.from = static_cast<int>(mine[from]);
    pair.probe.to = static_cast<int>(theirs[to]);
  }
}

void Prober::start_some() {
  while (!stopping_ && running_ < most_ && started_ < pairs_.size()) {
    Pair& pair = pairs_[started_++];
    const Offer& from = own_[static_cast<std::size_t>(pair.probe.from)];
    const Offer& to = pair.partner->offers[static_cast<std::size_t>(pair.probe.to)];
    if (from.address.family != to.address.family) {
      pair.probe.tcp = Reach::other_family;
      continue;
    }
    if (to.tcp_port == 0) continue;  // its own host says why
    pair.open = 2;
    ++running_;
    const std::string& key = pair.partner->key;
    pair.tcp = std::make_unique<TcpProbe>(loop_, from, to, key, pair.probe, [this, &pair] { one_done(pair); });
    pair.mtu = std::make_unique<PathMtuProbe>(loop_, from, to, key, pair.probe, [this, &pair] { one_done(pair); });
  }
  if (running_ == 0 && started_ == pairs_.size()) finish();
}

void Prober::one_done(Pair& pair) {
  if (--pair.open > 0) return;
  --running_;
  if (!stopping_) start_some();
}

void Prober::stop() {
  stopping_ = true;
  for (Pair& pair : pairs_) {
    if (pair.tcp) pair.tcp->stop();
    if (pair.mtu) pair.mtu->stop();
  }
  finish();
}

void Prober::finish() {
  if (finished_) return;
  finished_ = true;
  loop_.cancel(deadline_);
  Report report;
  for (const Pair& pair : pairs_) report.probes.push_back(pair.probe);
  done_(std::move(report));
}

}  // namespace topoguard::check
