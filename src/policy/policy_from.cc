// SPDX-License-Identifier: Apache-2.0
#include "policy/policy_from.h"

#include <optional>
#include <string>
#include <vector>

#include "document/printable.h"
#include "policy/config_file.h"
#include "policy/likely.h"
#include "policy/settings.h"

namespace topoguard {
namespace {

constexpr std::string_view kPrefix = "TOPOGUARD_";

std::string_view source_text(SettingSource source) {
  return source == SettingSource::file ? "from the settings file" : "from the environment";
}

Finding problem(std::string_view code, std::string message, std::string remedy) {
  return {Severity::warning, std::string(code), "", std::move(message), std::move(remedy)};
}

Finding unknown_name(const std::string& name, SettingSource source) {
  const std::string seen = printable(name, 80) + " " + std::string(source_text(source));
  for (const OtherName& other : other_names()) {
    if (other.name != name) continue;
    if (other.why == OtherName::Why::planned)
      return problem("setting-not-here",
                     seen + " is not in this version and does nothing (" + std::string(other.note) + ").",
                     "Remove it, or use a topoguard release that has it.");
    return problem("setting-unknown", seen + " does nothing any more.", "Use " + std::string(other.note) + " instead.");
  }
  std::vector<std::string_view> known;
  for (const Setting& setting : settings()) known.push_back(setting.name);
  const auto likely = likely_name(name, known);
  return problem("setting-unknown", seen + " is no setting of topoguard and does nothing.",
                 likely ? "Did you mean " + std::string(*likely) + "?" : "`topoguard settings` lists them all.");
}

bool internal(std::string_view name) {
  if (name.rfind("TOPOGUARD_TEST_", 0) == 0) return true;
  for (const OtherName& other : other_names())
    if (other.name == name) return other.why == OtherName::Why::internal;
  return false;
}

const Setting* setting_of(std::string_view name) {
  for (const Setting& setting : settings())
    if (setting.name == name) return &setting;
  return nullptr;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The environment's value where it has one that is not empty, else the file's; without blanks around it, as in the
// file.
std::optional<std::string> effective(const HostSnapshot& host, const std::string& name, SettingSource& source) {
  if (const auto found = host.env.find(name); found != host.env.end() && !trimmed(found->second).empty()) {
    source = SettingSource::environment;
    return trimmed(found->second);
  }
  if (const auto found = host.topoguard.config.find(name);
      found != host.topoguard.config.end() && !trimmed(found->second).empty()) {
    source = SettingSource::file;
    return trimmed(found->second);
  }
  return std::nullopt;
}

void check_names(const std::map<std::string, std::string>& variables, SettingSource source, Policy& policy) {
  for (const auto& [name, value] : variables) {
    const bool ours = name.compare(0, kPrefix.size(), kPrefix) == 0;
    if ((ours || source == SettingSource::file) && setting_of(name) == nullptr && !internal(name))
      policy.problems.push_back(unknown_name(name, source));
  }
}

}  // namespace

Policy policy_from(const HostSnapshot& host) {
  Policy policy;
  for (const Setting& setting : settings()) {
    SettingSource source = SettingSource::built_in;
    const std::string name(setting.name);
    const auto value = effective(host, name, source);
    if (!value) continue;
    policy.sources[name] = source;
    if (const std::string wrong = setting.read(*value, policy); !wrong.empty()) {
      const bool list = wrong.rfind("entry ", 0) == 0;
      if (!list) policy.sources.erase(name);
      policy.problems.push_back(problem(
          "setting-invalid",
          name + "=\"" + printable(*value, 80) + "\" " + std::string(source_text(source)) + ": " + wrong + ".",
          list ? "Correct the entry; the others are used."
               : "Correct it; until then the default" +
                     (setting.standard.empty() ? "" : " \"" + std::string(setting.standard) + "\"") + " is used."));
    }
  }
  check_names(host.env, SettingSource::environment, policy);
  // The collector may have copied the environment's settings there as well; one warning is enough.
  std::map<std::string, std::string> file;
  for (const auto& entry : host.topoguard.config)
    if (host.env.count(entry.first) == 0) file.insert(entry);
  check_names(file, SettingSource::file, policy);
  for (const std::string& note : host.notes)
    if (note.compare(0, kConfigNote.size(), kConfigNote) == 0)
      policy.problems.push_back(
          problem("settings-file", printable(note, 300), "Correct the file; what could be read is used."));
  return policy;
}

}  // namespace topoguard
