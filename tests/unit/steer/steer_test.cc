// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "steer/environment.h"
#include "steer/provenance.h"

using namespace topoguard;

namespace {

using Variables = std::map<std::string, std::string>;

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

int entries() {
  int count = 0;
  while (environ[count] != nullptr) ++count;
  return count;
}

}  // namespace

TEST_CASE("one new environment: added, replaced, taken away, all else untouched") {
  setenv("TGT_KEEP", "kept", 1);
  setenv("TGT_OLD", "old", 1);
  setenv("TGT_GONE", "x", 1);
  setenv("TGT_OLDER", "prefix of nothing", 1);
  char** const before = environ;
  const int count = entries();
  const std::string first = before[0];
  REQUIRE(publish_environment({{"TGT_OLD", "new"}, {"TGT_FRESH", "=eth0,a b"}, {"TGT_EMPTY", ""}}, {"TGT_GONE"}));
  CHECK(environ != before);
  CHECK(entries() == count + 2 - 1);
  CHECK(value_of("TGT_KEEP") == "kept");
  CHECK(value_of("TGT_OLD") == "new");
  CHECK(value_of("TGT_OLDER") == "prefix of nothing");
  CHECK(value_of("TGT_FRESH") == "=eth0,a b");
  CHECK(value_of("TGT_EMPTY") == "");
  CHECK(value_of("TGT_GONE") == "(unset)");
  CHECK(environ[0] == first);
  // The old array is whole: a getenv() that is under way ends well.
  int old_count = 0;
  bool old_value = false;
  for (; before[old_count] != nullptr; ++old_count)
    old_value = old_value || std::strcmp(before[old_count], "TGT_OLD=old") == 0;
  CHECK(old_count == count);
  CHECK(old_value);
  // The C library goes on with the new array.
  setenv("TGT_LATER", "1", 1);
  unsetenv("TGT_KEEP");
  CHECK(value_of("TGT_LATER") == "1");
  CHECK(value_of("TGT_OLD") == "new");
  CHECK(value_of("TGT_KEEP") == "(unset)");
}

TEST_CASE("nothing to publish: the environment is not touched") {
  char** const before = environ;
  CHECK(publish_environment({}, {}));
  CHECK(environ == before);
}

TEST_CASE("an empty or missing environment") {
  char** const saved = environ;
  char* none[] = {nullptr};
  environ = none;
  CHECK(publish_environment({{"TGT_A", "1"}}, {"TGT_B"}));
  CHECK(entries() == 1);
  environ = nullptr;
  CHECK(publish_environment({{"TGT_A", "1"}}, {}));
  CHECK(entries() == 1);
  environ = saved;
}

TEST_CASE("readers in other threads see the old environment or the new one") {
  setenv("TGT_STEADY", "steady", 1);
  setenv("TGT_RACE", "0", 1);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread readers[2];
  for (auto& reader : readers)
    reader = std::thread([&] {
      while (!stop) {
        const char* steady = std::getenv("TGT_STEADY");
        const char* race = std::getenv("TGT_RACE");
        if (steady == nullptr || std::strcmp(steady, "steady") != 0 || race == nullptr) ++wrong;
      }
    });
  for (int i = 0; i < 500; ++i) publish_environment({{"TGT_RACE", std::to_string(i)}}, {});
  stop = true;
  for (auto& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(value_of("TGT_RACE") == "499");
}

TEST_CASE("what topoguard published is not the user's, here or on another host") {
  const Variables published = {{"NCCL_IB_HCA", "=mlx5_0:1"}, {"NCCL_SOCKET_IFNAME", "=bond0"}};
  for (const char* host : {"0f0e-11+4026531840", "other+1"}) {
    Variables all = published;
    all[kApplied] = applied_value(host, published);
    all["NCCL_DEBUG"] = "INFO";
    const auto user = user_environment(all);
    CHECK(user.variables == Variables{{"NCCL_DEBUG", "INFO"}});
    CHECK(user.ours == std::vector<std::string>{"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"});
    CHECK(user.published_on == host);
  }
}

TEST_CASE("a value that was set afterwards is the user's") {
  const Variables published = {{"NCCL_IB_HCA", "=mlx5_0:1"}, {"NCCL_SOCKET_IFNAME", "=bond0"}};
  Variables all = published;
  all[kApplied] = applied_value("a+1", published);
  all["NCCL_SOCKET_IFNAME"] = "eth5";
  const auto user = user_environment(all);
  CHECK(user.variables == Variables{{"NCCL_SOCKET_IFNAME", "eth5"}});
  CHECK(user.ours == std::vector<std::string>{"NCCL_IB_HCA"});
}

TEST_CASE("a list without digests counts by name alone") {
  const auto user = user_environment(
      {{"NCCL_SOCKET_IFNAME", "eth0"}, {"NCCL_NET", "IB"}, {kApplied, "boot+1:NCCL_SOCKET_IFNAME,NCCL_GONE"}});
  CHECK(user.variables == Variables{{"NCCL_NET", "IB"}});
  CHECK(user.ours == std::vector<std::string>{"NCCL_SOCKET_IFNAME"});
}

TEST_CASE("a damaged list takes nothing away from the user") {
  for (const char* text : {"", ":", "::", "boot", "boot+1", "boot+1:", "boot+1:,,,",
                           "+++:", "boot+1:PATH,HOME,LD_PRELOAD", "\xff\xfe:NCCL_", "boot+1+zz.yy:NCCL_NET"}) {
    INFO(text);
    const auto user = user_environment({{"NCCL_NET", "IB"}, {"PATH", "/bin"}, {"HOME", "/"}, {kApplied, text}});
    CHECK(user.variables == Variables{{"NCCL_NET", "IB"}, {"PATH", "/bin"}, {"HOME", "/"}});
    CHECK(user.ours.empty());
  }
  CHECK(user_environment({{"NCCL_NET", "IB"}}).variables == Variables{{"NCCL_NET", "IB"}});
}

TEST_CASE("entries keep their order, and what is no variable stays") {
  const Variables published = {{"NCCL_IB_HCA", "=a"}};
  UserEnvironment split;
  const auto kept = user_entries(
      {"B=2", "NCCL_IB_HCA==a", "odd", "A=1", std::string(kApplied) + "=" + applied_value("x+1", published), "B=3"},
      &split);
  CHECK(kept == std::vector<std::string>{"B=2", "odd", "A=1", "B=3"});
  CHECK(split.ours == std::vector<std::string>{"NCCL_IB_HCA"});
  CHECK(split.published_on == "x+1");
}

TEST_CASE("the value reads <boot id>+<namespace>...:<names>") {
  const std::string value = applied_value("boot+7", {{"NCCL_B", "1"}, {"NCCL_A", "2"}});
  CHECK(value.rfind("boot+7+", 0) == 0);
  CHECK(value.substr(value.rfind(':') + 1) == "NCCL_A,NCCL_B");
  CHECK(std::count(value.begin(), value.end(), ':') == 1);
}

TEST_CASE("the identity of this host is steady and plain") {
  const std::string identity = host_identity(Sources{});
  CHECK(identity == host_identity(Sources{}));
  CHECK(identity.find_first_of(":,. \n") == std::string::npos);
  CHECK(std::count(identity.begin(), identity.end(), '+') == 1);
  Sources nowhere;
  nowhere.proc = "/nonexistent";
  CHECK(host_identity(nowhere) == "unknown+unknown");
}
