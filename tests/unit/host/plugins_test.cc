// SPDX-License-Identifier: Apache-2.0
#include "host/plugins.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "host/elf_versions.h"
#include "host/library_path.h"
#include "tree.h"

namespace topoguard::test {
namespace {

std::string probe() { return slurp(std::getenv("TOPOGUARD_TEST_PLUGIN")); }

Sources sources_at(const TempDir& directory) {
  Sources sources = unpack("", directory.path());
  sources.library_dirs = {directory.path() + "/lib"};
  return sources;
}

std::vector<Plugin> plugins(const Sources& sources, const std::vector<std::string>& environment,
                            const std::string& own = "") {
  HostSnapshot out;
  host::read_plugins(sources, environment, own, out);
  return *out.plugins;
}

void put(std::string& bytes, std::size_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

TEST_CASE("exported API versions are read from the file, newest first, without loading it") {
  const auto exports = host::plugin_exports(std::getenv("TOPOGUARD_TEST_PLUGIN"));
  REQUIRE(exports);
  CHECK(exports->net == std::vector<std::string>{"v10", "v8"});  // v11 is only used
  CHECK(exports->env == std::vector<std::string>{"v1"});
  CHECK_FALSE(host::plugin_exports("/nonexistent"));
  CHECK_FALSE(host::plugin_exports("/"));
}

TEST_CASE("damaged libraries are refused, never a crash") {
  const TempDir directory;
  const std::string good = probe(), path = directory.path() + "/x.so";
  for (std::size_t length = 0; length < good.size(); length += 97) {
    write_file(path, good.substr(0, length));
    const auto exports = host::plugin_exports(path);
    if (length < 64) CHECK_FALSE(exports);
  }
  std::srand(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    // Headers and section table are where lengths and offsets stand.
    const std::size_t base = i % 2 ? 0 : good.size() - std::min<std::size_t>(good.size(), 2200);
    for (int k = 0; k < 4; ++k)
      bad[base + static_cast<std::size_t>(std::rand()) % std::min<std::size_t>(2200, good.size() - base)] =
          static_cast<char>(std::rand());
    write_file(path, bad);
    host::plugin_exports(path);
  }
  SUCCEED();
}

TEST_CASE("plugins are found in ld.so's order, by NCCL's names, without ourselves") {
  const TempDir directory;
  const std::string lib = directory.path() + "/lib/", first = directory.path() + "/first/";
  write_file(lib + "libnccl-net.so", probe());
  write_file(first + "libnccl-net.so", probe());
  write_file(lib + "libnccl-net-other.so", probe());
  write_file(lib + "libnccl-env.so", "no library");
  const Sources sources = sources_at(directory);

  auto found = plugins(sources, {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == lib + "libnccl-net.so");
  CHECK(found[0].versions == std::vector<std::string>{"v10", "v8"});
  CHECK(found[1].kind == "env");
  CHECK(found[1].versions.empty());

  found = plugins(sources, {"LD_LIBRARY_PATH=:" + directory.path() + "/first", "NCCL_NET_PLUGIN=topoguard,other"});
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == lib + "libnccl-net-other.so");
  CHECK(found[1].path == first + "libnccl-net.so");
  CHECK(found[2].path == lib + "libnccl-net.so");

  SECTION("our own file, also through a link") {
    std::filesystem::create_directories(directory.path() + "/own");
    std::filesystem::rename(lib + "libnccl-net.so", directory.path() + "/own/plugin.so");
    std::filesystem::create_symlink(directory.path() + "/own/plugin.so", lib + "libnccl-net.so");
    found = plugins(sources, {}, directory.path() + "/own/plugin.so");
    CHECK(std::none_of(found.begin(), found.end(), [](const Plugin& p) { return p.kind == "net"; }));
    CHECK(plugins(sources, {}).front().kind == "net");
  }

  SECTION("our own file, copied: images are built so, and the command does not lie in it") {
    write_file(lib + "libnccl-net.so", slurp(std::getenv("TOPOGUARD_TEST_OWN_PLUGIN")));
    write_file(lib + "libnccl-env.so", slurp(std::getenv("TOPOGUARD_TEST_OWN_PLUGIN")));
    CHECK(plugins(sources, {}).empty());
  }
}

TEST_CASE("ld.so.cache") {
  const std::string names =
      std::string("libnccl-net.so\0/opt/a/libnccl-net.so\0libother.so\0/usr/lib/libother.so\0", 70);
  std::string cache = "glibc-ld.so.cache1.1" + std::string(28, '\0') + std::string(48, '\0');
  put(cache, 20, 2);
  const auto base = static_cast<std::uint32_t>(cache.size());
  put(cache, 48 + 4, base), put(cache, 48 + 8, base + 15);
  put(cache, 72 + 4, base + 37), put(cache, 72 + 8, base + 49);
  cache += names;
  CHECK(host::cache_lookup(cache, "libnccl-net.so") == std::vector<std::string>{"/opt/a/libnccl-net.so"});
  CHECK(host::cache_lookup("ld.so-1.7.0 old table in front" + cache, "libnccl-net.so").size() == 1);
  CHECK(host::cache_lookup(cache, "libnccl").empty());
  for (std::size_t length = 0; length < cache.size(); ++length)
    host::cache_lookup(cache.substr(0, length), "libnccl-net.so");
  put(cache, 20, 0xffffffff);
  put(cache, 48 + 8, 0xfffffff0);
  CHECK(host::cache_lookup(cache, "libnccl-net.so").empty());
}

}  // namespace topoguard::test
