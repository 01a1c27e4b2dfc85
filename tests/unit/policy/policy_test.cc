// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "policy/config_file.h"
#include "policy/file_name.h"
#include "policy/likely.h"
#include "policy/policy_from.h"
#include "policy/settings.h"

using namespace topoguard;

namespace {

Policy from_env(std::map<std::string, std::string> env) {
  HostSnapshot host;
  host.env = std::move(env);
  return policy_from(host);
}

const Finding& only_problem(const Policy& policy) {
  REQUIRE(policy.problems.size() == 1);
  return policy.problems[0];
}

}  // namespace

TEST_CASE("without settings the policy is the built-in one, which the table's defaults spell") {
  const Policy policy = from_env({{"NCCL_DEBUG", "INFO"}, {"PATH", "/bin"}});
  CHECK(policy.mode == Mode::enforce);
  CHECK(policy.sources.empty());
  CHECK(policy.problems.empty());
  // Reading every default changes nothing.
  Policy spelt;
  for (const Setting& setting : settings())
    if (!setting.standard.empty()) CHECK(setting.read(setting.standard, spelt).empty());
  CHECK(spelt.mode == policy.mode);
  CHECK(spelt.affinity == policy.affinity);
  CHECK(spelt.require_ib == policy.require_ib);
  CHECK(spelt.membind_preferred == policy.membind_preferred);
  CHECK(spelt.base == policy.base);
  CHECK(spelt.log == policy.log);
}

TEST_CASE("each setting reaches its member") {
  const Policy policy = from_env({{"TOPOGUARD_MODE", "Observe"},
                                  {"TOPOGUARD_SUBNETS", "10.1.2.3/8, fd00::/8"},
                                  {"TOPOGUARD_EXCLUDE", "eth9,bridge,192.168.0.0/16,name:veth,kind:bond"},
                                  {"TOPOGUARD_INCLUDE", "mlx5_0"},
                                  {"TOPOGUARD_REQUIRE", "ib"},
                                  {"TOPOGUARD_AFFINITY", "thread"},
                                  {"TOPOGUARD_MEMBIND", "preferred"},
                                  {"TOPOGUARD_BASE", "/opt/x.so"},
                                  {"TOPOGUARD_LOG", "off"},
                                  {"TOPOGUARD_APPLIED", "x:y"}});
  CHECK(policy.problems.empty());
  CHECK(policy.mode == Mode::observe);
  REQUIRE(policy.subnets.size() == 2);
  CHECK(policy.subnets[0].text() == "10.0.0.0/8");
  REQUIRE(policy.exclude.size() == 5);
  CHECK(policy.exclude[0].by == Selector::By::name);
  CHECK(policy.exclude[1].by == Selector::By::kind);
  CHECK(policy.exclude[2].by == Selector::By::prefix);
  CHECK(policy.exclude[2].prefix == *Prefix::parse("192.168.0.0/16"));
  CHECK((policy.exclude[3].by == Selector::By::name && policy.exclude[3].text == "veth"));
  CHECK((policy.exclude[4].by == Selector::By::kind && policy.exclude[4].text == "bond"));
  CHECK(policy.include.at(0).text == "mlx5_0");
  CHECK(policy.require_ib);
  CHECK(policy.affinity == AffinityMode::thread);
  CHECK(policy.membind_preferred);
  CHECK(policy.base == "/opt/x.so");
  CHECK(policy.log == LogLevel::off);
  CHECK(policy.sources.size() == 9);
  CHECK(policy.sources.at("TOPOGUARD_MODE") == SettingSource::environment);
}

TEST_CASE("the environment wins over the file, an empty value counts as unset") {
  HostSnapshot host;
  host.topoguard.config = {{"TOPOGUARD_MODE", "off"}, {"TOPOGUARD_LOG", "off"}, {"TOPOGUARD_BASE", "stock"}};
  host.env = {{"TOPOGUARD_MODE", "observe"}, {"TOPOGUARD_LOG", ""}};
  const Policy policy = policy_from(host);
  CHECK(policy.mode == Mode::observe);
  CHECK(policy.log == LogLevel::off);
  CHECK(policy.sources.at("TOPOGUARD_LOG") == SettingSource::file);
  CHECK(policy.sources.at("TOPOGUARD_BASE") == SettingSource::file);
}

