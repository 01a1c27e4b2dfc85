// SPDX-License-Identifier: Apache-2.0
// A snapshot in which every member of topoguard.host/1 occurs.
#pragma once

#include <string>

inline const std::string kFullSnapshot = R"json({
  "schema": "topoguard.host/1",
  "system": {"hostname": "node-a", "kernel": "6.1.0", "container": "docker", "virtualization": "kvm", "modules": ["mlx5_core"], "iommu": "on"},
  "nccl": {"version": "2.28.9"},
  "env": {"NCCL_IB_HCA": "mlx5_1", "NCCL_NET": ""},
  "links": [
    {"ifindex": 2, "ifname": "eth0", "flags": ["UP", "LOWER_UP"], "mtu": 1500, "operstate": "UP", "link_type": "ether",
     "address": "02:00:00:00:00:01", "master": "bond0", "link": "eth9", "link_index": 7, "link_netnsid": 3,
     "linkinfo": {"info_kind": "vlan", "info_slave_kind": "bond", "info_data": {"id": 5, "protocol": "802.1Q", "flag": true, "deep": {"a": 1}}, "info_slave_data": {"state": "ACTIVE"}},
     "parentbus": "pci", "parentdev": "0000:07:00.0", "speed_mbps": 100000, "driver": "mlx5_core", "numa_node": 0, "physfn": "0000:07:00.0",
     "addr_info": [{"family": "inet", "local": "10.0.0.11", "prefixlen": 24, "scope": "global", "deprecated": true},
                   {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link", "tentative": true}, {}]},
    {}
  ],
  "routes": [
    {"dst": "default", "gateway": "10.0.0.1", "dev": "eth0", "metric": 100, "prefsrc": "10.0.0.11", "flags": ["onlink"], "protocol": "dhcp"},
    {"dst": "default", "via": {"family": "inet6", "host": "fe80::2"}, "dev": "eth0"},
    {"dst": "default", "nexthops": [{"gateway": "fe80::3", "dev": "eth0", "weight": 1}, {"gateway": "fe80::4", "dev": "eth1"}]},
    {"type": "unreachable", "dst": "10.9.0.0/16", "table": "100", "scope": "link"},
    {"dst": "::/0", "dev": "ppp0"}
  ],
  "rdma": [{"name": "mlx5_0", "node_type": "CA", "driver": "mlx5_core", "board_id": "MT_0", "pci": "0000:07:00.0", "physfn": "0000:07:00.1", "numa_node": 1, "usable": false,
    "ports": [{"port": 1, "state": "ACTIVE", "phys_state": "LinkUp", "link_layer": "Ethernet", "rate_gbps": 2.5, "active_mtu": 4096, "lid": 1, "sm_lid": 2, "netdev": "eth1",
      "gids": [{"index": 3, "gid": "0000:0000:0000:0000:0000:ffff:0a00:000b", "type": "RoCE v2", "ndev": "eth1"}, {"index": 4, "gid": "::"}]}]}],
  "gpus": [{"index": 0, "pci": "0000:0f:00.0", "numa_node": -1, "name": "NVIDIA A100"}],
  "paths": [{"gpu": 0, "device": "mlx5_0", "path": "PXB"}],
  "pci": [{"id": "0000:0f:00.0", "parent": "0000:0d:00.0", "class": "0x030200", "numa_node": 0, "local_cpus": "0-31", "acs_redirect": false, "link_gts": 16, "link_width": 8, "max_link_gts": 32, "max_link_width": 16}],
  "numa": [{"node": 0, "cpus": "0-31,64-95", "mem_bytes": 540000000000}],
  "process": {"cpus_allowed": "0-127", "mems_allowed": "0-1", "memlock_bytes": -1, "gpu": 0},
  "peers": ["10.0.0.12", "2001:db8::1"],
  "plugins": [{"path": "/opt/libnccl-net.so", "kind": "net", "versions": ["v8"]}],
  "gpu_driver": {"dmabuf": true, "peermem": false},
  "shm_bytes": 67108864,
  "topoguard": {"front_end": "net", "config": {"TOPOGUARD_SUBNETS": "10.0.0.0/8"}, "bootstrap": "docker0"},
  "notes": ["no uverbs"]
})json";
