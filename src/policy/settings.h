// SPDX-License-Identifier: Apache-2.0
// The one table of TOPOGUARD_* settings: parsing, help, README table and man page come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "topoguard/policy.h"

namespace topoguard {

struct Setting {
  std::string_view name;      ///< TOPOGUARD_MODE
  std::string_view values;    ///< what it takes: "enforce|observe|off"
  std::string_view standard;  ///< the default as text
  std::string_view since;     ///< release that brought it
  std::string_view help;      ///< one or two sentences
  /// Puts a value that is not empty into the policy. Returns what is wrong with it, empty where it is right.
  std::string (*read)(std::string_view value, Policy& policy);
};

/// A name that this release does not obey although somebody may well write it.
struct OtherName {
  enum class Why : std::uint8_t { renamed, removed, planned, internal } why;
  std::string_view name;
  std::string_view note;  ///< renamed: the new name; removed: what to use; planned: what it will do
};

/// In the order in which people should read them.
std::span<const Setting> settings();
std::span<const OtherName> other_names();

enum class SettingsFormat : std::uint8_t { text, markdown, man };
/// text: for --help, at most 100 columns; markdown: a table; man: scdoc source of one section.
std::string settings_table(SettingsFormat format);

}  // namespace topoguard