TEST_CASE("a value that cannot be read keeps the default and says where, what, expected") {
  const Policy policy = from_env({{"TOPOGUARD_MODE", "of\n"}});
  CHECK(policy.mode == Mode::enforce);
  CHECK(policy.sources.empty());
  const Finding& problem = only_problem(policy);
  CHECK(problem.code == "setting-invalid");
  CHECK(problem.message == "TOPOGUARD_MODE=\"of\\x0a\" from the environment: expected enforce or observe or off.");
  CHECK_THAT(problem.remedy, Catch::Contains("\"enforce\""));
}

TEST_CASE("a bad entry of a list is named and the others count") {
  const Policy policy = from_env({{"TOPOGUARD_SUBNETS", "10.0.0.0/8,10.0.0.0/40"}});
  CHECK(policy.subnets.size() == 1);
  CHECK_THAT(only_problem(policy).message, Catch::Contains("\"10.0.0.0/40\" is left out"));
  for (const char* bad : {"^eth0", "=eth0", "eth*", "kind:tokenring", "name:", "10.0.0.0/99"}) {
    const Policy excluded = from_env({{"TOPOGUARD_EXCLUDE", bad}});
    INFO(bad);
    CHECK(excluded.exclude.empty());
    CHECK(only_problem(excluded).code == "setting-invalid");
  }
}

TEST_CASE("a misspelt name gets the likely one, a planned one says so") {
  CHECK(only_problem(from_env({{"TOPOGUARD_MOED", "off"}})).remedy == "Did you mean TOPOGUARD_MODE?");
  CHECK(only_problem(from_env({{"TOPOGUARD_SUBNET", "10.0.0.0/8"}})).remedy == "Did you mean TOPOGUARD_SUBNETS?");
  CHECK_THAT(only_problem(from_env({{"TOPOGUARD_FLUXCAPACITOR", "1"}})).remedy, Catch::Contains("topoguard settings"));
  for (const OtherName& other : other_names()) {
    const Policy policy = from_env({{std::string(other.name), "x"}});
    INFO(other.name);
    if (other.why == OtherName::Why::internal)
      CHECK(policy.problems.empty());
    else
      CHECK(only_problem(policy).code ==
            (other.why == OtherName::Why::planned ? "setting-not-here" : "setting-unknown"));
  }
  HostSnapshot host;
  host.topoguard.config = {{"NCCL_DEBUG", "INFO"}, {"TOPOGUARD_MODEE", "off"}};
  host.env = {{"TOPOGUARD_MODEE", "off"}};
  const Policy policy = policy_from(host);
  REQUIRE(policy.problems.size() == 2);  // once for both places, and NCCL_DEBUG does not belong in our file
  CHECK_THAT(policy.problems[1].message, Catch::Contains("NCCL_DEBUG from the settings file"));
}

TEST_CASE("notes about the settings file become problems, others do not") {
  HostSnapshot host;
  host.notes = {std::string(kConfigNote) + "/etc/x:3: expected NAME=VALUE", "rdma: no /sys"};
  CHECK(only_problem(policy_from(host)).code == "settings-file");
}

TEST_CASE("likely names") {
  const std::string_view names[] = {"NCCL_IB_HCA", "NCCL_IB_TC", "NCCL_SOCKET_IFNAME"};
  CHECK(likely_name("NCCL_SOCKET_IF_NAME", names) == "NCCL_SOCKET_IFNAME");
  CHECK(likely_name("nccl_ib_hac", names) == "NCCL_IB_HCA");
  CHECK(likely_name("NCCL_ID_TC", names) == "NCCL_IB_TC");
  CHECK_FALSE(likely_name("NCCL_IB_TCA", names));  // one step from two names
  CHECK_FALSE(likely_name("NCCL_DEBUG", names));
  CHECK_FALSE(likely_name("", names));
  CHECK_FALSE(likely_name(std::string(1000, 'N'), names));
}

