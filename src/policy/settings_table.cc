// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "policy/settings.h"

namespace topoguard {
namespace {

constexpr std::size_t kWidth = 100;

void wrap(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, length);
    if (column == 0 || column + 1 + word.size() > kWidth) {
      out += (column == 0 ? "" : "\n") + std::string(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  out += '\n';
}

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
    wrap(out, setting.help, 6);
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
