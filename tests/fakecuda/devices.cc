// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace fakecuda {
namespace {

std::string setting(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

std::vector<std::string> split_commas(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

int to_int(const std::string& text) {
  std::size_t used = 0;
  int value = std::stoi(text, &used);
  if (used != text.size()) throw std::invalid_argument(text);
  return value;
}

// CUDA stops at the first ordinal that is no device, and so hides all that follow.
std::vector<int> visible_ordinals(int count) {
  std::vector<int> visible;
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    for (int index = 0; index < count; ++index) visible.push_back(index);
    return visible;
  }
  for (const std::string& part : split_commas(setting("CUDA_VISIBLE_DEVICES", ""))) {
    int index = to_int(part);
    if (index < 0 || index >= count) break;
    visible.push_back(index);
  }
  return visible;
}

Devices read_environment() {
  Devices read;
  read.bus_ids = split_commas(setting("FAKECUDA_BUSIDS", "0000:a0:00.0"));
  for (const std::string& id : read.bus_ids) {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (std::sscanf(id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) throw std::invalid_argument(id);
  }
  std::string compute = setting("FAKECUDA_COMPUTE", "9.0");
  if (std::sscanf(compute.c_str(), "%d.%d", &read.compute_major, &read.compute_minor) != 2) {
    throw std::invalid_argument(compute);
  }
  read.driver_version = to_int(setting("FAKECUDA_DRIVER", "13000"));
  read.memory_bytes = std::stoull(setting("FAKECUDA_MEMORY", "85899345920"));
  read.gpu_direct_rdma = to_int(setting("FAKECUDA_GDR", "1")) != 0;
  read.visible = visible_ordinals(static_cast<int>(read.bus_ids.size()));
  return read;
}

std::string without_long_domain(const std::string& id) { return id.size() > 12 ? id.substr(id.size() - 12) : id; }

}  // namespace

const Devices& devices() {
  static const Devices* const all = [] {
    try {
      return new Devices(read_environment());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fakecuda: a FAKECUDA_* variable or CUDA_VISIBLE_DEVICES cannot be read: %s\n",
                   error.what());
      std::abort();
    }
  }();
  return *all;
}

int find_bus_id(const std::string& bus_id) {
  std::string wanted = without_long_domain(bus_id);
  for (std::size_t index = 0; index < devices().bus_ids.size(); ++index) {
    if (strcasecmp(without_long_domain(devices().bus_ids[index]).c_str(), wanted.c_str()) == 0) {
      return static_cast<int>(index);
    }
  }
  return -1;
}

}  // namespace fakecuda
