// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "host/collect.h"
#include "host/file.h"
#include "host/gpu_driver.h"
#include "host/numa.h"
#include "host/nvml.h"
#include "host/pci.h"
#include "host/process.h"
#include "host/rdma.h"
#include "host/system.h"
#include "tree.h"

namespace topoguard::test {

TEST_CASE("small text") {
  std::vector<std::string> names = {"mlx5_10", "mlx5_2", "mlx5_1", "mlx5_01", "mlx5", "a", "mlx5_2x"};
  std::sort(names.begin(), names.end(), host::natural_less);
  CHECK(names == std::vector<std::string>{"a", "mlx5", "mlx5_01", "mlx5_1", "mlx5_2", "mlx5_2x", "mlx5_10"});
  for (const char* good : {"0000:0f:00.0", "10000:01:00.0", "ffffffff:ff:1f.7"}) CHECK(host::is_pci_id(good));
  for (const char* bad :
       {"", "0000:0f:00", "0000:0f:00.0.", "000:0f:00.0", "0000:0g:00.0", "0000:0f:00.0x", "0000:0f:00:0", "virtio2"})
    CHECK_FALSE(host::is_pci_id(bad));
  CHECK(host::parse_number("0x2a") == 42);
  for (const char* bad : {"", "0x", "12 ", "1e3", "99999999999999999999"}) CHECK_FALSE(host::parse_number(bad));
}

TEST_CASE("memory that may be locked") {
  const auto may_lock = [](const std::string& capabilities, const std::string& uid_map) {
    const TempDir directory;
    const auto sources = unpack(
        "proc/self/limits = Max locked memory         65536      65536      bytes\\n\n"
        "proc/self/status = Name:\\tjob\\nCapPrm:\\t000001ffffffffff\\nCapEff:\\t" +
            capabilities +
            "\\n\n"
            "proc/self/uid_map = " +
            uid_map + "\\n\n",
        directory.path());
    HostSnapshot host;
    host::read_process(sources, host);
    return host.process.memlock_bytes;
  };
  const std::string first = "         0          0 4294967295";
  CHECK(may_lock("0000000000000000", first) == 65536);
  CHECK(may_lock("000001ffffffffff", first) == -1);
  CHECK(may_lock("0000000000004000", first) == -1);
  CHECK(may_lock("000001ffffffbfff", first) == 65536);
  CHECK(may_lock("00000000a80425fb", first) == 65536);                               // Docker's default set
  CHECK(may_lock("000001ffffffffff", "         0       1000          1") == 65536);  // root of its own namespace only
  CHECK(may_lock("none", first) == 65536);
}

TEST_CASE("RoCE MTU follows the netdev's") {
  // include/rdma/ib_addr.h; 1500 and 4200 as seen with rdma_rxe.
  CHECK(host::roce_mtu(1500) == 1024);
  CHECK(host::roce_mtu(4200) == 4096);
  CHECK(host::roce_mtu(4191) == 2048);
  CHECK(host::roce_mtu(9000) == 4096);
  CHECK(host::roce_mtu(352) == 256);
  CHECK_FALSE(host::roce_mtu(351));
}

TEST_CASE("ACS in config space") {
  std::string config(4096, '\0');
  CHECK(host::acs_redirect(config) == false);
  CHECK_FALSE(host::acs_redirect(config.substr(0, 256)));
  const auto capability = [&](std::size_t at, std::uint32_t header, std::uint16_t control) {
    std::memcpy(&config[at], &header, 4);
    std::memcpy(&config[at + 6], &control, 2);
  };
  capability(0x100, 0x1401'0001 | 0x140u << 20, 0);
  capability(0x140, 0x0001'000d, 0x0004);
  CHECK(host::acs_redirect(config) == true);
  capability(0x140, 0x0001'000d, 0x0008);
  CHECK(host::acs_redirect(config) == true);
  capability(0x140, 0x0001'000d, 0x0011);  // source validation and upstream forwarding alone redirect nothing
  CHECK(host::acs_redirect(config) == false);
  capability(0x140, 0x140u << 20 | 0x0001'0002, 0);  // points to itself
  CHECK(host::acs_redirect(config) == false);
}

TEST_CASE("DMA-BUF by driver and kernel") {
  const std::string open =
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\nGCC version";
  const std::string closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 17 22:55:48 UTC 2024";
  CHECK(host::has_dmabuf(open, "5.15.0-105-generic") == true);
  CHECK(host::has_dmabuf(open, "5.4.0-150") == false);
  CHECK(host::has_dmabuf(open, "6.1") == true);
  CHECK(host::has_dmabuf(closed, "6.1.0") == false);
  CHECK_FALSE(host::has_dmabuf("something else", "6.1.0"));
  CHECK_FALSE(host::has_dmabuf(open, "linux"));
}

TEST_CASE("virtualization, container, IOMMU") {
  const auto at = [](const std::string& tree, const std::vector<std::string>& environment = {}) {
    const TempDir directory;
    const Sources sources = unpack(tree, directory.path());
    return host::virtualization(sources).value_or("?") + " " +
           host::container_kind(sources, environment).value_or("?") + " " + host::iommu(sources).value_or("?");
  };
  const std::string guest = "proc/cpuinfo = x\\nflags : fpu hypervisor\\n\n",
                    metal = "proc/cpuinfo = x\\nflags : fpu\\n\n";
  const auto dmi = [](const std::string& vendor, const std::string& product) {
    return "sys/class/dmi/id/sys_vendor = " + vendor + "\nsys/class/dmi/id/product_name = " + product + "\n";
  };
  CHECK(at("") == "? ? ?");
  CHECK(at(metal) == "none ? ?");
  CHECK(at(guest) == "other ? ?");
  CHECK(at(guest + dmi("Google", "Google Compute Engine")) == "gcp ? ?");
  CHECK(at(guest + dmi("Amazon EC2", "p5.48xlarge")) == "aws ? ?");
  CHECK(at(metal + dmi("Amazon EC2", "c5.metal")) == "none ? ?");
  CHECK(at(guest + dmi("Microsoft Corporation", "Virtual Machine")) == "hyperv ? ?");
  CHECK(at(metal + dmi("Microsoft Corporation", "Surface")) == "none ? ?");
  CHECK(at("proc/self/cgroup = 0::/\n") == "? none ?");
  CHECK(at("proc/self/cgroup = 0::/\nproc/self/root/.dockerenv = x\n") == "? docker ?");
  CHECK(at("proc/self/cgroup = 0::/\nproc/self/root/run/.containerenv = x\n") == "? podman ?");
  CHECK(at("proc/self/cgroup = 1:cpu:/kubepods/pod1\nproc/self/root/.dockerenv = x\n") == "? kubernetes ?");
  CHECK(at("proc/self/mountinfo = 1 0 0:1 / / rw - overlay overlay lowerdir=/run/enroot/x\n") == "? slurm-pyxis ?");
  CHECK(at("", {"container=lxc"}) == "? other ?");
  CHECK(at("sys/class/iommu/\n") == "? ? off");
  CHECK(at("sys/kernel/iommu_groups/0/type = DMA-FQ\n") == "? ? on");
  CHECK(at("sys/kernel/iommu_groups/0/type = identity\n") == "? ? passthrough");
}

TEST_CASE("NUMA agrees with hwloc") {
  HostSnapshot out;
  host::read_numa({}, out);
  hwloc_topology_t topology;
  REQUIRE(hwloc_topology_init(&topology) == 0);
  hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  REQUIRE(hwloc_topology_load(topology) == 0);
  REQUIRE(out.numa);
  REQUIRE(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == static_cast<int>(out.numa->size()));
  for (std::size_t i = 0; i < out.numa->size(); ++i) {
    const hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    CHECK(static_cast<int>(node->os_index) == (*out.numa)[i].node);
    CHECK(hwloc_bitmap_isequal(node->cpuset, (*out.numa)[i].cpus.bitmap()));
    CHECK(node->attr->numanode.local_memory == static_cast<hwloc_uint64_t>((*out.numa)[i].mem_bytes.value_or(-1)));
  }
  hwloc_topology_destroy(topology);
}

TEST_CASE("NUMA masks of any width, and nodes without CPUs") {
  const TempDir directory;
  const Sources sources =
      unpack("sys/devices/system/node/node0/cpulist = 0-2047,4096\nsys/devices/system/node/node12/cpulist = \n",
             directory.path());
  HostSnapshot out;
  host::read_numa(sources, out);
  REQUIRE(out.numa);
  REQUIRE(out.numa->size() == 2);
  CHECK((*out.numa)[0].cpus.count() == 2049);
  CHECK((*out.numa)[1].node == 12);
  CHECK((*out.numa)[1].cpus.empty());
  CHECK_FALSE((*out.numa)[1].mem_bytes);
}

TEST_CASE("boot and network namespace") {
  const auto here = host::boot_and_network_namespace({});
  REQUIRE(here);
  CHECK(std::count(here->begin(), here->end(), ':') == 1);
  Sources nowhere;
  nowhere.proc = "/nonexistent";
  CHECK_FALSE(host::boot_and_network_namespace(nowhere));
}

TEST_CASE("a verbs device that is short of descriptors is not called unusable") {
  const TempDir directory;
  Sources sources = unpack("sys/class/infiniband_verbs/uverbs0/ibdev = mlx5_0\n", directory.path());
  const auto usable = [&](int error) {
    sources.try_open = [error](const std::string&) { return error; };
    std::vector<RdmaDevice> devices(1);
    devices[0].name = "mlx5_0";
    HostSnapshot out;
    host::try_verbs_devices(sources, devices, out);
    CHECK(out.notes.empty() == (error == 0));
    return devices[0].usable;
  };
  CHECK(usable(0) == true);
  CHECK(usable(EACCES) == false);
  CHECK(usable(ENXIO) == false);
  CHECK_FALSE(usable(EMFILE).has_value());
  CHECK_FALSE(usable(ENOMEM).has_value());
}

TEST_CASE("NVML is asked by the tool alone") {
  const TempDir directory;
  Sources sources =
      unpack("sys/bus/pci/devices/0000:01:00.0/class = 0x030200\nsys/bus/pci/devices/0000:01:00.0/vendor = 0x10de\n",
             directory.path());
  int opened = 0;
  sources.open_library = [&](const char*) -> void* {
    ++opened;
    return nullptr;
  };
  CollectOptions options;
  options.may_ask_nvml = true;
  options.front_end = FrontEnd::net;
  CHECK(collect(sources, options).gpus->size() == 1);
  CHECK(opened == 0);
  options.front_end = FrontEnd::tool;
  const HostSnapshot out = collect(sources, options);
  CHECK(opened == 1);
  CHECK(std::any_of(out.notes.begin(), out.notes.end(),
                    [](const std::string& n) { return n.compare(0, 5, "nvml:") == 0; }));
}

}  // namespace topoguard::test
