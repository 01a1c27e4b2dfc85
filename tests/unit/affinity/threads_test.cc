// SPDX-License-Identifier: Apache-2.0
// Binding real threads of this process, in a child each, so that the masks of the test runner stay as they are.
#include "affinity/threads.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <map>
#include <thread>

#include "affinity/affinity.h"

using namespace topoguard;

namespace {

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

CpuSet kernel_mask(pid_t thread) {  // not by hwloc, so that the two can disagree
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(thread, sizeof set, &set);
  CpuSet result;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) result.insert(cpu);
  return result;
}

// 0 where every expectation in the child held, else the line of the first that did not.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
#define EXPECT(condition) \
  if (!(condition)) return __LINE__ % 254 + 1

// A thread that waits, with its own mask where one is given.
class Waiter {
 public:
  explicit Waiter(std::optional<CpuSet> pin = {}) {
    thread_ = std::thread([this, pin] {
      tid_ = static_cast<pid_t>(syscall(SYS_gettid));
      if (pin) live_thread_masks()->set_mask(tid_, *pin);
      ready_ = true;
      while (!stop_) usleep(1000);
    });
    while (!ready_) usleep(1000);
  }
  ~Waiter() {
    stop_ = true;
    thread_.join();
  }
  pid_t tid() const { return tid_; }

 private:
  std::atomic<pid_t> tid_{0};
  std::atomic<bool> ready_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct Cores {
  CpuSet all, first, last;
  Cores() : all(kernel_mask(0)) {
    for (unsigned cpu = 0; cpu < 1024; ++cpu)
      if (all.contains(cpu)) {
        if (first.empty()) first.insert(cpu);
        last = CpuSet();
        last.insert(cpu);
      }
  }
  bool enough() const { return all.count() >= 2; }
};

class RecordedMasks : public ThreadMasks {
 public:
  std::map<pid_t, CpuSet> masks;
  std::function<void()> after_first_set;
  pid_t main_thread() override { return 1; }
  pid_t calling_thread() override { return 1; }
  std::vector<pid_t> threads() override {
    std::vector<pid_t> list;
    for (const auto& [tid, mask] : masks) list.push_back(tid);
    return list;
  }
  std::optional<CpuSet> mask(pid_t tid) override {
    return masks.count(tid) ? std::optional<CpuSet>(masks[tid]) : std::nullopt;
  }
  int set_mask(pid_t tid, const CpuSet& cpus) override {
    if (!masks.count(tid)) return ESRCH;
    masks[tid] = cpus;
    if (after_first_set) std::exchange(after_first_set, nullptr)();
    return 0;
  }
};

}  // namespace

TEST_CASE("unpinned threads follow the main thread, pinned ones never move") {
  const Cores cores;
  if (!cores.enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([&]() -> int {
          Waiter free;
          Waiter pinned(cores.last);
          const MaskChange change = narrow_process(*live_thread_masks(), cores.first);
          EXPECT(change.error == 0);
          EXPECT(change.changed.size() == 2);
          EXPECT(change.kept == 1);
          EXPECT(kernel_mask(getpid()) == cores.first);
          EXPECT(kernel_mask(free.tid()) == cores.first);
          EXPECT(kernel_mask(pinned.tid()) == cores.last);
          restore(*live_thread_masks(), change);
          EXPECT(kernel_mask(getpid()) == cores.all);
          EXPECT(kernel_mask(free.tid()) == cores.all);
          EXPECT(kernel_mask(pinned.tid()) == cores.last);
          return 0;
        }) == 0);
}

TEST_CASE("bound from a throw-away thread, the main thread and threads started later are bound too") {
  const Cores cores;
  if (!cores.enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([&]() -> int {
          std::thread([&] { narrow_process(*live_thread_masks(), cores.first); }).join();
          EXPECT(kernel_mask(getpid()) == cores.first);
          Waiter later;
          EXPECT(kernel_mask(later.tid()) == cores.first);
          return 0;
        }) == 0);
}

