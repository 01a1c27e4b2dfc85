// SPDX-License-Identifier: Apache-2.0
#include "exchange.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rig {

void Exchange::put(const std::string& name, const std::string& value) const {
  const std::string path = folder_ + "/" + name;
  std::ofstream(path + ".new", std::ios::binary) << value;
  std::filesystem::rename(path + ".new", path);  // readers see nothing or all of it
}

std::string Exchange::get(const std::string& name) const {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < give_up) {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    if (file) {
      std::ostringstream value;
      value << file.rdbuf();
      return value.str();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("nobody put " + name + " into the exchange folder within two minutes");
}

void Exchange::barrier(const std::string& name, int rank, int ranks) const {
  put("barrier." + name + "." + std::to_string(rank), "");
  for (int other = 0; other < ranks; ++other) get("barrier." + name + "." + std::to_string(other));
}

}  // namespace rig
