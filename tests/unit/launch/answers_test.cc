// SPDX-License-Identifier: Apache-2.0
// What the env plugin answers: the user first, then topoguard, and the plugins that NCCL alone would have.
#include <catch2/catch.hpp>

#include "launch/env_answers.h"

using namespace topoguard;

namespace {

std::string text(const char* answer) { return answer != nullptr ? answer : "(unset)"; }

PluginSituation on(const char* release) {
  PluginSituation situation;
  situation.release = *NcclRelease::parse(release);
  return situation;
}

}  // namespace

TEST_CASE("the user's value, then ours, then none") {
  const EnvAnswers answers({{"NCCL_SOCKET_IFNAME", "=eth1"}}, {});
  CHECK(text(answers.answer("NCCL_SOCKET_IFNAME", nullptr)) == "=eth1");
  CHECK(text(answers.answer("NCCL_SOCKET_IFNAME", "eth0")) == "eth0");
  CHECK(text(answers.answer("NCCL_SOCKET_IFNAME", "")) == "");  // set, and empty
  CHECK(text(answers.answer("NCCL_SOCKET_IFNAM", nullptr)) == "(unset)");
  CHECK(text(answers.answer("NCCL_IB_HCA", nullptr)) == "(unset)");
}

TEST_CASE("an answer is the same pointer every time") {
  const EnvAnswers answers({{"NCCL_IB_HCA", "=mlx5_0:1"}}, {});
  CHECK(answers.answer("NCCL_IB_HCA", nullptr) == answers.answer("NCCL_IB_HCA", nullptr));
}

TEST_CASE("what topoguard published on another host counts as unset, until somebody changes it") {
  const EnvAnswers answers({{"NCCL_SOCKET_IFNAME", "=eth1"}},
                           {{"NCCL_SOCKET_IFNAME", "=ens3"}, {"NCCL_IB_HCA", "=mlx5_7:1"}});
  CHECK(text(answers.answer("NCCL_SOCKET_IFNAME", "=ens3")) == "=eth1");
  CHECK(text(answers.answer("NCCL_IB_HCA", "=mlx5_7:1")) == "(unset)");
  CHECK(text(answers.answer("NCCL_IB_HCA", "=mlx5_1:1")) == "=mlx5_1:1");
}

TEST_CASE("nobody named a net plugin: NCCL gets what it would have found alone") {
  PluginSituation situation = on("2.28.9");
  CHECK(plugin_answers(situation).at("NCCL_NET_PLUGIN") == "none");
  situation.foreign = "/opt/hpcx/lib/libnccl-net.so";
  CHECK(plugin_answers(situation).at("NCCL_NET_PLUGIN") == "/opt/hpcx/lib/libnccl-net.so");
  CHECK_FALSE(plugin_answers(situation).count("NCCL_NET_PLUGIN_REF_COUNT"));
}

TEST_CASE("topoguard named, or an image's default: it stays loaded where the release needs it") {
  PluginSituation named = on("2.28.9");
  named.net_plugin = "/opt/lib/libnccl-net-topoguard.so";
  CHECK(plugin_answers(named) == std::map<std::string, std::string>{{"NCCL_NET_PLUGIN_REF_COUNT", "1"}});
  PluginSituation image = on("2.29.7");
  image.default_name_is_ours = true;
  CHECK(plugin_answers(image) == std::map<std::string, std::string>{{"NCCL_NET_PLUGIN_REF_COUNT", "1"}});
  named.release = *NcclRelease::parse("2.30.3");
  CHECK(plugin_answers(named).empty());
  named.net_plugin = "none";
  CHECK(plugin_answers(named).empty());
  named.net_plugin = "";
  CHECK(plugin_answers(named).empty());
}
