// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "messages.h"

namespace topoguard::test {
namespace {

namespace fs = std::filesystem;

std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n')
      out += '\n';
    else if (c == 't')
      out += '\t';
    else if (c == 'x') {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

// "a/[4-6]/b" -> a/4/b, a/5/b, a/6/b
std::vector<std::string> expand(const std::string& path) {
  const auto open = path.find('['), dash = path.find('-', open), close = path.find(']', open);
  if (open == std::string::npos || dash == std::string::npos || close == std::string::npos || dash > close)
    return {path};
  std::vector<std::string> out;
  for (int i = std::stoi(path.substr(open + 1)); i <= std::stoi(path.substr(dash + 1)); ++i)
    for (const std::string& rest : expand(path.substr(close + 1)))
      out.push_back(path.substr(0, open) + std::to_string(i) + rest);
  return out;
}

}  // namespace

TempDir::TempDir() {
  std::string name = (fs::temp_directory_path() / "tg-host-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Sources unpack(const std::string& text, const std::string& directory) {
  Sources sources;
  sources.sys = directory + "/sys";
  sources.proc = directory + "/proc";
  sources.etc = directory + "/etc";
  sources.dev = directory + "/dev";
  sources.netlink = directory + "/netlink";
  sources.live_environment = false;
  sources.library_dirs = {directory + "/lib"};
  Messages messages;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.compare(0, 5, "@env ") == 0) {
      sources.environment.push_back(unescape(line.substr(5)));
    } else if (line[0] == '@') {
      messages.add(line);
    } else if (const auto arrow = line.find(" -> "); arrow != std::string::npos) {
      const std::string path = directory + "/" + line.substr(0, arrow);
      fs::create_directories(fs::path(path).parent_path());
      fs::create_symlink(line.substr(arrow + 4), path);
    } else if (line.back() == '/' && line.find(" = ") == std::string::npos) {
      for (const std::string& path : expand(line)) fs::create_directories(directory + "/" + path);
    } else {
      const auto equals = line.find(" = ");
      if (equals == std::string::npos) throw std::runtime_error("not a line of a tree: " + line);
      for (const std::string& path : expand(line.substr(0, equals)))
        write_file(directory + "/" + path, unescape(line.substr(equals + 3)) + "\n");
    }
  }
  messages.write(sources.netlink);
  return sources;
}

std::string hosts_directory() {
  const char* hosts = std::getenv("TOPOGUARD_TEST_HOSTS");
  return hosts ? hosts : "tests/hosts";
}

}  // namespace topoguard::test