TEST_CASE("the table is complete, sorted out, and fits the page") {
  std::set<std::string_view> names;
  for (const Setting& setting : settings()) {
    CHECK(names.insert(setting.name).second);
    CHECK(setting.name.rfind("TOPOGUARD_", 0) == 0);
    CHECK(setting.read != nullptr);
    CHECK_FALSE(setting.help.empty());
    for (const auto format : {SettingsFormat::text, SettingsFormat::markdown})
      CHECK_THAT(settings_table(format), Catch::Contains(std::string(setting.name)));
  }
  for (const OtherName& other : other_names()) CHECK(names.insert(other.name).second);
  std::size_t start = 0;
  const std::string text = settings_table(SettingsFormat::text);
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) CHECK(end - start <= 100);
  CHECK_THAT(settings_table(SettingsFormat::man), Catch::Contains("*TOPOGUARD\\_MODE*=enforce|observe|off\n\t"));
}

TEST_CASE("TOPOGUARD_LOG is a level and subjects, in any order") {
  const auto policy = from_env({{"TOPOGUARD_LOG", "gid, Paths,affinity"}});
  CHECK(policy.problems.empty());
  CHECK(policy.log == LogLevel::paths);
  CHECK(policy.shows(LogLevel::paths, Subject::gid));
  CHECK_FALSE(policy.shows(LogLevel::paths, Subject::connection));
  CHECK(policy.shows(LogLevel::summary, Subject::connection));
  CHECK_FALSE(policy.shows(LogLevel::debug, Subject::gid));
  CHECK(from_env({{"TOPOGUARD_LOG", "connection"}}).log == LogLevel::paths);
  CHECK(from_env({{"TOPOGUARD_LOG", "debug"}}).shows(LogLevel::debug, Subject::memory));
  const auto wrong = from_env({{"TOPOGUARD_LOG", "debug,gdi"}});
  CHECK(wrong.log == LogLevel::debug);
  CHECK_THAT(only_problem(wrong).message, Catch::Contains("\"gdi\" is left out") && Catch::Contains("affinity"));
  CHECK(only_problem(from_env({{"TOPOGUARD_LOG", "paths,off"}})).code == "setting-invalid");
  CHECK(from_env({{"TOPOGUARD_LOG", "loud"}}).log == LogLevel::summary);
}

TEST_CASE("the names of files: host and process, and nothing else after a percent sign") {
  CHECK(expanded_file_name("/x/%h-%p-%%", "node-a", 7) == "/x/node-a-7-%");
  CHECK(expanded_file_name("%h", "../evil/name\n", 7) == ".._evil_name_");
  CHECK(expanded_file_name("%h", "..", 7) == "localhost");
  CHECK(from_env({{"TOPOGUARD_LOG_FILE", "/x/%h"}}).log_file == "/x/%h");
  CHECK(from_env({{"TOPOGUARD_METRICS", "/x/%p"}}).metrics == "/x/%p");
  for (const char* bad : {"/x/%d", "/x/%", "/x/", "/x\n"}) {
    const auto policy = from_env({{"TOPOGUARD_LOG_FILE", bad}, {"TOPOGUARD_METRICS", bad}});
    CHECK(policy.problems.size() == 2);
    CHECK((policy.log_file.empty() && policy.metrics.empty()));
  }
}

TEST_CASE("blanks around a value do not count") {
  HostSnapshot host;
  host.env = {{"TOPOGUARD_MODE", " off "}, {"TOPOGUARD_BASE", "\tstock\r"}, {"TOPOGUARD_LOG", " \t"}};
  host.topoguard.config = {{"TOPOGUARD_LOG", "debug"}};
  const auto policy = policy_from(host);
  CHECK(policy.mode == Mode::off);
  CHECK(policy.base == "stock");
  CHECK(policy.log == LogLevel::debug);  // blanks alone are no value
  CHECK(policy.problems.empty());
  host.env = {{"TOPOGUARD_MODE", "0"}};
  CHECK(policy_from(host).problems.size() == 1);
}
