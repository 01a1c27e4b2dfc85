// SPDX-License-Identifier: Apache-2.0
#include "topoguard/cpu_set.h"

#include <hwloc.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>
#include <vector>

namespace topoguard {
namespace {

constexpr unsigned highest = (1u << 20) - 1;

bool take_number(std::string_view& text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > highest) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

hwloc_bitmap_t checked(hwloc_bitmap_t bits) {
  if (!bits) throw std::bad_alloc();
  return bits;
}

}  // namespace

CpuSet::CpuSet() : bits_(checked(hwloc_bitmap_alloc())) {}
CpuSet::CpuSet(const CpuSet& other) : bits_(checked(hwloc_bitmap_dup(other.bits_))) {}
CpuSet::CpuSet(CpuSet&& other) noexcept : bits_(std::exchange(other.bits_, nullptr)) {}
CpuSet& CpuSet::operator=(CpuSet other) noexcept {
  std::swap(bits_, other.bits_);
  return *this;
}
CpuSet::~CpuSet() { hwloc_bitmap_free(bits_); }

// hwloc's own list parser takes "5-2" and trailing rubbish for something; a pasted document deserves a clear no.
std::optional<CpuSet> CpuSet::parse(std::string_view list) {
  CpuSet result;
  while (!list.empty() && (list.back() == '\n' || list.back() == ' ')) list.remove_suffix(1);
  while (!list.empty()) {
    unsigned low = 0;
    if (!take_number(list, low)) return std::nullopt;
    unsigned high = low;
    if (!list.empty() && list.front() == '-') {
      list.remove_prefix(1);
      if (!take_number(list, high) || high < low) return std::nullopt;
    }
    if (hwloc_bitmap_set_range(result.bits_, low, static_cast<int>(high)) < 0) throw std::bad_alloc();
    if (list.empty()) break;
    if (list.front() != ',' || list.size() == 1) return std::nullopt;
    list.remove_prefix(1);
  }
  return result;
}

std::optional<CpuSet> CpuSet::parse_mask(std::string_view mask) {
  while (!mask.empty() && (mask.back() == '\n' || mask.back() == ' ')) mask.remove_suffix(1);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= mask.size();) {
    const auto comma = std::min(mask.find(',', at), mask.size());
    words.push_back(mask.substr(at, comma - at));
    at = comma + 1;
  }
  if (words.size() > (highest + 1) / 32) return std::nullopt;
  CpuSet result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = words[words.size() - 1 - i];
    if (word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) word.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    for (unsigned bit = 0; bit < 32; ++bit)
      if (value >> bit & 1u) result.insert(static_cast<unsigned>(i) * 32 + bit);
  }
  return result;
}

std::string CpuSet::text() const {
  const int length = hwloc_bitmap_list_snprintf(nullptr, 0, bits_);
  if (length <= 0) return {};
  std::string result(static_cast<std::size_t>(length) + 1, '\0');
  hwloc_bitmap_list_snprintf(result.data(), result.size(), bits_);
  result.pop_back();
  return result;
}

bool CpuSet::empty() const { return hwloc_bitmap_iszero(bits_); }
int CpuSet::count() const { return hwloc_bitmap_weight(bits_); }
bool CpuSet::contains(unsigned number) const { return hwloc_bitmap_isset(bits_, number); }

void CpuSet::insert(unsigned number) {
  if (hwloc_bitmap_set(bits_, number) < 0) throw std::bad_alloc();
}

bool CpuSet::intersects(const CpuSet& other) const { return hwloc_bitmap_intersects(bits_, other.bits_); }
bool CpuSet::is_subset_of(const CpuSet& other) const { return hwloc_bitmap_isincluded(bits_, other.bits_); }

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet result;
  if (hwloc_bitmap_and(result.bits_, bits_, other.bits_) < 0) throw std::bad_alloc();
  return result;
}

CpuSet CpuSet::operator|(const CpuSet& other) const {
  CpuSet result;
  if (hwloc_bitmap_or(result.bits_, bits_, other.bits_) < 0) throw std::bad_alloc();
  return result;
}

bool CpuSet::operator==(const CpuSet& other) const { return hwloc_bitmap_isequal(bits_, other.bits_); }

}  // namespace topoguard
