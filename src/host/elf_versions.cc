// SPDX-License-Identifier: Apache-2.0
#include "host/elf_versions.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "host/file.h"
#include "host/own_note.h"

namespace topoguard::host {
namespace {

constexpr std::size_t kSections = 4096;
constexpr std::size_t kSymbolBytes = 24u << 20;  // a million symbols: libtorch has fewer
constexpr std::size_t kStringBytes = 64u << 20;

// A name inside the string table, however broken the offset is.
std::string_view name_at(const std::string& strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  return std::string_view(strings.data() + offset, ::strnlen(strings.data() + offset, strings.size() - offset));
}

void add_version(std::string_view name, std::string_view prefix, std::set<int, std::greater<>>& versions) {
  if (name.substr(0, prefix.size()) != prefix) return;
  const auto number = parse_number(name.substr(prefix.size()));
  if (number && *number > 0 && *number < 1000) versions.insert(static_cast<int>(*number));
}

std::vector<std::string> texts(const std::set<int, std::greater<>>& versions) {
  std::vector<std::string> out;
  for (const int version : versions) out.push_back("v" + std::to_string(version));
  return out;
}

std::string soname(int fd, const Elf64_Shdr& dynamic, const std::string& strings) {
  std::vector<Elf64_Dyn> entries(std::min<std::size_t>(dynamic.sh_size / sizeof(Elf64_Dyn), 4096));
  if (!read_exactly(fd, entries.data(), entries.size() * sizeof(Elf64_Dyn), dynamic.sh_offset)) return {};
  for (const Elf64_Dyn& entry : entries)
    if (entry.d_tag == DT_SONAME) return std::string(name_at(strings, entry.d_un.d_val));
  return {};
}

bool is_own_note(int fd, const Elf64_Shdr& section) {
  OwnNote found;
  return section.sh_type == SHT_NOTE && section.sh_size == sizeof found &&
         read_exactly(fd, &found, sizeof found, section.sh_offset) && std::memcmp(&found, &kOwnNote, sizeof found) == 0;
}

}  // namespace

std::optional<PluginExports> plugin_exports(const std::string& path) {
  int raw;
  do {
    raw = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (raw < 0 && errno == EINTR);
  const Fd fd(raw);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto inside = [size](const Elf64_Shdr& section, std::size_t limit) {
    return section.sh_size <= limit && section.sh_offset <= size && section.sh_size <= size - section.sh_offset;
  };

  Elf64_Ehdr header;
  if (!read_exactly(fd.get(), &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > kSections)
    return std::nullopt;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_exactly(fd.get(), sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff))
    return std::nullopt;
  const auto find = [&](unsigned type) {
    return std::find_if(sections.begin(), sections.end(), [type](const Elf64_Shdr& s) { return s.sh_type == type; });
  };
  const auto symbols = find(SHT_DYNSYM);
  if (symbols == sections.end() || symbols->sh_entsize != sizeof(Elf64_Sym) || symbols->sh_link >= sections.size())
    return std::nullopt;
  const Elf64_Shdr& names = sections[symbols->sh_link];
  if (!inside(*symbols, kSymbolBytes) || !inside(names, kStringBytes)) return std::nullopt;
  std::string strings(names.sh_size, '\0');
  std::vector<Elf64_Sym> table(symbols->sh_size / sizeof(Elf64_Sym));
  if (!read_exactly(fd.get(), strings.data(), strings.size(), names.sh_offset) ||
      !read_exactly(fd.get(), table.data(), table.size() * sizeof(Elf64_Sym), symbols->sh_offset))
    return std::nullopt;

  PluginExports exports;
  std::set<int, std::greater<>> net, env;
  for (const Elf64_Sym& symbol : table) {
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const auto name = name_at(strings, symbol.st_name);
    add_version(name, "ncclNetPlugin_v", net);
    add_version(name, "ncclEnvPlugin_v", env);
    for (const std::string_view other : {"ncclTunerPlugin_v", "ncclProfiler_v", "ncclGinPlugin_v", "ncclRmaPlugin_v"})
      if (name.substr(0, other.size()) == other) exports.others.emplace_back(name);
  }
  exports.net = texts(net);
  exports.env = texts(env);
  if (const auto dynamic = find(SHT_DYNAMIC); dynamic != sections.end())
    exports.soname = soname(fd.get(), *dynamic, strings);
  exports.ours = std::any_of(sections.begin(), sections.end(),
                             [&fd](const Elf64_Shdr& section) { return is_own_note(fd.get(), section); });
  return exports;
}

}  // namespace topoguard::host
