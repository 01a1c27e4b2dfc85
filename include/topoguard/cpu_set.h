// SPDX-License-Identifier: Apache-2.0
// A set of CPU or NUMA node numbers of any width, in the kernel's list notation ("0-31,64-95").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct hwloc_bitmap_s;

namespace topoguard {

class CpuSet {
 public:
  CpuSet();
  CpuSet(const CpuSet& other);
  CpuSet(CpuSet&& other) noexcept;
  CpuSet& operator=(CpuSet other) noexcept;
  ~CpuSet();

  /// nullopt where the text is not a list of ascending ranges of numbers below 1,048,576. "" is the empty set.
  static std::optional<CpuSet> parse(std::string_view list);
  /// Comma-separated 32-bit hexadecimal words, as in sysfs cpumap and NCCL topology files.
  static std::optional<CpuSet> parse_mask(std::string_view mask);
  std::string text() const;

  bool empty() const;
  int count() const;
  bool contains(unsigned number) const;
  void insert(unsigned number);
  bool intersects(const CpuSet& other) const;
  bool is_subset_of(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet operator|(const CpuSet& other) const;
  bool operator==(const CpuSet& other) const;

  const hwloc_bitmap_s* bitmap() const { return bits_; }  ///< for src/affinity; owned by this object

 private:
  hwloc_bitmap_s* bits_;
};

}  // namespace topoguard
