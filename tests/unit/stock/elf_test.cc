// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>

#include "../mock_nccl/loaded_mock.h"
#include "stock/elf_symbols.h"
#include "stock/loaded_object.h"

using namespace topoguard;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/tg-elf-XXXXXX";
    const int fd = mkstemp(name);
    REQUIRE(fd >= 0);
    close(fd);
    path = name;
  }
  ~Scratch() { unlink(path.c_str()); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; }
  std::string path;
};

int open_files() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

const std::vector<std::string_view> kNames = {"ncclNetSocket", "ncclGetVersion", "mock_bootstrap", "no_such_name"};

}  // namespace

TEST_CASE("local and exported symbols of a file are found once each") {
  const LoadedMock mock("2.28");
  const auto object = object_of(mock.inside());
  REQUIRE(object);
  const int before = open_files();
  const auto search = find_symbols(mock.path, kNames, object->headers);
  CHECK(open_files() == before);
  CHECK(search.problem == "");
  REQUIRE(search.found.size() == 3);
  for (const auto& symbol : search.found) {
    CHECK(symbol.from_symtab);
    CHECK(symbol.function == (symbol.name != "ncclNetSocket"));
    if (symbol.name == "ncclNetSocket") {
      CHECK(object->base + symbol.value == reinterpret_cast<std::uintptr_t>(mock.mock->socket_table));
      CHECK(symbol.size == 176);
    }
  }
  const LoadedMock stripped("stripped_2.28");
  const auto without = find_symbols(stripped.path, kNames, object_of(stripped.inside())->headers);
  CHECK(without.problem == "");
  CHECK(without.found.size() == 2);
}

TEST_CASE("a file that was replaced since it was loaded is not believed") {
  const LoadedMock mock("2.28");
  const auto object = object_of(mock.inside());
  const auto other = find_symbols(LoadedMock::place("2.18"), kNames, object->headers);
  CHECK(other.found.empty());
  CHECK(other.problem.find("not the one that was loaded") != std::string::npos);
}

TEST_CASE("files that cannot be read, or are none, give a reason and nothing else") {
  for (const std::string path : {"/nonexistent/file", "/", "/dev/null", "/proc/self/maps", "/etc/passwd", ""}) {
    const auto search = find_symbols(path, kNames, {});
    CHECK(search.found.empty());
    CHECK(!search.problem.empty());
  }
  // A FIFO without a writer must not block.
  char directory[] = "/tmp/tg-fifo-XXXXXX";
  REQUIRE(mkdtemp(directory) != nullptr);
  const std::string fifo = std::string(directory) + "/f";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(!find_symbols(fifo, kNames, {}).problem.empty());
  unlink(fifo.c_str());
  rmdir(directory);
}

TEST_CASE("truncated at any length: no crash, and only right symbols") {
  const LoadedMock mock("2.28");
  const std::string whole = contents(mock.path);
  const auto right = find_symbols(mock.path, kNames, {}).found;
  REQUIRE(right.size() == 3);
  const Scratch scratch;
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    scratch.write(whole.substr(0, length));
    for (const auto& symbol : find_symbols(scratch.path, kNames, {}).found) {
      bool same = false;
      for (const auto& known : right) same = same || (known.name == symbol.name && known.value == symbol.value);
      CHECK(same);
    }
  }
}

TEST_CASE("damaged headers and tables: no crash, no mad allocation") {
  const LoadedMock mock("2.28");
  const std::string whole = contents(mock.path);
  const Scratch scratch;
  std::mt19937 random(20);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    // The ELF header and the section table at the end are where sizes and offsets live.
    for (int i = 0; i < 8; ++i) {
      const bool head = random() % 2 == 0;
      const std::size_t at = head ? 16 + random() % 48 : bytes.size() - 1 - random() % 2300;
      bytes[at] = random() % 3 == 0 ? '\xff' : static_cast<char>(random());
    }
    scratch.write(bytes);
    find_symbols(scratch.path, kNames, {});
  }
  // Sizes that wrap around when an offset is added.
  std::string wrap = whole;
  for (std::size_t i = 0; i < 8; ++i) wrap[0x28 + i] = '\xff';  // e_shoff
  scratch.write(wrap);
  CHECK(find_symbols(scratch.path, kNames, {}).found.empty());
}

TEST_CASE("objects: who contains an address, and is it still there") {
  std::optional<LoadedObject> object;
  {
    const LoadedMock mock("2.28");
    object = object_of(mock.inside());
    REQUIRE(object);
    CHECK(object->path == mock.path);
    CHECK(still_loaded(*object));
    CHECK(object->executable(reinterpret_cast<std::uintptr_t>(mock.inside())));
    CHECK(!object->executable(reinterpret_cast<std::uintptr_t>(mock.mock)));
    CHECK(object->writable(reinterpret_cast<std::uintptr_t>(mock.mock), sizeof(Mock)));
    // address + length wraps around; length alone is larger than anything
    CHECK(!object->readable(reinterpret_cast<std::uintptr_t>(mock.mock), ~std::size_t{0}));
    CHECK(!object->readable(~std::uintptr_t{0}, 2));
    CHECK(!object->has_string(~std::uintptr_t{0}, "x"));
  }
  CHECK(!still_loaded(*object));
  int on_stack = 0;
  CHECK(!object_of(&on_stack));
  const auto program = object_of(reinterpret_cast<const void*>(&open_files));
  REQUIRE(program);
  CHECK(program->path == "/proc/self/exe");
  CHECK(still_loaded(*program));
}
