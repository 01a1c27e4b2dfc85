// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <fmt/format.h>

#include <atomic>

#include "core/guard.h"
#include "core/journal.h"
#include "record/events.h"
#include "record/phrases.h"

namespace topoguard::record {
namespace {

using journal::Event;
using journal::Metric;
using journal::Metrics;
using journal::When;

std::atomic<std::uint64_t> connections{0};
std::atomic<int> open_communicators{0};
std::atomic<int> open_connections{0};
std::atomic<bool> seen_communicator{false};

// A line for NCCL's log, where the settings ask for it.
template <typename Text>
void line(const Session& session, const Voice& voice, LogLevel level, Subject subject, Text text) noexcept {
  if (voice.silent || !session.policy.shows(level, subject)) return;
  guarded(false, [&] {
    say(voice, "topoguard: " + text());
    return true;
  });
}

}  // namespace

std::uint64_t next_connection() noexcept { return ++connections; }

void communicator_opened(const Session& session, const Voice& voice, std::uint64_t communicator,
                         std::string_view transport, int devices) noexcept {
  if (session.off) return;
  const int open = ++open_communicators;
  journal::event(voice, "communicator-opened", [&] {
    Event event;
    event.put("transport", transport).put("devices", devices).put("open", open);
    if (communicator != 0) event.put("communicator", communicator_text(communicator));
    return event;
  });
  journal::count([&](Metrics& metrics) {
    metrics.set(Metric::communicators_open, {}, open);
    metrics.add(Metric::communicators_total, {{"transport", std::string(transport)}});
  });
  journal::write_metrics(voice, When::now);
  // The first one has the whole block.
  if (!seen_communicator.exchange(true)) return;
  line(session, voice, LogLevel::summary, Subject::connection, [&] {
    return fmt::format("further communicator{}: {} over {} device{}; {} open here",
                       communicator != 0 ? " " + communicator_text(communicator) : std::string(), transport, devices,
                       devices == 1 ? "" : "s", open);
  });
}

void communicator_closed(const Session& session, const Voice& voice, std::uint64_t communicator) noexcept {
  if (session.off) return;
  const int open = --open_communicators;
  journal::event(voice, "communicator-closed", [&] {
    Event event;
    event.put("open", open);
    if (communicator != 0) event.put("communicator", communicator_text(communicator));
    return event;
  });
  journal::count([&](Metrics& metrics) { metrics.set(Metric::communicators_open, {}, open); });
  journal::write_metrics(voice, When::now);
}

void connected(const Session& session, const Voice& voice, const Connection& connection, double seconds) noexcept {
  if (session.off) return;
  ++open_connections;
  line(session, voice, LogLevel::paths, Subject::connection, [&] {
    return connection_phrase(connection) + ", after " + duration_phrase(seconds) + "; " +
           gpudirect_phrase(connection, session.host);
  });
  journal::event(voice, "connected", [&] {
    Event event = members(connection);
    event.put("seconds", seconds);
    event.put("gpudirect", gpudirect_phrase(connection, session.host));
    return event;
  });
  journal::count([&](Metrics& metrics) {
    metrics.add(Metric::connections_total, labels(connection));
    metrics.add(Metric::connections_open, labels(connection));
    metrics.observe(Metric::connect_seconds, labels(connection), seconds);
  });
  journal::write_metrics(voice, When::soon);
}

void connect_failed(const Session& session, const Voice& voice, const Connection& connection, double seconds,
                    int nccl_result, std::string_view why) noexcept {
  if (session.off) return;
  line(session, voice, LogLevel::paths, Subject::connection, [&] {
    return fmt::format("{} failed after {} (NCCL result {}){}{}", connection_phrase(connection),
                       duration_phrase(seconds), nccl_result, why.empty() ? "" : ": ", why);
  });
  journal::event(voice, "connect-failed", [&] {
    Event event = members(connection);
    event.put("seconds", seconds);
    event.put("result", nccl_result);
    if (!why.empty()) event.put("why", why);
    return event;
  });
  journal::count([&](Metrics& metrics) {
    auto with_result = labels(connection);
    with_result.emplace_back("result", std::to_string(nccl_result));
    metrics.add(Metric::connect_failures_total, with_result);
  });
  journal::write_metrics(voice, When::now);
}

void memory_registered(const Session& session, const Voice& voice, const Connection& connection, Memory memory,
                       int refused) noexcept {
  if (session.off) return;
  line(session, voice, LogLevel::paths, Subject::memory, [&] {
    const std::string what =
        fmt::format("connection {} on {}: {} memory", connection.id, device_phrase(connection), memory_name(memory));
    if (refused != 0) return what + fmt::format(" refused (NCCL result {})", refused);
    return what + (memory == Memory::host ? "" : ", so GPUDirect is in use");
  });
  journal::event(voice, "memory", [&] {
    Event event = members(connection);
    event.put("memory", memory_name(memory));
    if (refused != 0) event.put("refused", refused);
    return event;
  });
  journal::count([&](Metrics& metrics) {
    metrics.add(Metric::memory_registrations_total, {{"transport", connection.transport},
                                                     {"device", connection.device_name},
                                                     {"memory", std::string(memory_name(memory))},
                                                     {"outcome", refused == 0 ? "taken" : "refused"}});
  });
  journal::write_metrics(voice, When::soon);
}

void moved(const Session& session, const Connection& connection, std::uint64_t operations,
           std::uint64_t bytes) noexcept {
  if (session.off) return;
  journal::count([&](Metrics& metrics) {
    metrics.add(Metric::operations_total, labels(connection), static_cast<double>(operations));
    metrics.add(Metric::bytes_total, labels(connection), static_cast<double>(bytes));
  });
  journal::event(session.voice(nullptr), "moved", [&] {
    Event event = members(connection);
    event.put("operations", operations);
    event.put("bytes", bytes);
    return event;
  });
}

void closed(const Session& session, const Voice& voice, const Connection& connection) noexcept {
  if (session.off) return;
  const int left = --open_connections;
  journal::event(voice, "closed", [&] { return members(connection); });
  journal::count([&](Metrics& metrics) { metrics.add(Metric::connections_open, labels(connection), -1); });
  // Before net API v11 nobody says when a communicator ends: the last connection is the end.
  journal::write_metrics(voice, left == 0 ? When::now : When::soon);
}

void found(const Session& session, const Finding& finding) noexcept {
  if (session.off) return;
  journal::finding(session.voice(nullptr), finding);
  journal::write_metrics(session.voice(nullptr), When::soon);
}

}  // namespace topoguard::record
