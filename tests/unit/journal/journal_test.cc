// SPDX-License-Identifier: Apache-2.0
// The process's journal as the front ends use it: what is written where, and that trouble is told once.
#include "core/journal.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "nccl/common.h"
#include "scratch.h"

using namespace topoguard;
using test::Scratch;
using test::text_of;

namespace {

int warnings = 0;

void logger(tgnccl_log_level_t level, unsigned long, const char*, int, const char*, ...) {
  warnings += level == tgnccl_log_warn ? 1 : 0;
}

struct Settings {
  Policy policy;
  Settings() {
    setenv("NCCL_DEBUG", "WARN", 1);
    unsetenv("LOCAL_RANK");
    unsetenv("SLURM_LOCALID");
  }
};

std::vector<nlohmann::json> events(const std::string& path) {
  std::vector<nlohmann::json> found;
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  return found;
}

const Voice kVoice{&logger, false};

}  // namespace

TEST_CASE("without names nothing is written, and events are not even made") {
  Settings settings;
  journal::configure(settings.policy);
  bool made = false;
  journal::event(kVoice, "x", [&] {
    made = true;
    return journal::Event{};
  });
  journal::count([&](journal::Metrics&) { made = true; });
  journal::write_metrics(kVoice, journal::When::now);
  CHECK_FALSE(made);
}

TEST_CASE("events have a head and their own members; nothing is opened before the first") {
  const Scratch scratch;
  Settings settings;
  settings.policy.log_file = scratch / "log-%p-%%";
  journal::configure(settings.policy);
  CHECK(scratch.files() == 0);
  setenv("LOCAL_RANK", "3", 1);
  journal::event(kVoice, "connected", [] { return journal::Event().put("side", "send").put("bad", "\xff"); });
  unsetenv("LOCAL_RANK");
  const auto found = events(scratch / ("log-" + std::to_string(getpid()) + "-%"));
  REQUIRE(found.size() == 1);
  CHECK(found[0]["event"] == "connected");
  CHECK(found[0]["pid"] == getpid());
  CHECK(found[0]["side"] == "send");
  CHECK(found[0]["local_rank"] == 3);
  CHECK(found[0]["time"].get<std::string>().size() == std::string("2026-11-30T01:32:38.123456Z").size());
}

TEST_CASE("a finding is counted and written once, whoever tells it") {
  const Scratch scratch;
  Settings settings;
  settings.policy.log_file = scratch / "log";
  settings.policy.metrics = scratch / "metrics";
  journal::configure(settings.policy);
  const Finding finding{Severity::warning, "gid-missing", "mlx5_0", "no GID", "give one"};
  for (int i = 0; i < 3; ++i) journal::finding(kVoice, finding);
  complain(kVoice, Severity::error, "nothing-to-wrap", "nothing");
  journal::write_metrics(kVoice, journal::When::now);
  const auto found = events(scratch / "log");
  REQUIRE(found.size() == 2);
  CHECK(found[0]["code"] == "gid-missing");
  CHECK(found[0]["remedy"] == "give one");
  CHECK(found[1]["code"] == "nothing-to-wrap");
  CHECK_THAT(text_of(scratch / "metrics"), Catch::Contains("code=\"gid-missing\",severity=\"warning\"} 1\n"));
}

TEST_CASE("a file that cannot be written is told of once; what was lost is told where it goes on") {
  const Scratch scratch;
  Settings settings;
  settings.policy.log_file = scratch / "gone/log";
  settings.policy.metrics = scratch / "gone/metrics";
  journal::configure(settings.policy);
  const auto event = [] { journal::event(kVoice, "x", [] { return journal::Event().put("n", 1); }); };
  warnings = 0;
  for (int i = 0; i < 3; ++i) {
    event();
    journal::write_metrics(kVoice, journal::When::now);
  }
  CHECK(warnings == 2);  // one for each file
  std::filesystem::create_directory(scratch / "gone");
  event();
  journal::write_metrics(kVoice, journal::When::now);
  const auto found = events(scratch / "gone/log");
  REQUIRE(found.size() == 2);
  CHECK(found[0]["event"] == "lost");
  CHECK(found[0]["lines"] == 3);
  CHECK_THAT(text_of(scratch / "gone/metrics"), Catch::Contains("topoguard_log_lines_lost_total"));
}

TEST_CASE("the counters' file is written at a bounded pace, and always when it must") {
  const Scratch scratch;
  Settings settings;
  settings.policy.metrics = scratch / "metrics";
  journal::configure(settings.policy);
  const auto connect = [] {
    journal::count([](journal::Metrics& metrics) { metrics.add(journal::Metric::connections_total, {}); });
  };
  int writes = 0;
  ino_t last = 0;
  for (int i = 0; i < 200; ++i) {
    connect();
    journal::write_metrics(kVoice, journal::When::soon);
    struct stat status {};
    if (stat((scratch / "metrics").c_str(), &status) == 0 && status.st_ino != last) ++writes;
    last = status.st_ino;
  }
  CHECK(writes >= 1);
  CHECK(writes < 100);
  journal::write_metrics(kVoice, journal::When::now);
  CHECK_THAT(text_of(scratch / "metrics"), Catch::Contains("} 200\n"));
}
