// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job on real NCCL without a GPU. It is told what to do in steps:
//
//   rank --libnccl libnccl.so.2 --rank 0 --ranks 2 --exchange FOLDER --report FILE init facts destroy init destroy
//
// Each step adds a line of JSON to the report: {"step", "ok", "error", "value", "seconds"}. Standard output stays
// NCCL's own; the program itself writes only to stderr. Exit: 0 all steps succeeded, 1 one failed (the rest is not
// run), 2 usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "communicators.h"

namespace {

struct Options {
  std::string libnccl;
  std::string exchange;
  std::string report;
  std::vector<std::string> steps;
  rig::Place place;
};

int run(const Options& options) {
  std::ofstream report(options.report, std::ios::app);
  rig::NcclLibrary library(options.libnccl);
  rig::Communicators communicators(library, rig::Exchange(options.exchange), options.place);
  report << nlohmann::json{{"step", "open"},
                           {"ok", true},
                           {"value",
                            {{"version", library.version()}, {"base", library.base()}, {"path", library.path()}}}}
         << std::endl;
  for (const std::string& step : options.steps) {
    try {
      const auto start = std::chrono::steady_clock::now();
      nlohmann::json value = communicators.run(step);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      report << nlohmann::json{{"step", step}, {"ok", true}, {"value", value}, {"seconds", took.count()}} << std::endl;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s: %s\n", options.place.rank, step.c_str(), error.what());
      report << nlohmann::json{{"step", step}, {"ok", false}, {"error", error.what()}} << std::endl;
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One rank of a job on real NCCL without a GPU\n\n" + rig::Communicators::help());
  Options options;
  app.add_option("--libnccl", options.libnccl, "path of libnccl.so.2")->required();
  app.add_option("--rank", options.place.rank, "this rank")->required();
  app.add_option("--ranks", options.place.ranks, "ranks of the job")->required();
  app.add_option("--device", options.place.device, "CUDA device");
  app.add_option("--exchange", options.exchange, "folder that the ranks share, empty at start")->required();
  app.add_option("--report", options.report, "file for what each step found")->required();
  app.add_option("steps", options.steps, "what to do")->required();
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", options.place.rank, error.what());
    return 1;
  }
}
