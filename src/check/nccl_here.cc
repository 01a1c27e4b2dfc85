// SPDX-License-Identifier: Apache-2.0
#include "check/nccl_here.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "host/file.h"
#include "host/library_path.h"
#include "nccl_rules/release.h"

namespace topoguard::check {
namespace {

constexpr std::string_view kBanner = "NCCL version ";
constexpr std::size_t kSections = 4096, kNames = 1u << 20, kData = 64u << 20, kPart = 1u << 20;

std::optional<std::string> as_release(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const auto release = NcclRelease::parse(text.substr(0, end));
  if (!release) return std::nullopt;
  return release->text();
}

std::optional<std::string> banner_in(const std::string& text) {
  for (auto at = text.find(kBanner); at != std::string::npos; at = text.find(kBanner, at + 1))
    if (auto release = as_release(std::string_view(text).substr(at + kBanner.size(), 24))) return release;
  return std::nullopt;
}

// In parts that overlap by more than a banner.
std::optional<std::string> banner_in(int fd, const Elf64_Shdr& section) {
  const std::uint64_t size = std::min<std::uint64_t>(section.sh_size, kData);
  for (std::uint64_t at = 0; at < size; at += kPart) {
    std::string part(std::min<std::uint64_t>(size - at, kPart + 64), '\0');
    if (!host::read_exactly(fd, part.data(), part.size(), section.sh_offset + at)) return std::nullopt;
    if (auto release = banner_in(part)) return release;
  }
  return std::nullopt;
}

// The device code beside it is a hundred times larger: only what is named .rodata is read.
std::optional<std::string> banner_of(int fd) {
  Elf64_Ehdr header{};
  if (!host::read_exactly(fd, &header, sizeof header, 0) ||
      std::string_view(reinterpret_cast<char*>(header.e_ident), 4) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
      header.e_shnum > kSections || header.e_shstrndx >= header.e_shnum)
    return std::nullopt;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!host::read_exactly(fd, sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff))
    return std::nullopt;
  std::string names(std::min<std::uint64_t>(sections[header.e_shstrndx].sh_size, kNames), '\0');
  if (!host::read_exactly(fd, names.data(), names.size(), sections[header.e_shstrndx].sh_offset)) return std::nullopt;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_PROGBITS || section.sh_name >= names.size()) continue;
    if (std::string_view(names).substr(section.sh_name, 7) != ".rodata") continue;
    if (auto release = banner_in(fd, section)) return release;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_libnccl(const Sources& sources, const std::string& ld_library_path) {
  const auto found = host::LibraryPath(sources, ld_library_path).find("libnccl.so.2");
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::optional<std::string> libnccl_release(const std::string& path) {
  constexpr std::string_view kName = "libnccl.so.";
  const std::string name = host::base_name(host::real_path(path).value_or(path));
  if (name.rfind(kName, 0) == 0)
    if (auto release = as_release(std::string_view(name).substr(kName.size()))) return release;
  const host::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  return banner_of(fd.get());
}

}  // namespace topoguard::check
