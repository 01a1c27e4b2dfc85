// SPDX-License-Identifier: Apache-2.0
#include "policy/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "document/printable.h"

namespace topoguard {
namespace {

constexpr std::size_t kMaxBytes = 64 << 10;
constexpr std::size_t kMaxProblems = 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_name(std::string_view text) {
  for (const char c : text)
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9');
}

// nullopt where a quote is not closed or something but a comment follows it.
std::optional<std::string> value_of(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text[0] == '#') return std::string();
  if (text[0] == '"' || text[0] == '\'') {
    const std::size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = trimmed(text.substr(end + 1));
    if (!rest.empty() && rest[0] != '#') return std::nullopt;
    return std::string(text.substr(1, end - 1));
  }
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '#' && (text[i - 1] == ' ' || text[i - 1] == '\t')) text = trimmed(text.substr(0, i));
  return std::string(text);
}

std::string cause(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such file";
    case EACCES:
      return "no permission to read it";
    case ELOOP:
      return "too many symbolic links";
    default:
      return std::strerror(error);
  }
}

ConfigFile failed(const std::string& path, const std::string& why) {
  return {{}, {std::string(kConfigNote) + printable(path, 120) + ": " + why + "; expected lines NAME=VALUE"}};
}

}  // namespace

ConfigFile parse_config(std::string_view text, std::string_view file_name) {
  ConfigFile out;
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  if (text.find('\0') != std::string_view::npos) return failed(std::string(file_name), "it is a binary file");
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("export ", 0) == 0) line = trimmed(line.substr(7));
    const std::size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::nullopt : value_of(line.substr(equals + 1));
    if (is_name(name) && value) {
      out.values[std::string(name)] = *value;
      continue;
    }
    if (out.problems.size() < kMaxProblems)
      out.problems.push_back(std::string(kConfigNote) + printable(file_name, 120) + ":" + std::to_string(number) +
                             ": expected NAME=VALUE, found \"" + printable(line, 60) + "\"");
  }
  return out;
}

ConfigFile read_config_file(const std::string& path, bool required) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno == ENOENT && !required ? ConfigFile() : failed(path, cause(errno));
  struct stat status {};
  std::string why;
  std::string text;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    why = "it is no regular file";
  } else {
    text.resize(kMaxBytes + 1);
    std::size_t length = 0;
    while (length < text.size()) {
      const ssize_t got = read(fd, text.data() + length, text.size() - length);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) why = cause(errno);
      if (got <= 0) break;
      length += static_cast<std::size_t>(got);
    }
    text.resize(length);
    if (length > kMaxBytes) why = "it is larger than 64 KiB";
  }
  close(fd);
  return why.empty() ? parse_config(text, path) : failed(path, why);
}

}  // namespace topoguard
