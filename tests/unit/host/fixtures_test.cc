// SPDX-License-Identifier: Apache-2.0
// Every folder of tests/hosts/sysfs: tree.txt (a host), expect.txt (what collect must read there), why.md.
// TOPOGUARD_UPDATE=1 rewrites the expected outputs; look at the difference before you commit it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "host/collect.h"
#include "render.h"
#include "tree.h"

namespace topoguard::test {

TEST_CASE("recorded hosts read as expected") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(hosts_directory() + "/sysfs")) {
    const std::string name = entry.path().filename().string();
    DYNAMIC_SECTION(name) {
      const TempDir directory;
      const Sources sources = unpack(slurp(entry.path() / "tree.txt"), directory.path());
      CollectOptions options;
      options.front_end = FrontEnd::tool;  // may read the recorded config space; NVML stays out
      options.may_read_pci_config = true;
      std::string text = render(collect(sources, options));
      for (std::size_t at; (at = text.find(directory.path())) != std::string::npos;)
        text.replace(at, directory.path().size(), "ROOT");
      const auto expected = entry.path() / "expect.txt";
      if (std::getenv("TOPOGUARD_UPDATE")) write_file(expected, text);
      CHECK(text == slurp(expected));
      CHECK(std::filesystem::file_size(entry.path() / "why.md") > 0);
    }
    ++count;
  }
  CHECK(count >= 8);
}

}  // namespace topoguard::test
