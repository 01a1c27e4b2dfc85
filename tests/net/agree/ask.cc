// SPDX-License-Identifier: Apache-2.0
//
// Which interfaces a real NCCL takes in this network namespace, once for each of several settings:
//
//   ask --libnccl libnccl.so.2 --settings FILE --folder FOLDER --communicators 1
//
// FILE is a JSON list of objects, name to value. For setting N there is a child of this process, so that libnccl is
// loaded only once; NCCL's log is FOLDER/N.log. The first settings, as many as asked for, bring up a communicator of
// one rank. The others, and those where none comes up (an NCCL_COMM_ID of another host), ask NCCL for a unique id and
// initialise its Socket transport by itself, which takes a tenth of the time; that works with NCCL 2.26 and later.
// Prints a JSON list of {"up", "socket", "error"}: communicator, Socket by itself. Exit: 0 asked, 1 not, 2 usage.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "communicators.h"
#include "net_endpoint.h"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr unsigned kTimeLimit = 60;  // seconds for one child; a guard against hangs

// In the child. NCCL has not read its environment before.
Json ask(rig::NcclLibrary& library, const fs::path& folder, bool communicator) {
  Json report{{"up", false}, {"socket", false}, {"error", ""}};
  std::string error;
  try {
    if (communicator) {
      fs::create_directories(folder / "exchange");
      rig::Communicators(library, rig::Exchange(folder / "exchange"), {0, 1, 0}).run("init");
      report["up"] = true;
      return report;
    }
    rig::UniqueId unused{};
    library.api().get_unique_id(&unused);  // what it takes, or that it takes nothing, is in the log
  } catch (const std::exception& reason) {
    error = std::string(reason.what()) + "; ";
  }
  try {
    report["socket"] = !rig::open_net(library, "Socket")->devices().empty();
  } catch (const std::exception& reason) {
    report["error"] = error + "Socket: " + reason.what();
  }
  return report;
}

Json ask_in_child(rig::NcclLibrary& library, const Json& setting, const fs::path& folder, bool communicator) {
  fs::create_directories(folder);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    alarm(kTimeLimit);
    setenv("NCCL_DEBUG_FILE", (folder.string() + ".log").c_str(), 1);
    for (const auto& [name, value] : setting.items()) setenv(name.c_str(), value.get<std::string>().c_str(), 1);
    std::ofstream(folder / "report") << ask(library, folder, communicator);
    _exit(0);  // threads of NCCL outlive main
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  if (status != 0)
    return {{"up", false}, {"socket", false}, {"error", "ended with wait status " + std::to_string(status)}};
  return Json::parse(std::ifstream(folder / "report"));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Which interfaces a real NCCL takes in this network namespace");
  std::string libnccl, settings, folder;
  std::size_t communicators = 1;
  app.add_option("--libnccl", libnccl, "path of libnccl.so.2")->required();
  app.add_option("--settings", settings, "JSON list of objects: variable to value")->required();
  app.add_option("--folder", folder, "for NCCL's logs")->required();
  app.add_option("--communicators", communicators, "so many of the settings bring up a communicator");
  try {
    app.parse(argc, argv);
    rig::NcclLibrary library(libnccl);
    Json reports = Json::array();
    for (const Json& setting : Json::parse(std::ifstream(settings)))
      reports.push_back(ask_in_child(library, setting, fs::path(folder) / std::to_string(reports.size()),
                                     reports.size() < communicators));
    std::cout << reports << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ask: %s\n", error.what());
    return 1;
  }
}
