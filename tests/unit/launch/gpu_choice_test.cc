// SPDX-License-Identifier: Apache-2.0
// The GPU of a process that is about to start, from launchers' variables and CUDA_VISIBLE_DEVICES.
#include "launch/gpu_choice.h"

#include <catch2/catch.hpp>
#include <map>

#include "launch/gpu_uuids.h"

using namespace topoguard;

namespace {

using Variables = std::map<std::string, std::string>;

EnvLookup env(Variables values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

HostSnapshot eight_gpus() {
  HostSnapshot host;
  host.gpus.emplace();
  for (int i = 0; i < 8; ++i)
    host.gpus->push_back({i, "0000:" + std::to_string(i + 1) + "0:00.0", i / 4, std::string("NVIDIA H200")});
  return host;
}

const std::vector<GpuUuid> kUuids = {{"GPU-aaaa1111-0000", "0000:10:00.0"},
                                     {"GPU-aaaa2222-0000", "0000:20:00.0"},
                                     {"GPU-bbbb0000-0000", "0000:30:00.0"},
                                     {"MIG-cccc0000-0000", "0000:40:00.0"}};

std::optional<std::string> gpu(Variables values, const std::string& wanted = "auto",
                               const HostSnapshot& host = eight_gpus()) {
  const ChosenGpu chosen = choose_gpu(wanted, env(std::move(values)), host, kUuids);
  CHECK_FALSE(chosen.why.empty());
  return chosen.pci;
}

}  // namespace

TEST_CASE("the launcher's local rank counts the GPUs") {
  CHECK(gpu({{"LOCAL_RANK", "3"}}) == "0000:40:00.0");
  CHECK(gpu({{"SLURM_LOCALID", "0"}}) == "0000:10:00.0");
  CHECK(gpu({{"OMPI_COMM_WORLD_LOCAL_RANK", "7"}}) == "0000:80:00.0");
  CHECK(gpu({{"MPI_LOCALRANKID", "1"}}) == "0000:20:00.0");
  CHECK_FALSE(gpu({{"LOCAL_RANK", "8"}}));
  CHECK_FALSE(gpu({}));
}

TEST_CASE("CUDA_VISIBLE_DEVICES is what the rank counts in") {
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "4,5,6,7"}, {"LOCAL_RANK", "1"}}) == "0000:60:00.0");
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", " 4, 5"}, {"LOCAL_RANK", "1"}}) == "0000:60:00.0");
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", "4,5"}, {"LOCAL_RANK", "2"}}));
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "6"}, {"LOCAL_RANK", "3"}}) == "0000:70:00.0");  // one GPU given to each rank
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", "0,-1,2"}, {"LOCAL_RANK", "2"}}));  // the list ends at what names nothing
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "0,-1,2"}, {"LOCAL_RANK", "0"}}) == "0000:10:00.0");
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", ""}, {"LOCAL_RANK", "0"}}));
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}));
}

TEST_CASE("UUIDs, whole or as a prefix that fits one") {
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "GPU-bbbb,GPU-aaaa2222-0000"}, {"LOCAL_RANK", "1"}}) == "0000:20:00.0");
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "GPU-bbbb"}}) == "0000:30:00.0");
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", "GPU-aaaa"}}));
  CHECK_FALSE(gpu({{"CUDA_VISIBLE_DEVICES", "GPU-dddd"}}));
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "MIG-cccc0000-0000"}}) == "0000:40:00.0");
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "MIG-GPU-aaaa1111-0000/3/0"}}) == "0000:10:00.0");
}

TEST_CASE("--gpu says it") {
  CHECK(gpu({}, "2") == "0000:30:00.0");
  CHECK(gpu({{"CUDA_VISIBLE_DEVICES", "7,6"}}, "1") == "0000:70:00.0");
  CHECK(gpu({}, "GPU-bbbb") == "0000:30:00.0");
  CHECK(gpu({}, "00000000:80:00.0") == "0000:80:00.0");
  CHECK_FALSE(gpu({}, "first"));
  CHECK_FALSE(gpu({}, "-1"));
}

