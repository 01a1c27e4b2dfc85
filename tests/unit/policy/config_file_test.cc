// SPDX-License-Identifier: Apache-2.0
#include "policy/config_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace topoguard;

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "topoguard-config-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& text) const {
    std::ofstream(path / "conf", std::ios::binary) << text;
    return path / "conf";
  }
};

}  // namespace

TEST_CASE("lines, comments, quotes and blanks") {
  const ConfigFile file = parse_config(
      "\xef\xbb\xbf# comment\n\n  TOPOGUARD_MODE = off  \r\nTOPOGUARD_EXCLUDE=\"eth0 # kept\" # dropped\n"
      "export TOPOGUARD_BASE='stock'\nTOPOGUARD_SUBNETS=10.0.0.0/8 # data\nTOPOGUARD_LOG=\nTOPOGUARD_AFFINITY=a#b",
      "f");
  CHECK(file.problems.empty());
  CHECK(file.values == std::map<std::string, std::string>{{"TOPOGUARD_MODE", "off"},
                                                          {"TOPOGUARD_EXCLUDE", "eth0 # kept"},
                                                          {"TOPOGUARD_BASE", "stock"},
                                                          {"TOPOGUARD_SUBNETS", "10.0.0.0/8"},
                                                          {"TOPOGUARD_LOG", ""},
                                                          {"TOPOGUARD_AFFINITY", "a#b"}});
}

TEST_CASE("a broken line is named and the others count") {
  const ConfigFile file = parse_config(
      "TOPOGUARD_MODE=off\nnonsense\n=x\n1A=2\nA B=3\nA=\"open\nA='x' y\nTOPOGUARD_LOG=off\n\x1b[31m\n", "/etc/t.conf");
  CHECK(file.values.size() == 2);
  REQUIRE(file.problems.size() == 7);
  CHECK(file.problems[0] == "settings file: /etc/t.conf:2: expected NAME=VALUE, found \"nonsense\"");
  CHECK(file.problems[6] == "settings file: /etc/t.conf:9: expected NAME=VALUE, found \"\\x1b[31m\"");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "bad\n";
  CHECK(parse_config(many, "f").problems.size() == 20);
}

TEST_CASE("a file that cannot be read is one problem, never a wait") {
  const Folder folder;
  CHECK(read_config_file(folder.path / "none", false).problems.empty());
  CHECK(read_config_file(folder.path / "none", true).problems.at(0).find("no such file") != std::string::npos);
  CHECK(read_config_file(folder.path, true).problems.at(0).find("no regular file") != std::string::npos);
  const std::string fifo = folder.path / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(read_config_file(fifo, false).problems.size() == 1);
  CHECK(read_config_file("/dev/zero", false).problems.size() == 1);
  CHECK(read_config_file(folder.write(std::string("A=1\0B", 5)), false).problems.at(0).find("binary") !=
        std::string::npos);
  CHECK(read_config_file(folder.write(std::string(70000, 'A')), false).problems.at(0).find("64 KiB") !=
        std::string::npos);
  CHECK(read_config_file(folder.write("TOPOGUARD_MODE=off\n"), false).values.at("TOPOGUARD_MODE") == "off");
}

TEST_CASE("no descriptor stays open") {
  const Folder folder;
  const std::string path = folder.write("TOPOGUARD_MODE=off\n");
  const int before = dup(0);
  close(before);
  for (int i = 0; i < 10; ++i) {
    (void)read_config_file(path, true);
    (void)read_config_file(folder.path, true);
  }
  const int after = dup(0);
  close(after);
  CHECK(before == after);
}
