// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "document/layout.h"
#include "policy/settings.h"

namespace topoguard {
namespace {

std::string replaced(std::string_view text, char what, std::string_view with) {
  std::string out;
  for (const char c : text) {
    if (c == what)
      out += with;
    else
      out += c;
  }
  return out;
}

std::string as_text() {
  std::string out;
  for (const Setting& setting : settings()) {
    out += "  " + std::string(setting.name) + "=" + std::string(setting.values);
    if (!setting.standard.empty()) out += "  (" + std::string(setting.standard) + ")";
    out += '\n';
    out += "      " + wrapped(setting.help, 6, 6);
  }
  return out;
}

std::string as_markdown() {
  std::string out = "| setting | values | default | since | what it does |\n|---|---|---|---|---|\n";
  for (const Setting& setting : settings())
    out += "| `" + std::string(setting.name) + "` | `" + replaced(setting.values, '|', "\\|") + "` | " +
           (setting.standard.empty() ? "-" : "`" + std::string(setting.standard) + "`") + " | " +
           std::string(setting.since) + " | " + replaced(setting.help, '|', "\\|") + " |\n";
  return out;
}

// scdoc reads _ and * as emphasis
std::string escaped(std::string_view text) { return replaced(replaced(text, '_', "\\_"), '*', "\\*"); }

std::string as_man() {
  std::string out;
  for (const Setting& setting : settings()) {
    out += "*" + escaped(setting.name) + "*=" + escaped(setting.values) + "\n";
    out += "\t" + escaped(setting.help);
    if (!setting.standard.empty()) out += " Default: " + escaped(setting.standard) + ".";
    out += " Since " + std::string(setting.since) + ".\n\n";
  }
  return out;
}

}  // namespace

std::string settings_table(SettingsFormat format) {
  switch (format) {
    case SettingsFormat::markdown:
      return as_markdown();
    case SettingsFormat::man:
      return as_man();
    case SettingsFormat::text:
      break;
  }
  return as_text();
}

}  // namespace topoguard
