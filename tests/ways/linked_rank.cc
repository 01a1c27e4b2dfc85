// SPDX-License-Identifier: Apache-2.0
// Same command line and report as tests/net/rank; --libnccl is accepted and not used.
#include "linked_rank.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "communicators.h"

namespace {

int run(const std::string& exchange, const std::string& report_path, const std::vector<std::string>& steps,
        const rig::Place& place) {
  std::ofstream report(report_path, std::ios::app);
  rig::NcclLibrary library("");
  rig::Communicators communicators(library, rig::Exchange(exchange), place);
  for (const std::string& step : steps) {
    try {
      const nlohmann::json value = communicators.run(step);
      report << nlohmann::json{{"step", step}, {"ok", true}, {"value", value}} << std::endl;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s: %s\n", place.rank, step.c_str(), error.what());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int linked_rank(int argc, char** argv) {
  CLI::App app("One rank on a linked NCCL");
  std::string exchange, report, unused;
  std::vector<std::string> steps;
  rig::Place place;
  app.add_option("--libnccl", unused);
  app.add_option("--rank", place.rank)->required();
  app.add_option("--ranks", place.ranks)->required();
  app.add_option("--device", place.device);
  app.add_option("--exchange", exchange)->required();
  app.add_option("--report", report)->required();
  app.add_option("steps", steps)->required();
  try {
    app.parse(argc, argv);
    return run(exchange, report, steps, place);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", place.rank, error.what());
    return 1;
  }
}
