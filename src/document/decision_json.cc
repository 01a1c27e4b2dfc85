// SPDX-License-Identifier: Apache-2.0
#include "document/decision_json.h"

namespace topoguard {
namespace {

JsonObject socket_json(const SocketChoice& socket) {
  JsonObject out, addresses;
  out.put("ifnames", JsonArray(socket.ifnames));
  if (socket.family) out.put("family", nccl_family_name(*socket.family));
  for (const auto& [name, address] : socket.addresses) addresses.put(name, address.text());
  return out.put("addresses", addresses);
}

JsonObject hca_json(const HcaChoice& hca) {
  JsonObject out;
  out.put("name", hca.name).put("port", hca.port);
  if (!hca.link_layer.empty()) out.put("link_layer", hca.link_layer);
  if (hca.gid_index)
    out.put("gid_index", *hca.gid_index);
  else
    out.put("gid_index", nullptr);
  if (hca.gid) out.put("gid", hca.gid->text());
  return out.put("netdev", hca.netdev).put("rate_gbps", hca.rate_gbps).put("numa_node", hca.numa_node);
}

JsonObject gpu_json(const GpuChoice& gpu) {
  JsonObject out;
  out.put("gpu", gpu.gpu).put("numa_node", gpu.numa_node).put("cpus", gpu.cpus.text());
  out.put("nearest", JsonArray(gpu.nearest));
  if (gpu.path) out.put("path", path_class_name(*gpu.path));
  return out;
}

}  // namespace

JsonObject decision_json(const Decision& decision) {
  JsonObject out, env;
  JsonArray hcas, gpus, devices;
  out.put("schema", "topoguard.decision/1").put("transport", transport_name(decision.transport));
  out.put("socket", socket_json(decision.socket));
  for (const HcaChoice& hca : decision.hcas) hcas.add(hca_json(hca));
  out.put("ib", JsonObject().put("hcas", hcas));
  for (const auto& [name, text] : decision.env) env.put(name, text);
  out.put("env", env);
  if (!decision.fallback.empty()) out.put("fallback", decision.fallback);
  for (const GpuChoice& gpu : decision.gpus) gpus.add(gpu_json(gpu));
  out.put("gpus", gpus);
  for (const DeviceVerdict& device : decision.devices)
    devices.add(JsonObject()
                    .put("kind", device_kind_name(device.kind))
                    .put("name", device.name)
                    .put("verdict", verdict_name(device.verdict))
                    .put("reason", device.reason)
                    .put("detail", device.detail));
  return out.put("devices", devices);
}

JsonArray findings_json(const std::vector<Finding>& findings) {
  JsonArray out;
  for (const Finding& finding : findings) {
    JsonObject item;
    item.put("severity", severity_name(finding.severity)).put("code", finding.code);
    if (!finding.device.empty()) item.put("device", finding.device);
    out.add(item.put("message", finding.message).put("remedy", finding.remedy));
  }
  return out;
}

}  // namespace topoguard
