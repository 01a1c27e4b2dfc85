// SPDX-License-Identifier: Apache-2.0
#include "check/trouble.h"

#include <algorithm>
#include <map>

namespace topoguard::check {
namespace {

constexpr std::size_t kMany = 3;  // from here on one end is the common cause

using List = std::vector<Trouble>;

// The end that most troubles share, if that many do.
template <typename End>
std::pair<std::string, std::size_t> most_common(const List& list, End end) {
  std::map<std::string, std::size_t> counts;
  std::pair<std::string, std::size_t> best{"", 0};
  for (const Trouble& trouble : list) {
    const std::size_t count = ++counts[end(trouble)];
    if (count > best.second) best = {end(trouble), count};
  }
  return best;
}

template <typename End, typename Other>
Folded take_all(List& list, const std::string& common, Folded::Shape shape, End end, Other other) {
  Folded out;
  out.shape = shape;
  const auto middle =
      std::stable_partition(list.begin(), list.end(), [&](const Trouble& trouble) { return end(trouble) != common; });
  out.first = *middle;
  for (auto at = middle; at != list.end(); ++at) out.others.push_back(other(*at));
  list.erase(middle, list.end());
  return out;
}

void fold_alike(List list, std::vector<Folded>& out) {
  const auto from = [](const Trouble& trouble) { return trouble.from; };
  const auto to = [](const Trouble& trouble) { return trouble.to; };
  while (!list.empty()) {
    const auto target = most_common(list, to), source = most_common(list, from);
    if (std::max(target.second, source.second) < kMany) break;
    if (target.second >= source.second)
      out.push_back(take_all(list, target.first, Folded::Shape::all_to, to, from));
    else
      out.push_back(take_all(list, source.first, Folded::Shape::all_from, from, to));
  }
  while (!list.empty()) {
    Folded folded;
    folded.first = list.front();
    list.erase(list.begin());
    const auto back = std::find_if(list.begin(), list.end(), [&](const Trouble& other) {
      return other.from == folded.first.to && other.to == folded.first.from;
    });
    if (back != list.end()) {
      folded.shape = Folded::Shape::both_ways;
      list.erase(back);
    }
    out.push_back(std::move(folded));
  }
}

}  // namespace

std::vector<Folded> fold(std::vector<Trouble> troubles) {
  std::vector<Folded> out;
  while (!troubles.empty()) {
    const Trouble first = troubles.front();
    const auto alike = std::stable_partition(troubles.begin(), troubles.end(), [&](const Trouble& trouble) {
      return trouble.code != first.code || trouble.cause != first.cause || trouble.rdma != first.rdma;
    });
    fold_alike({alike, troubles.end()}, out);
    troubles.erase(alike, troubles.end());
  }
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMost) out += " and " + std::to_string(names.size() - kMost) + " more";
  return out;
}

}  // namespace topoguard::check
