// SPDX-License-Identifier: Apache-2.0
// Builds rtnetlink dumps as the kernel sends them, from the @-lines of a tree file (tree.h), with libnl's message
// builders.
#pragma once

#include <map>
#include <string>

namespace topoguard::test {

class Messages {
 public:
  void add(const std::string& line);
  /// Ends each dump with NLMSG_DONE and writes link.nl, addr.nl, route4.nl, ... Kinds that no line named are not
  /// written, but for the addresses of links: those are an empty dump.
  void write(const std::string& directory) const;
  const std::string& bytes(const std::string& file) const { return files_.at(file); }

 private:
  void link(const std::string& line);
  void address(const std::string& line);
  void route(const std::string& line);
  std::map<std::string, std::string> files_;
};

/// NLMSG_DONE as the kernel ends a dump.
std::string done_message();

}  // namespace topoguard::test
