// SPDX-License-Identifier: Apache-2.0
// `topoguard completion`: what bash completes, from the same declarations that parse the command line. Hidden: packages
// call it, people do not.
#include <fmt/format.h>

#include <iterator>

#include "command.h"
#include "io.h"

namespace topoguard::cli {
namespace {

// What an option takes where it takes one of a few words: CLI11 has them in its type's name, "TEXT:{shell,docker}".
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string words = type.substr(begin + 1, end - begin - 1);
  for (char& letter : words)
    if (letter == ',') letter = ' ';
  return words;
}

struct Part {
  std::string options;
  std::string values;  // rows of the shell's `case`
};

Part part_of(const CLI::App& app, const std::string& command) {
  Part part;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      part.options += (part.options.empty() ? "--" : " --") + name;
      if (const std::string words = choices(*option); !words.empty())
        part.values += fmt::format("    '{} --{}') words='{}' ;;\n", command, name, words);
    }
  }
  return part;
}

std::string script(const CLI::App& app) {
  std::string names, commands, values;
  const auto add = [&](const CLI::App& which, const std::string& name) {
    const Part part = part_of(which, name);
    fmt::format_to(std::back_inserter(commands), "    '{}') options='{}' ;;\n", name, part.options);
    values += part.values;
  };
  add(app, "");
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    names += (names.empty() ? "" : " ") + command->get_name();
    add(*command, command->get_name());
  }
  return "# bash completion for topoguard; written by `topoguard completion`\n"
         "_topoguard() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= options= words= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    [[ $word == -- ]] && return\n"  // the command that `topoguard exec` runs: files, as bash does it
         "    [[ -n $command || $word == -* ]] || command=$word\n"
         "  done\n"
         "  case $command in\n" +
         commands +
         "  esac\n"
         "  case \"$command $prev\" in\n" +
         values + "    ?*) [[ $cur == -* ]] && words=$options || [[ -n $command ]] || words='" + names +
         "' ;;\n"
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "}\n"
         "complete -o default -F _topoguard topoguard\n";
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("completion", "The script for bash");
  command->group("");
  command->callback([&app, &action] { action = [&app] { return write_text(script(app)) ? kClean : kBadInput; }; });
}

}  // namespace topoguard::cli
