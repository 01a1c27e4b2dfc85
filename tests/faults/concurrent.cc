// SPDX-License-Identifier: Apache-2.0
//
// concurrent PLUGIN MOCKS [SECONDS]: 16 threads create and destroy communicators with connections through the plugin's
// exported tables while the links and addresses of this network namespace come and go (a child runs ip) and four other
// threads read the environment, as any library may. Run as root it takes a namespace of its own; else the links stay.
// Exit: 0 all calls did what the transport did and nothing was left behind; 1 not; 77 no links can be
// made here.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "belongings.h"
#include "scene.h"

namespace {

constexpr int kThreads = 16, kReaders = 4;

// Links of this namespace change as fast as ip can do it, until the parent ends.
pid_t change_links() {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* script =
      "i=0; while :; do i=$((i + 1));"
      "ip link add tgc$((i % 8)) type veth peer name tgp$((i % 8)); ip addr add 10.77.$((i % 8)).1/24 dev tgc$((i % "
      "8));"
      "ip link set tgc$((i % 8)) up; ip link set tgp$((i % 8)) up; ip addr del 10.77.$(((i + 3) % 8)).1/24 dev "
      "tgc$(((i + 3) % 8));"
      "ip link del tgc$(((i + 5) % 8)); done >/dev/null 2>&1";
  execl("/bin/sh", "sh", "-c", script, static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::chrono::seconds length(argc > 3 ? std::atoi(argv[3]) : 5);
  const bool own_namespace = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
  // One link stays: a host without any has no transport to wrap.
  if (own_namespace &&
      std::system("ip link set lo up && ip link add tgc9 type veth peer name tgp9 && ip link set tgp9 up &&"
                  " ip link set tgc9 up && ip addr add 10.78.0.1/24 dev tgc9 && ip route add default via 10.78.0.2") !=
          0)
    return 77;
  const pid_t changer = own_namespace ? change_links() : -1;
  const faults::Place place{argv[1], argv[2], {}, "/tmp"};
  faults::prepare(place, "net");
  bool declined = false;
  std::string problem = faults::play(place, "net", &declined);
  if (declined) problem = "topoguard declined";
  std::thread([] {}).join();  // the sanitizer's own thread comes with the first
  const int files = topoguard::open_files(), threads = topoguard::own_threads();

  std::atomic<bool> over{false};
  std::atomic<long> read{0}, played{0}, wrong{0};
  std::vector<std::thread> readers, players;
  for (int i = 0; i < kReaders; ++i)
    readers.emplace_back([&] {
      while (!over) {
        for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "PATH", "TOPOGUARD_APPLIED", "NOT_SET"}) {
          const char* value = std::getenv(name);
          if (value != nullptr) read += static_cast<long>(std::strlen(value) & 1);
          ++read;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  const auto end = std::chrono::steady_clock::now() + length;
  for (int i = 0; i < kThreads && problem.empty(); ++i)
    players.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        bool refused = false;
        const std::string found = faults::play(place, "net", &refused);
        ++played;
        if (!found.empty() || refused) {
          ++wrong;
          std::fprintf(stderr, "%s\n", refused ? "declined" : found.c_str());
        }
      }
    });
  for (auto& player : players) player.join();
  over = true;
  for (auto& reader : readers) reader.join();
  if (changer > 0) {
    kill(changer, SIGKILL);
    waitpid(changer, nullptr, 0);
  }
  if (problem.empty() && wrong > 0) problem = std::to_string(wrong) + " jobs failed";
  if (problem.empty() && topoguard::open_files() != files) problem = "descriptors were left open";
  if (problem.empty() && !topoguard::threads_become(threads)) problem = "threads were left";
  std::printf("%ld communicators in %d threads, %ld reads of the environment, links %s: %s\n", 2 * played.load(),
              kThreads, read.load(), own_namespace ? "changing" : "unchanged (needs root)",
              problem.empty() ? "ok" : problem.c_str());
  return problem.empty() ? 0 : 1;
}
