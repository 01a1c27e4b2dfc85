// SPDX-License-Identifier: Apache-2.0
#include "core/journal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "affinity/ranks.h"
#include "core/guard.h"
#include "host/process_env.h"
#include "journal/append_file.h"
#include "journal/replace_file.h"
#include "policy/file_name.h"

namespace topoguard::journal {
namespace {

using Clock = std::chrono::steady_clock;

// Writing the counters costs some 0.2 ms; a job of many communicators must not notice.
class Pace {
 public:
  bool allows(Clock::time_point now) {
    left_ = std::min(kBurst, left_ + std::chrono::duration<double>(now - last_).count());
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  static constexpr double kBurst = 8;
  double left_ = kBurst;
  Clock::time_point last_ = Clock::now();
};

struct Files {
  std::mutex mutex;
  std::string log_pattern, metrics_pattern, host;
  std::unique_ptr<AppendFile> log;
  std::uint64_t lost = 0;  // lines since the last one that got in
  Metrics metrics;
  std::string metrics_path;
  bool changed = false;
  Pace pace;
  std::set<std::tuple<std::string, std::string, std::string>> found;
  bool log_complained = false, metrics_complained = false;
  pid_t pid = 0;
};

// Never destroyed: a communicator may be torn down after static destructors ran.
Files& files() {
  static auto* const instance = new Files;
  return *instance;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const std::unique_ptr<char, decltype(&std::free)> here(getcwd(nullptr, 0), &std::free);
  return here ? std::string(here.get()) + "/" + path : path;
}

std::optional<int> rank_here() {
  const auto rank = local_rank([](std::string_view name) { return live_variable(name); });
  return rank ? std::optional<int>(rank->rank) : std::nullopt;
}

// A forked child is another process: its own file names, its own counters.
void settle(Files& all) {
  const pid_t now = getpid();
  if (all.pid == now) return;
  all.pid = 0;  // until all is there: what throws below is done again
  all.log.reset();
  all.lost = 0;
  all.found.clear();
  if (!all.log_pattern.empty())
    all.log = std::make_unique<AppendFile>(expanded_file_name(all.log_pattern, all.host, now), "{\"time\":\"");
  all.metrics_path = all.metrics_pattern.empty() ? "" : expanded_file_name(all.metrics_pattern, all.host, now);
  Labels constant = {{"host", all.host}, {"pid", std::to_string(now)}};
  if (const auto rank = rank_here()) constant.emplace_back("local_rank", std::to_string(*rank));
  all.metrics = Metrics(std::move(constant));
  all.changed = false;
  all.pid = now;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::time_t seconds = microseconds / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, microseconds % 1'000'000);
}

std::string line_of(const Files& all, std::string_view name, const Event& members) {
  Event whole;
  whole.put("time", utc_now()).put("event", name).put("host", all.host).put("pid", all.pid);
  whole.put("local_rank", rank_here());
  return whole.put_all(members).text() + "\n";
}

// The warning for a file that cannot be written, the first time.
std::string append(Files& all, std::string_view name, const Event& members) {
  if (all.lost > 0 && all.log->append(line_of(all, "lost", Event().put("lines", all.lost))).empty()) all.lost = 0;
  const std::string problem = all.log->append(line_of(all, name, members));
  if (problem.empty()) return {};
  ++all.lost;
  if (!all.metrics_path.empty()) {
    all.metrics.add(Metric::log_lines_lost_total, {});
    all.changed = true;
  }
  if (std::exchange(all.log_complained, true)) return {};
  return "TOPOGUARD_LOG_FILE: " + all.log->path() + " " + problem +
         ". Events are lost until it can be written; the job is not affected. Remedy: name a file in a folder of a "
         "local "
         "file system that the job's user may write";
}

void complain_of_file(const Voice& voice, std::string_view code, const std::string& problem) {
  if (!problem.empty() && !voice.silent) tell(voice, Severity::warning, code, problem, Reach::host);
}

// A job may end without destroying its communicators: what the pace held back is written then. In a signal handler that
// exits the lock may be held by this very thread.
[[gnu::destructor]] void write_last() {
  guarded(false, [] {
    auto& all = files();
    const std::unique_lock<std::mutex> lock(all.mutex, std::try_to_lock);
    if (lock.owns_lock() && all.changed && all.pid == getpid()) replace_file(all.metrics_path, all.metrics.text());
    return true;
  });
}

}  // namespace

void configure(const Policy& policy) noexcept {
  guarded(false, [&] {
    auto& all = files();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.log_pattern = absolute(policy.log_file);
    all.metrics_pattern = absolute(policy.metrics);
    all.host = host_name();
    all.log_complained = all.metrics_complained = false;
    all.pid = 0;
    return true;
  });
}

void event(const Voice& voice, std::string_view name, FunctionRef<Event()> make) noexcept {
  guarded(false, [&] {
    auto& all = files();
    std::string problem;
    {
      const std::lock_guard<std::mutex> lock(all.mutex);
      if (all.log_pattern.empty()) return true;
      settle(all);
      problem = append(all, name, make());
    }
    complain_of_file(voice, "log-file", problem);
    return true;
  });
}

void finding(const Voice& voice, const Finding& finding) noexcept {
  guarded(false, [&] {
    auto& all = files();
    {
      const std::lock_guard<std::mutex> lock(all.mutex);
      if (all.log_pattern.empty() && all.metrics_pattern.empty()) return true;
      settle(all);
      if (!all.found.emplace(finding.code, finding.device, finding.message).second) return true;
    }
    count([&](Metrics& metrics) {
      metrics.add(Metric::findings_total,
                  {{"code", finding.code}, {"severity", std::string(severity_name(finding.severity))}});
    });
    event(voice, "finding", [&] {
      Event members;
      members.put("severity", severity_name(finding.severity)).put("code", finding.code);
      if (!finding.device.empty()) members.put("device", finding.device);
      members.put("message", finding.message);
      if (!finding.remedy.empty()) members.put("remedy", finding.remedy);
      return members;
    });
    return true;
  });
}

void count(FunctionRef<void(Metrics&)> change) noexcept {
  guarded(false, [&] {
    auto& all = files();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.metrics_pattern.empty()) return true;
    settle(all);
    change(all.metrics);
    return all.changed = true;
  });
}

void write_metrics(const Voice& voice, When when) noexcept {
  guarded(false, [&] {
    auto& all = files();
    std::string problem;
    {
      const std::lock_guard<std::mutex> lock(all.mutex);
      if (all.metrics_pattern.empty()) return true;
      settle(all);
      if (!all.changed) return true;
      if (!all.pace.allows(Clock::now()) && when == When::soon) return true;
      const std::string wrong = replace_file(all.metrics_path, all.metrics.text());
      all.changed = !wrong.empty();
      if (!wrong.empty() && !std::exchange(all.metrics_complained, true))
        problem = "TOPOGUARD_METRICS: " + all.metrics_path + " " + wrong +
                  ". The counters are not up to date until it can be written; the job is not affected. Remedy: name a "
                  "file in a folder that the job's user may write";
    }
    complain_of_file(voice, "metrics-file", problem);
    return true;
  });
}

}  // namespace topoguard::journal
