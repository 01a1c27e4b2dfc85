// SPDX-License-Identifier: Apache-2.0
#include "policy/settings.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "io.h"

namespace topoguard::cli {
namespace {

std::string as_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Setting& setting : settings())
    list.push_back({{"name", setting.name},
                    {"values", setting.values},
                    {"default", setting.standard},
                    {"since", setting.since},
                    {"help", setting.help}});
  return list.dump(2) + "\n";
}

}  // namespace

void add_settings(CLI::App& app, Action& action) {
  static const std::map<std::string, SettingsFormat> formats = {
      {"text", SettingsFormat::text}, {"markdown", SettingsFormat::markdown}, {"man", SettingsFormat::man}};
  const auto format = std::make_shared<std::string>("text");
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("settings", "List every TOPOGUARD_* setting");
  command->add_option("--format", *format, "text, markdown or man")->check(CLI::IsMember({"text", "markdown", "man"}));
  command->add_flag("--json", *json, "As JSON");
  command->footer("Exit status: 0, or 3 for bad usage.");
  command->callback([&action, format, json] {
    action = [format, json] {
      return write_text(*json ? as_json() : settings_table(formats.at(*format))) ? kClean : kBadInput;
    };
  });
}

}  // namespace topoguard::cli