TEST_CASE("one GPU needs no rank; several kinds need an order") {
  HostSnapshot host = eight_gpus();
  host.gpus->resize(1);
  CHECK(gpu({}, "auto", host) == "0000:10:00.0");
  host = eight_gpus();
  host.gpus->front().name = "NVIDIA T4";
  CHECK_FALSE(gpu({{"LOCAL_RANK", "1"}}, "auto", host));
  CHECK(gpu({{"LOCAL_RANK", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}, "auto", host) == "0000:20:00.0");
}

TEST_CASE("NVML is asked only where a UUID has to be looked up") {
  CHECK(needs_uuids("auto", env({{"CUDA_VISIBLE_DEVICES", "0,GPU-1"}})));
  CHECK(needs_uuids("GPU-1", env({})));
  CHECK_FALSE(needs_uuids("1", env({{"CUDA_VISIBLE_DEVICES", "0,1"}})));
}

namespace {

// Two GPUs, the second with one MIG instance.
int nvml_ok() { return 0; }
int nvml_count(unsigned* count) { return *count = 2, 0; }
int nvml_handle(unsigned index, void** device) {
  static char devices[2];
  return *device = &devices[index], 0;
}
int index_of(void* device) {
  void* first = nullptr;
  nvml_handle(0, &first);
  return static_cast<int>(static_cast<char*>(device) - static_cast<char*>(first));
}
int nvml_pci(void* device, void* info) {
  auto* numbers = reinterpret_cast<unsigned*>(static_cast<char*>(info) + 16);
  numbers[0] = 1;
  numbers[1] = 0xa0u + static_cast<unsigned>(index_of(device));
  return 0;
}
int nvml_uuid(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "%s-%d", index_of(device) > 1 ? "MIG" : "GPU", index_of(device));
  return 0;
}
int nvml_mig_count(void* device, unsigned* count) { return *count = index_of(device) == 1 ? 2 : 0, 0; }
int nvml_mig(void*, unsigned index, void** instance) {
  void* first = nullptr;
  nvml_handle(0, &first);
  *instance = static_cast<char*>(first) + 2;
  return index == 0 ? 0 : 6;
}

void* nvml_symbol(void*, const char* name) {
  const std::map<std::string, void*> table = {
      {"nvmlInit_v2", reinterpret_cast<void*>(nvml_ok)},
      {"nvmlShutdown", reinterpret_cast<void*>(nvml_ok)},
      {"nvmlDeviceGetCount_v2", reinterpret_cast<void*>(nvml_count)},
      {"nvmlDeviceGetHandleByIndex_v2", reinterpret_cast<void*>(nvml_handle)},
      {"nvmlDeviceGetPciInfo_v3", reinterpret_cast<void*>(nvml_pci)},
      {"nvmlDeviceGetUUID", reinterpret_cast<void*>(nvml_uuid)},
      {"nvmlDeviceGetMaxMigDeviceCount", reinterpret_cast<void*>(nvml_mig_count)},
      {"nvmlDeviceGetMigDeviceHandleByIndex", reinterpret_cast<void*>(nvml_mig)}};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

TEST_CASE("UUIDs of GPUs and MIG instances come from NVML") {
  Sources sources;
  int library = 0;
  sources.open_library = [&](const char*) -> void* { return &library; };
  sources.find_symbol = nvml_symbol;
  const auto uuids = gpu_uuids(sources);
  REQUIRE(uuids.size() == 3);
  CHECK(uuids[0].uuid == "GPU-0");
  CHECK(uuids[0].pci == "0001:a0:00.0");
  CHECK(uuids[2].uuid == "MIG-2");
  CHECK(uuids[2].pci == "0001:a1:00.0");
  sources.open_library = [](const char*) -> void* { return nullptr; };
  CHECK(gpu_uuids(sources).empty());
}
