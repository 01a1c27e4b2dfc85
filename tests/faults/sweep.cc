// SPDX-License-Identifier: Apache-2.0
//
// sweep --plugin FILE --mocks FOLDER --collectors FILE [--full] [--scene NAME] [--seed N]
//
// Fails every call of topoguard's library in turn, then several at once, each time in a process of its own (scene.h),
// and says what did not hold. --full takes every call with every fault, up to --most schedules for each scene and kind;
// above that each class of calls (function and file, numbers left out) with every fault, and every Kth call. Without
// it, each class once. To see one schedule again: --scene S --kinds K --at N --what W, or --rate R --seed N.
// Exit: 0 nothing found, 1 findings, 2 usage, 77 cannot run here.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "inject.h"
#include "scene.h"

namespace {

constexpr std::size_t kMostCalls = 1u << 17;
constexpr unsigned kSecondsToHang = 60;

struct Shared {
  bool finished, declined;
  faults_report report;
  char problem[512], belongings[1024];
  faults_call calls[kMostCalls];
};

struct Outcome {
  int status = 0;
  std::string out, err;
};

struct Options {
  faults::Place place;
  std::string only_scene;
  bool full = false, here = false;
  long most = 6000;
  unsigned long seed = 1;
  faults_plan one = {FAULTS_CALLS | FAULTS_MEMORY, 0, ENOMEM, 0, 1};
  unsigned random = 0;
};

struct Tally {
  long schedules = 0, injected = 0, declined = 0, findings = 0, extra_lines = 0;
};

std::string content(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  close(fd);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

Outcome in_child(const Options& options, const std::string& scene, const faults_plan& plan, Shared& shared, bool list) {
  shared.finished = shared.declined = false;
  shared.report = {};
  shared.problem[0] = shared.belongings[0] = '\0';
  const int out = memfd_create("out", 0), err = memfd_create("err", 0);
  std::fflush(stdout);  // the child has a copy of what waits to be written
  const pid_t child = fork();
  if (child == 0) {
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    alarm(kSecondsToHang);
    faults::prepare(options.place, scene);
    if (list) faults_list(shared.calls, kMostCalls);
    faults_begin(&plan);
    const std::string problem = faults::play(options.place, scene, &shared.declined);
    shared.report = faults_end();
    std::snprintf(shared.problem, sizeof shared.problem, "%s", problem.c_str());
    std::snprintf(shared.belongings, sizeof shared.belongings, "%s", faults::belongings().c_str());
    shared.finished = true;
    exit(0);
  }
  Outcome outcome;
  while (waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  outcome.out = content(out);
  outcome.err = content(err);
  return outcome;
}

// The codes in brackets, with how often each was said; a line without one is under its own text.
std::map<std::string, int> warnings(const std::string& err) {
  std::map<std::string, int> codes;
  for (std::size_t at = 0; at < err.size();) {
    const auto end = std::min(err.find('\n', at), err.size());
    const std::string line = err.substr(at, end - at);
    const auto open = line.find('['), close = line.find("]:");
    ++codes[line.rfind("topoguard ", 0) == 0 && open < close && close != std::string::npos
                ? line.substr(open + 1, close - open - 1)
                : "not topoguard's: " + line];
    at = end + 1;
  }
  return codes;
}

// What did not happen is left out: a log file that could not be opened is no descriptor.
bool within(const std::string& found, const std::string& usual) {
  std::istringstream words(found);
  for (std::string word; words >> word;)
    if ((" " + usual).find(" " + word + " ") == std::string::npos) return false;
  return true;
}

std::string name_of(int what) {
  if (what == FAULTS_SHORT) return "short";
  if (what == FAULTS_GARBAGE) return "garbage";
  if (what == FAULTS_FLIPPED) return "flipped";
  if (what == FAULTS_ANY) return "any";
  return std::strerror(what);
}

class Sweep {
 public:
  Sweep(const Options& options, std::string scene, Shared& shared)
      : options_(options), scene_(std::move(scene)), shared_(shared) {}

  // Without a fault: the number of calls, and what everything else is compared with.
  bool baseline(unsigned kinds, std::vector<faults_call>* calls) {
    const faults_plan none = {kinds, 0, 0, 0, 0};
    const Outcome outcome = in_child(options_, scene_, none, shared_, true);
    usual_ = warnings(outcome.err);
    usual_belongings_ = shared_.belongings;
    const auto count = std::min(static_cast<std::size_t>(shared_.report.calls), kMostCalls);
    calls->assign(shared_.calls, shared_.calls + count);
    if (outcome.status == 0 && shared_.finished && shared_.problem[0] == '\0' && !shared_.declined && count > 0)
      return true;
    std::printf("%s: fails without any fault: status %d, %s\n%s", scene_.c_str(), outcome.status, shared_.problem,
                outcome.err.c_str());
    return false;
  }

  void run(const faults_plan& plan) {
    const Outcome outcome = in_child(options_, scene_, plan, shared_, false);
    ++tally.schedules;
    tally.injected += shared_.report.injected;
    tally.declined += shared_.declined ? 1 : 0;
    std::string found;
    if (WIFSIGNALED(outcome.status))
      found = WTERMSIG(outcome.status) == SIGALRM ? "hangs"
                                                  : std::string("ends by ") + ::strsignal(WTERMSIG(outcome.status));
    else if (!shared_.finished || outcome.status != 0)
      found = "the process ended inside";
    else if (shared_.problem[0] != '\0')
      found = shared_.problem;
    else if (!within(shared_.belongings, usual_belongings_))
      found = "left \"" + std::string(shared_.belongings) + "\" instead of \"" + usual_belongings_ + "\"";
    else if (!outcome.out.empty())
      found = "wrote to standard output: " + outcome.out;
    std::string unusual;
    for (const auto& [code, times] : warnings(outcome.err)) {
      if (times > 1) found = "said more than once: " + code;
      if (code.rfind("not topoguard's", 0) == 0 && found.empty()) found = code;
      if (usual_.count(code) == 0) {
        ++tally.extra_lines;
        unusual += " " + code;
        ++said[code];
      }
    }
    if (plan.at != 0 && plan.what > 0 && found.empty() && unusual.find(' ', 1) != std::string::npos)
      found = "one fault, several warnings:" + unusual;
    if (found.empty()) return;
    ++tally.findings;
    std::printf("FOUND %s: %s (last: %s)\n  again: --scene %s --kinds %u", scene_.c_str(), found.c_str(),
                shared_.report.function != nullptr ? shared_.report.function : "", scene_.c_str(), plan.kinds);
    if (plan.rate != 0)
      std::printf(" --rate %u --seed %lu\n", plan.rate, plan.seed);
    else
      std::printf(" --at %ld --what %d (%s)\n", plan.at, plan.what, name_of(plan.what).c_str());
    std::fwrite(outcome.err.data(), 1, outcome.err.size(), stdout);
  }

  Tally tally;
  std::map<std::string, long> said;  // codes that only faults brought up

 private:
  const Options& options_;
  std::string scene_;
  Shared& shared_;
  std::map<std::string, int> usual_;
  std::string usual_belongings_;
};

const std::vector<int> kFaults = {EPERM, ENOENT, EMFILE, ENOMEM, EINTR, FAULTS_SHORT, FAULTS_GARBAGE, FAULTS_FLIPPED};

std::vector<faults_plan> calls_in_turn(const Options& options, const std::vector<faults_call>& calls) {
  std::vector<faults_plan> plans;
  std::map<unsigned long, long> classes;
  for (const auto& call : calls) classes.emplace(call.same, &call - calls.data() + 1);
  const long all = static_cast<long>(calls.size() * kFaults.size());
  if (!options.full) {
    std::size_t turn = options.seed;
    for (const auto& [same, at] : classes)
      plans.push_back({FAULTS_CALLS, at, kFaults[turn++ % kFaults.size()], 0, options.seed});
  } else if (all <= options.most) {
    for (long at = 1; at <= static_cast<long>(calls.size()); ++at)
      for (const int what : kFaults) plans.push_back({FAULTS_CALLS, at, what, 0, options.seed});
  } else {
    for (const auto& [same, at] : classes)
      for (const int what : kFaults) plans.push_back({FAULTS_CALLS, at, what, 0, options.seed});
    const long left = std::max(1L, options.most - static_cast<long>(plans.size()));
    const long step = std::max(1L, static_cast<long>(calls.size()) / left);
    for (long at = 1; at <= static_cast<long>(calls.size()); at += step)
      plans.push_back(
          {FAULTS_CALLS, at, kFaults[static_cast<std::size_t>(at / step) % kFaults.size()], 0, options.seed});
    std::printf("  sampled: %zu classes of calls with every fault, and every %ldth call\n", classes.size(), step);
  }
  return plans;
}

std::vector<faults_plan> memory_in_turn(const Options& options, long calls) {
  std::vector<faults_plan> plans;
  const long most = options.full ? options.most : 60;
  const long step = std::max(1L, (calls + most - 1) / most);
  for (long at = 1 + static_cast<long>(options.seed) % step; at <= calls; at += step)
    plans.push_back({FAULTS_MEMORY, at, ENOMEM, 0, options.seed});
  if (step > 1) std::printf("  sampled: every %ldth allocation\n", step);
  return plans;
}

void report(const char* what, const Sweep& sweep, long calls) {
  const Tally& tally = sweep.tally;
  std::printf(
      "  %-8s %6ld calls, %6ld schedules, %6ld failures injected, %4ld declined, %4ld further warnings, %ld findings\n",
      what, calls, tally.schedules, tally.injected, tally.declined, tally.extra_lines, tally.findings);
  std::fflush(stdout);
}

int sweep_all(const Options& options, Shared& shared) {
  Tally total;
  std::map<std::string, long> said;
  for (const std::string& scene : faults::kScenes) {
    if (!options.only_scene.empty() && options.only_scene != scene) continue;
    std::printf("%s\n", scene.c_str());
    std::vector<faults_call> calls;
    for (const unsigned kinds :
         {unsigned{FAULTS_CALLS}, unsigned{FAULTS_MEMORY}, unsigned{FAULTS_CALLS | FAULTS_MEMORY}}) {
      Sweep sweep(options, scene, shared);
      if (!sweep.baseline(kinds, &calls)) return 1;
      const long count = static_cast<long>(calls.size());
      std::vector<faults_plan> plans;
      if (kinds == FAULTS_CALLS) plans = calls_in_turn(options, calls);
      if (kinds == FAULTS_MEMORY) plans = memory_in_turn(options, count);
      for (unsigned i = 0; kinds == (FAULTS_CALLS | FAULTS_MEMORY) && i < options.random; ++i)
        plans.push_back({kinds, 0, FAULTS_ANY, i % 3 == 0 ? 20u : i % 3 == 1 ? 100u : 400u, options.seed * 1000 + i});
      for (const auto& plan : plans) sweep.run(plan);
      report(kinds == FAULTS_CALLS ? "calls" : kinds == FAULTS_MEMORY ? "memory" : "random", sweep, count);
      total.schedules += sweep.tally.schedules;
      total.injected += sweep.tally.injected;
      total.declined += sweep.tally.declined;
      total.findings += sweep.tally.findings;
      for (const auto& [code, times] : sweep.said) said[code] += times;
    }
  }
  std::printf("warnings that faults brought up:");
  for (const auto& [code, times] : said) std::printf(" %s %ld", code.c_str(), times);
  std::printf("\n%ld schedules, %ld failures injected, %ld times declined, %ld findings (seed %lu)\n", total.schedules,
              total.injected, total.declined, total.findings, options.seed);
  return total.findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fails calls of topoguard's library in turn");
  Options options;
  options.place.mocks = ".";
  app.add_option("--plugin", options.place.plugin, "libnccl-net-topoguard.so")->required();
  app.add_option("--mocks", options.place.mocks, "folder of the mock NCCLs");
  app.add_option("--collectors", options.place.collectors, "libnccl-net-topoguard-collectors.so")->required();
  app.add_flag("--full", options.full, "every call with every fault");
  app.add_option("--most", options.most, "schedules in turn for each scene and kind, with --full");
  app.add_option("--random", options.random, "random schedules for each scene (default: 200 with --full, else 12)");
  app.add_option("--scene", options.only_scene, "only this one");
  app.add_option("--seed", options.seed, "of random schedules and bytes");
  app.add_option("--kinds", options.one.kinds, "one schedule: 1 calls, 2 memory, 3 both");
  app.add_option("--at", options.one.at, "one schedule: the call that fails");
  app.add_option("--what", options.one.what, "one schedule: errno, or -1 short, -2 garbage, -3 flipped");
  app.add_flag("--here", options.here, "one schedule: in this process, for a debugger");
  app.add_option("--rate", options.one.rate, "one random schedule: one of so many calls fails");
  CLI11_PARSE(app, argc, argv);
  if (app.count("--random") == 0) options.random = options.full ? 200 : 12;
  for (std::string* path : {&options.place.plugin, &options.place.collectors})
    *path = std::filesystem::absolute(*path).string();

  char scratch[] = "/tmp/topoguard-faults-XXXXXX";
  if (mkdtemp(scratch) == nullptr) return 2;
  options.place.scratch = scratch;
  void* room = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return 2;
  auto& shared = *static_cast<Shared*>(room);
  int status = 0;
  options.one.seed = options.seed;
  if (options.here) {
    faults::prepare(options.place, options.only_scene);
    faults_begin(&options.one);
    const std::string problem = faults::play(options.place, options.only_scene, &shared.declined);
    std::printf("%s\n%s\n", problem.c_str(), faults::belongings().c_str());
  } else if (options.one.at != 0 || options.one.rate != 0) {
    Sweep sweep(options, options.only_scene, shared);
    std::vector<faults_call> calls;
    if (sweep.baseline(options.one.kinds, &calls)) sweep.run(options.one);
    std::printf("injected %ld, findings %ld\n", sweep.tally.injected, sweep.tally.findings);
    status = sweep.tally.findings == 0 ? 0 : 1;
  } else {
    status = sweep_all(options, shared);
  }
  std::filesystem::remove_all(scratch);
  return status;
}