TEST_CASE("thread mode binds the calling thread alone, and not where the job pinned it") {
  const Cores cores;
  if (!cores.enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([&]() -> int {
          MaskChange free, pinned;
          CpuSet free_mask, pinned_mask;
          std::thread([&] {
            free = narrow_thread(*live_thread_masks(), cores.first);
            free_mask = kernel_mask(0);
          }).join();
          std::thread([&] {
            live_thread_masks()->set_mask(static_cast<pid_t>(syscall(SYS_gettid)), cores.last);
            pinned = narrow_thread(*live_thread_masks(), cores.first);
            pinned_mask = kernel_mask(0);
          }).join();
          EXPECT(free.changed.size() == 1);
          EXPECT(free_mask == cores.first);
          EXPECT(pinned.changed.empty());
          EXPECT(pinned_mask == cores.last);
          EXPECT(kernel_mask(getpid()) == cores.all);
          return 0;
        }) == 0);
}

TEST_CASE("sched_setaffinity forbidden by seccomp is a reason, not an error") {
  const Cores cores;
  if (!cores.enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([&]() -> int {
          sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
          const sock_fprog program = {4, filter};
          EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
          EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
          AffinityFacts facts;
          facts.allowed = facts.online = cores.all;
          AffinityPlan plan;
          plan.action = AffinityAction::bind_process;
          plan.cpus = cores.first;
          MaskChange change;
          const AffinityOutcome outcome = apply(plan, facts, *live_thread_masks(), change);
          EXPECT(!outcome.bound);
          EXPECT(outcome.reason == "not-permitted");
          EXPECT(outcome.text.find("Operation not permitted") != std::string::npos);
          EXPECT(kernel_mask(0) == cores.all);
          return 0;
        }) == 0);
}

TEST_CASE("hwloc's variables in the job do not switch binding off") {
  const Cores cores;
  if (!cores.enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([&]() -> int {
          setenv("HWLOC_SYNTHETIC", "numa:4 pu:4", 1);
          setenv("HWLOC_FSROOT", "/nonexistent", 1);
          setenv("HWLOC_XMLFILE", "/nonexistent.xml", 1);
          setenv("HWLOC_THISSYSTEM", "0", 1);
          EXPECT(narrow_process(*live_thread_masks(), cores.first).changed.size() == 1);
          EXPECT(kernel_mask(0) == cores.first);
          return 0;
        }) == 0);
}

TEST_CASE("a thread that starts while others are bound is found again") {
  RecordedMasks masks;
  masks.masks = {{1, cpus("0-3")}, {2, cpus("0-3")}, {3, cpus("2")}};
  masks.after_first_set = [&] { masks.masks[4] = cpus("0-3"); };
  const MaskChange change = narrow_process(masks, cpus("0-1,9"));
  CHECK(change.after.text() == "0-1");  // never widened
  CHECK(masks.masks[4].text() == "0-1");
  CHECK(masks.masks[3].text() == "2");
  CHECK(change.changed.size() == 3);
}

TEST_CASE("nothing in common, or nothing to narrow, changes nothing") {
  RecordedMasks masks;
  masks.masks = {{1, cpus("0-3")}, {2, cpus("0-3")}};
  CHECK(narrow_process(masks, cpus("8-9")).changed.empty());
  CHECK(narrow_process(masks, cpus("0-9")).changed.empty());
  CHECK(masks.masks[1].text() == "0-3");
  CHECK(masks.masks[2].text() == "0-3");
}

TEST_CASE("memory is preferred, not limited") {
  CHECK(in_child([]() -> int {
          const int error = prefer_memory_node(0);
          if (error == EPERM || error == ENOSYS) return 0;  // a container's seccomp profile
          EXPECT(error == 0);
          int mode = -1;
          unsigned long nodes[16] = {};
          EXPECT(syscall(SYS_get_mempolicy, &mode, nodes, 1024, nullptr, 0) == 0);
          EXPECT(mode == 1 || mode == 5);  // MPOL_PREFERRED, MPOL_PREFERRED_MANY (linux/mempolicy.h)
          EXPECT(nodes[0] == 1);
          return 0;
        }) == 0);
  CHECK(prefer_memory_node(-1) == EINVAL);
  CHECK(prefer_memory_node(1 << 20) == EINVAL);
}
