// SPDX-License-Identifier: Apache-2.0
#include "core/voice.h"

#include <strings.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <string>

#include "affinity/ranks.h"
#include "core/guard.h"
#include "core/journal.h"
#include "document/printable.h"
#include "host/process_env.h"
#include "journal/quiet_write.h"

namespace topoguard {
namespace {

// NCCL cuts a log line at 1,024 bytes, with its own prefix in it; leave room for that.
constexpr std::size_t kLongestLine = 900;

// NCCL_DEBUG as ncclDebugInit reads it (src/debug.cc): names in any case, anything else is silence.
bool nccl_shows_warnings() {
  const auto level = live_variable("NCCL_DEBUG");
  if (!level) return false;
  for (const char* name : {"WARN", "INFO", "ABORT", "TRACE"})
    if (strcasecmp(level->c_str(), name) == 0) return true;
  return false;
}

bool speaks_for_host() {
  const auto rank = local_rank([](std::string_view name) { return live_variable(name); });
  return !rank || rank->rank == 0;
}

bool first_time(std::string_view code) {
  // Never destroyed: a communicator may be torn down after static destructors ran.
  static auto* mutex = new std::mutex;
  static auto* said = new std::set<std::string, std::less<>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  return said->emplace(code).second;
}

// One write: lines of several ranks on one terminal stay whole. Nobody may be listening.
void to_stderr(std::string_view line) {
  std::string text(line);
  text.push_back('\n');
  std::string_view left = text;
  while (!left.empty()) {
    const auto written = journal::quiet_write(STDERR_FILENO, left);
    if (written.bytes == 0) break;
    left.remove_prefix(written.bytes);
  }
}

void to_nccl(const Voice& voice, tgnccl_log_level_t level, std::string_view line) {
  while (!line.empty()) {
    auto length = line.size();
    if (length > kLongestLine) {
      length = line.rfind(' ', kLongestLine);
      if (length == std::string_view::npos || length == 0) length = kLongestLine;
    }
    const std::string part(line.substr(0, length));
    voice.logger(level, TGNCCL_LOG_INIT | TGNCCL_LOG_NET, "topoguard", 0, "%s", part.c_str());
    line.remove_prefix(length);
  }
}

}  // namespace

void say(const Voice& voice, std::string_view line) noexcept {
  if (voice.silent || voice.logger == nullptr) return;
  guarded(false, [&] {
    to_nccl(voice, tgnccl_log_info, printable(line));
    return true;
  });
}

void tell(const Voice& voice, Severity severity, std::string_view code, std::string_view line, Reach reach) noexcept {
  if (voice.silent) return;
  guarded(false, [&] {
    const std::string text =
        "topoguard " + std::string(severity_name(severity)) + " [" + std::string(code) + "]: " + printable(line);
    if (reach == Reach::host && !speaks_for_host()) {
      if (voice.logger != nullptr) to_nccl(voice, tgnccl_log_info, text);
    } else if (voice.logger != nullptr && nccl_shows_warnings()) {
      to_nccl(voice, tgnccl_log_warn, text);
    } else {
      to_stderr(text);
    }
    return true;
  });
}

void complain_aloud(const Voice& voice, Severity severity, std::string_view code, std::string_view line) noexcept {
  if (voice.silent) return;
  if (guarded(false, [&] { return first_time(code); })) tell(voice, severity, code, line, Reach::host);
}

void complain(const Voice& voice, Severity severity, std::string_view code, std::string_view line) noexcept {
  guarded(false, [&] {
    journal::finding(voice, {severity, std::string(code), {}, std::string(line), {}});
    return true;
  });
  complain_aloud(voice, severity, code, line);
}

}  // namespace topoguard
