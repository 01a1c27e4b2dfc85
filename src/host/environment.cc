// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "host/file.h"
#include "host/notes.h"
#include "policy/config_file.h"

namespace topoguard::host {
namespace {

constexpr std::string_view kNames[] = {
    "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK", "CUDA_VISIBLE_DEVICES", "GLOO_SOCKET_IFNAME",
    // the local rank under other launchers, for exec and for who speaks
    "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "SLURM_LOCALID", "SLURM_PROCID", "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
    // a user's own binding of threads, which affinity respects
    "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

bool wanted(std::string_view name) {
  return starts_with(name, "NCCL_") || starts_with(name, "TOPOGUARD_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::set<std::string, std::less<>> applied_by_us(const std::vector<std::string>& entries) {
  std::set<std::string, std::less<>> names;
  const auto value = variable(entries, "TOPOGUARD_APPLIED");
  if (!value) return names;
  std::string_view list = std::string_view(*value).substr(value->rfind(':') + 1);
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (end > 0) names.emplace(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

// $HOME where it is set (NCCL 2.30), else the password file's word for this user (what getpwuid of earlier releases
// gives without asking a network service).
std::optional<std::string> home(const Sources& sources, const std::vector<std::string>& entries) {
  if (auto home = variable(entries, "HOME"); home && !home->empty()) return home;
  const FileText passwd = read_file(sources.etc_path("/passwd"), 1 << 20);
  const std::string user = std::to_string(::getuid());
  std::string_view left = passwd.text;
  while (!left.empty()) {
    auto line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    std::vector<std::string_view> fields;
    while (fields.size() < 6) {
      const auto end = line.find(':');
      fields.push_back(line.substr(0, end));
      if (end == std::string_view::npos) break;
      line.remove_prefix(end + 1);
    }
    if (fields.size() == 6 && fields[2] == user) return std::string(fields[5]);
  }
  return std::nullopt;
}

// NCCL_CONF_FILE is read by 2.23 and later.
bool reads_conf_variable(const std::optional<std::string>& version) {
  if (!version) return true;
  const auto dot = version->find('.');
  if (dot == std::string::npos) return true;
  const auto major = parse_number(version->substr(0, dot));
  const auto minor = parse_number(version->substr(dot + 1, version->find('.', dot + 1) - dot - 1));
  return !major || !minor || *major > 2 || (*major == 2 && *minor >= 23);
}

void add_nccl_conf(const std::string& path, HostSnapshot& out) {
  const Settings settings = read_nccl_conf(path);
  if (settings.error != 0 && settings.error != ENOENT && settings.error != ENOTDIR)
    note(out, "nccl.conf", path + " could not be read (" + error_text(settings.error) + "); what it sets is unknown");
  for (const auto& [name, value] : settings.values) {
    if (!starts_with(name, "NCCL_")) continue;
    if (!is_utf8(name) || !is_utf8(value))
      note(out, "nccl.conf", path + ": a value that is not UTF-8 was left out");
    else
      out.env.emplace(name, value);
  }
}

void add_topoguard_conf(const Sources& sources, const std::optional<std::string>& named, HostSnapshot& out) {
  const std::string path = named && !named->empty() ? *named : sources.etc_path("/topoguard.conf");
  const ConfigFile file = read_config_file(path, named && !named->empty());
  // As they are: policy_from() knows them again and warns of each.
  out.notes.insert(out.notes.end(), file.problems.begin(), file.problems.end());
  for (const auto& [name, value] : file.values) {
    if (!is_utf8(name) || !is_utf8(value))
      note(out, "topoguard.conf", path + ": a value that is not UTF-8 was left out");
    else if (starts_with(name, "TOPOGUARD_"))
      out.topoguard.config.emplace(name, value);
    else
      note(out, "topoguard.conf", path + ": " + name + " is no TOPOGUARD_ setting and was left out");
  }
}

}  // namespace

std::vector<std::string> environment_entries(const Sources& sources) {
  if (!sources.live_environment) return sources.environment;
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::optional<std::string> variable(const std::vector<std::string>& entries, std::string_view name) {
  for (const std::string& entry : entries)
    if (entry.size() > name.size() && entry[name.size()] == '=' && starts_with(entry, name))
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

bool secure_execution(const Sources& sources) { return sources.live_environment && ::getauxval(AT_SECURE) != 0; }

void read_environment(const Sources& sources, const std::vector<std::string>& entries,
                      const std::optional<std::string>& nccl_version, HostSnapshot& out) {
  const bool secure = secure_execution(sources);
  const auto ours = applied_by_us(entries);
  for (const std::string& entry : entries) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const auto name = std::string_view(entry).substr(0, equals), value = std::string_view(entry).substr(equals + 1);
    if (!wanted(name) || ours.count(name)) continue;
    if (secure && starts_with(name, "TOPOGUARD_")) continue;
    if (!is_utf8(name))
      note(out, "environment", "a variable whose name is not UTF-8 was left out");
    else if (!is_utf8(value))
      note(out, "environment", std::string(name) + " is not UTF-8; its value is unknown");
    else
      out.env.emplace(name, value);
  }
  const auto named = reads_conf_variable(nccl_version) ? variable(entries, "NCCL_CONF_FILE") : std::nullopt;
  const auto user_home = home(sources, entries);
  if (named && !named->empty())
    add_nccl_conf(*named, out);
  else if (user_home)
    add_nccl_conf(*user_home + "/.nccl.conf", out);
  add_nccl_conf(sources.etc_path("/nccl.conf"), out);

  add_topoguard_conf(sources, secure ? std::nullopt : variable(entries, "TOPOGUARD_CONFIG"), out);
  for (const auto& [name, value] : out.env)
    if (starts_with(name, "TOPOGUARD_") && name != "TOPOGUARD_APPLIED") out.topoguard.config[name] = value;
}

}  // namespace topoguard::host
