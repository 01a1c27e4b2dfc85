// SPDX-License-Identifier: Apache-2.0
#include "report/env_text.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

using namespace topoguard;

namespace {

const std::map<std::string, std::string> kVariables = {{"NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1"},
                                                       {"NCCL_SOCKET_IFNAME", "=eth0"}};

// What a shell makes of the text.
std::string after_eval(const std::string& text, const std::string& name) {
  std::string script = "cat <<'END_OF_ENV' | (eval \"$(cat)\"; printf %s \"$" + name + "\")\n" + text + "END_OF_ENV\n";
  FILE* pipe = popen(script.c_str(), "r");
  std::array<char, 256> buffer{};
  const std::size_t length = fread(buffer.data(), 1, buffer.size(), pipe);
  pclose(pipe);
  return {buffer.data(), length};
}

}  // namespace

TEST_CASE("each format in its launcher's own syntax") {
  CHECK(env_text(kVariables, EnvFormat::shell) ==
        "export NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1'\nexport NCCL_SOCKET_IFNAME='=eth0'\n");
  CHECK(env_text(kVariables, EnvFormat::docker) == "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\nNCCL_SOCKET_IFNAME==eth0\n");
  CHECK(env_text(kVariables, EnvFormat::nccl_conf) == env_text(kVariables, EnvFormat::docker));
  CHECK(env_text(kVariables, EnvFormat::kubernetes) ==
        "env:\n  - name: NCCL_IB_HCA\n    value: \"=mlx5_0:1,mlx5_1:1\"\n  - name: NCCL_SOCKET_IFNAME\n    value: "
        "\"=eth0\"\n");
  CHECK_THAT(env_text(kVariables, EnvFormat::slurm), Catch::EndsWith("export SLURM_EXPORT_ENV=ALL\n"));
  CHECK(env_text(kVariables, EnvFormat::json) ==
        "{\n  \"NCCL_IB_HCA\": \"=mlx5_0:1,mlx5_1:1\",\n  \"NCCL_SOCKET_IFNAME\": \"=eth0\"\n}\n");
}

TEST_CASE("values come through a shell as they are") {
  for (const std::string value : {"=mlx5_0:1,mlx5_1:1", "a'b", "$(exit 3) `x` \"q\" \\", "^=a b"}) {
    for (const EnvFormat format : {EnvFormat::shell, EnvFormat::slurm})
      CHECK(after_eval(env_text({{"X", value}}, format), "X") == value);
  }
}

TEST_CASE("Kubernetes neither expands nor misreads a value") {
  CHECK_THAT(env_text({{"X", "$(HOME) \"q\" \\ $x"}}, EnvFormat::kubernetes),
             Catch::Contains("value: \"$$(HOME) \\\"q\\\" \\\\ $x\""));
}

TEST_CASE("nothing to set is still valid in every format") {
  CHECK(env_text({}, EnvFormat::kubernetes) == "env: []\n");
  CHECK(env_text({}, EnvFormat::json) == "{}\n");
  CHECK(env_text({}, EnvFormat::nccl_conf).empty());
  for (const EnvFormat format : {EnvFormat::shell, EnvFormat::docker, EnvFormat::slurm}) {
    const std::string text = env_text({}, format);
    CHECK(text.rfind("#", 0) == 0);
    CHECK(text.find('\n') == text.size() - 1);
  }
}

TEST_CASE("format names") {
  for (const char* name : {"shell", "docker", "kubernetes", "slurm", "nccl-conf"}) CHECK(env_format(name));
  CHECK_FALSE(env_format("yaml"));
}
