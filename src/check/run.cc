// SPDX-License-Identifier: Apache-2.0
#include "check/run.h"

#include <sys/random.h>

#include <algorithm>
#include <stdexcept>

#include "check/meeting.h"
#include "check/member.h"
#include "check/responder.h"
#include "check/verdict.h"

namespace topoguard::check {
namespace {

std::string random_key() {
  unsigned char bytes[kKeyText / 2];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    throw std::runtime_error("the kernel gives no random bytes");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Hello hello_of(const Placement& placement, const HostSnapshot& host, const Decision& decision,
               const std::string& machine) {
  Hello out;
  out.job = placement.job;
  out.rank = placement.rank;
  out.ranks = placement.ranks;
  out.stands_for = placement.stands_for;
  out.machine = machine;
  out.host = host.system.hostname.value_or("");
  out.topoguard = TOPOGUARD_VERSION;
  out.key = random_key();
  out.offers = offers(host, decision);
  out.digest = digest(out.host, host, decision);
  return out;
}

int status_of(const std::vector<Finding>& findings) {
  int status = 0;
  for (const Finding& finding : findings)
    status = std::max(status, finding.severity == Severity::error ? 2 : finding.severity == Severity::warning ? 1 : 0);
  return status;
}

}  // namespace

RunResult run(const Placement& placement, const HostSnapshot& host, const Decision& decision,
              const std::string& machine, std::chrono::milliseconds whole) {
  RunResult out;
  Loop loop;
  const auto descriptors = static_cast<std::size_t>(raise_descriptor_limit());
  Hello own = hello_of(placement, host, decision, machine);
  if (own.offers.size() > kMostOffers) own.offers.resize(kMostOffers);
  const Responder responder(loop, own.offers, own.key);
  out.errors = responder.problems();
  if (placement.rank != 0) {
    MemberResult result = take_part(loop, placement, own, whole, descriptors);
    if (!result.error.empty()) out.errors.push_back(std::move(result.error));
    out.status = result.status;
    return out;
  }
  Socket listener = listen_everywhere(placement.port);
  if (!listener.fd) {
    out.errors.push_back("rank 0 cannot listen on port " + std::to_string(placement.port) + ": " +
                         host::error_text(listener.error) +
                         ". Remedy: choose a free port with --port, the same on all hosts");
    return out;
  }
  Meeting meeting(loop, std::move(listener), placement, own, Times::of(whole), descriptors);
  out.gathered = meeting.gather();
  out.findings = findings(*out.gathered);
  out.status = status_of(out.findings);
  meeting.end(out.status);
  return out;
}

}  // namespace topoguard::check
