// SPDX-License-Identifier: Apache-2.0
// A recorded machine in memory (tmpfs), which a target fills anew for every input and collects from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "document/document.h"
#include "fuzz.h"
#include "host/collect.h"

namespace topoguard::fuzz {

class RecordedMachine {
 public:
  RecordedMachine() {
    std::string name = "/dev/shm/topoguard-fuzz-XXXXXX";
    require(mkdtemp(name.data()) != nullptr, "there is room in /dev/shm");
    root_ = name;
  }
  ~RecordedMachine() { std::filesystem::remove_all(root_); }
  RecordedMachine(const RecordedMachine&) = delete;
  RecordedMachine& operator=(const RecordedMachine&) = delete;

  void write(const std::string& path, std::string_view bytes) {
    const auto full = root_ / path;
    std::error_code there;
    std::filesystem::create_directories(full.parent_path(), there);
    std::ofstream(full, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void link(const std::string& target, const std::string& path) {
    const auto full = root_ / path;
    std::error_code there;
    std::filesystem::create_directories(full.parent_path(), there);
    std::filesystem::create_symlink(target, full, there);
  }
  void clear() {
    for (const auto& entry : std::filesystem::directory_iterator(root_)) std::filesystem::remove_all(entry);
  }

  /// Collects as a job would; nothing of the live machine is read.
  void collect_all() {
    Sources sources;
    for (std::string* part : {&sources.sys, &sources.proc, &sources.etc, &sources.dev, &sources.netlink}) *part = root_;
    sources.sys += "/sys";
    sources.proc += "/proc";
    sources.etc += "/etc";
    sources.dev += "/dev";
    sources.netlink += "/netlink";
    sources.live_environment = false;
    sources.library_dirs = {root_ / "lib"};
    sources.try_open = [](const std::string&) { return 0; };
    const HostSnapshot host = topoguard::collect(sources, CollectOptions());
    for (const auto& note : host.notes) require(is_printable(note), "notes are printable");
    const ReadSnapshot back = read_snapshot(write_snapshot(host, Layout::line), "what is collected");
    require(back.host.has_value(), back.error.c_str());
  }

 private:
  std::filesystem::path root_;
};

}  // namespace topoguard::fuzz
