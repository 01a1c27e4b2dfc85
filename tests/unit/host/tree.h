// SPDX-License-Identifier: Apache-2.0
// Test fixtures for the collectors: a whole small host as one readable text, unpacked into a directory of its own.
//
// Lines of a tree file (blank ones and those with '#' first are skipped; paths start with sys/, proc/, etc/ or dev/):
//   PATH = TEXT      a file; \n \t \\ \xHH in TEXT. [a-b] in PATH stands for a file per number
//   PATH -> TARGET   a symbolic link
//   PATH/            a directory; where a collector wants a file this is a file that cannot be read (EISDIR)
//   @env NAME=VALUE  a variable
//   @link IFINDEX NAME [key=value...]   keys: type (ARPHRD number), flags (a,b,c of up running lower loopback broadcast
//   multicast
//        pointopoint noarp master slave), mtu, operstate (number), address (hex bytes with colons), lower, netnsid,
//        master (ifindex), kind, slave, bus, dev, and data.N.u8|u16|u32|be16 (IFLA_INFO_DATA member N)
//   @addr IFINDEX ADDRESS/LENGTH [scope=N flags=N peer=ADDRESS]
//   @route TABLE DST|default [dev=IFINDEX via=ADDRESS via4=.. metric=N src=ADDRESS flags=N scope=N type=N
//   hops=IFINDEX/ADDRESS,...] family from dst/via, or family=6
#pragma once

#include <string>
#include <vector>

#include "host/sources.h"

namespace topoguard::test {

/// Removed with everything in it when the object goes.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Writes a file, making the directories above it.
void write_file(const std::string& path, const std::string& text);
std::string slurp(const std::string& path);

/// Unpacks `text` below `directory` and returns Sources that look there, and only there.
Sources unpack(const std::string& text, const std::string& directory);

/// tests/hosts of the source tree.
std::string hosts_directory();

}  // namespace topoguard::test
