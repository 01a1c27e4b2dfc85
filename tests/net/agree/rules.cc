// SPDX-License-Identifier: Apache-2.0
//
// Which interfaces topoguard says that NCCL takes in this network namespace, once for each of several settings:
//
//   rules --release 2.28.9 --settings FILE
//
// FILE as for ask. Prints a JSON list of {"bootstrap", "devices"}: "NAME:ADDRESS" or null, and a list of them, written
// as NCCL's log writes them. Exit: 0 printed, 1 not, 2 usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "host/collect.h"
#include "nccl_rules/interfaces.h"

namespace {

using Json = nlohmann::json;
using namespace topoguard;

// NCCL prints by getnameinfo, which adds the zone to link-local addresses.
std::string as_logged(const NcclInterface& interface) {
  std::string text = interface.name + ":" + interface.address.text();
  if (interface.address.family == Family::inet6 && interface.address.is_link_local()) text += "%" + interface.name;
  return text;
}

Json answer(const std::string& release_text, const Json& setting) {
  const auto release = NcclRelease::parse(release_text);
  if (!release) throw std::runtime_error(release_text + " is no NCCL release");
  Sources sources;
  sources.live_environment = false;
  sources.environment = {"NCCL_CONF_FILE=/dev/null"};
  for (const auto& [name, value] : setting.items())
    sources.environment.push_back(name + "=" + value.get<std::string>());
  CollectOptions options;
  options.front_end = FrontEnd::tool;
  options.nccl_version = release_text;
  const HostSnapshot host = collect(sources, options);
  if (!host.links) throw std::runtime_error("the links of this namespace cannot be read");
  const FindVariable find = [&host](std::string_view name) -> const std::string* {
    const auto at = host.env.find(std::string(name));
    return at == host.env.end() ? nullptr : &at->second;
  };
  const auto addresses = getifaddrs_order(*host.links, host.system.kernel);
  const BootstrapPick bootstrap = nccl_bootstrap(*release, addresses, find);
  Json devices = Json::array();
  for (const NcclInterface& interface : nccl_interfaces(*release, addresses, find))
    devices.push_back(as_logged(interface));
  return {{"bootstrap", bootstrap.interface ? Json(as_logged(*bootstrap.interface)) : Json()},
          {"devices", std::move(devices)}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Which interfaces topoguard says that NCCL takes in this network namespace");
  std::string release, settings;
  app.add_option("--release", release, "of NCCL")->required();
  app.add_option("--settings", settings, "JSON list of objects: variable to value")->required();
  try {
    app.parse(argc, argv);
    Json answers = Json::array();
    for (const Json& setting : Json::parse(std::ifstream(settings))) answers.push_back(answer(release, setting));
    std::cout << answers << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rules: %s\n", error.what());
    return 1;
  }
}
