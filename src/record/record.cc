// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <fmt/format.h>

#include <atomic>

#include "core/guard.h"
#include "record/phrases.h"

namespace topoguard::record {
namespace {

std::atomic<std::uint64_t> connections{0};
std::atomic<int> open_communicators{0};
std::atomic<bool> seen_communicator{false};

// A line for NCCL's log, where the settings ask for it.
template <typename Text>
void line(const Session& session, const Voice& voice, LogLevel level, Subject subject, Text text) noexcept {
  if (session.off || voice.silent || !session.policy.shows(level, subject)) return;
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
  // The first one has the whole block.
  if (!seen_communicator.exchange(true)) return;
  line(session, voice, LogLevel::summary, Subject::connection, [&] {
    return fmt::format("further communicator{}: {} over {} device{}; {} open here",
                       communicator != 0 ? fmt::format(" {:#x}", communicator) : std::string(), transport, devices,
                       devices == 1 ? "" : "s", open);
  });
}

void communicator_closed(const Session& session, const Voice&, std::uint64_t) noexcept {
  if (!session.off) --open_communicators;
}

void connected(const Session& session, const Voice& voice, const Connection& connection, double seconds) noexcept {
  line(session, voice, LogLevel::paths, Subject::connection, [&] {
    return connection_phrase(connection) + ", after " + duration_phrase(seconds) + "; " +
           gpudirect_phrase(connection, session.host);
  });
}

void connect_failed(const Session& session, const Voice& voice, const Connection& connection, double seconds,
                    int nccl_result, std::string_view why) noexcept {
  line(session, voice, LogLevel::paths, Subject::connection, [&] {
    return fmt::format("{} failed after {} (NCCL result {}){}{}", connection_phrase(connection),
                       duration_phrase(seconds), nccl_result, why.empty() ? "" : ": ", why);
  });
}

void closed(const Session&, const Voice&, const Connection&) noexcept {}

void moved(const Session&, const Connection&, std::uint64_t, std::uint64_t) noexcept {}

void memory_registered(const Session& session, const Voice& voice, const Connection& connection, Memory memory,
                       int refused) noexcept {
  line(session, voice, LogLevel::paths, Subject::memory, [&] {
    const std::string what =
        fmt::format("connection {} on {}: {} memory", connection.id, device_phrase(connection), memory_name(memory));
    if (refused != 0) return what + fmt::format(" refused (NCCL result {})", refused);
    return what + (memory == Memory::host ? "" : ", GPUDirect is in use");
  });
}

void found(const Session&, const Finding&) noexcept {}

}  // namespace topoguard::record
