// SPDX-License-Identifier: Apache-2.0
#include "document/document.h"
#include "document/write_common.h"

namespace topoguard {
namespace json {
namespace {

Ordered write_socket(const SocketChoice& socket) {
  Ordered out = {{"ifnames", socket.ifnames}};
  if (socket.family) out["family"] = nccl_family_name(*socket.family);
  Ordered& addresses = out["addresses"] = Ordered::object();
  for (const auto& [name, address] : socket.addresses) addresses[name] = address.text();
  return out;
}

Ordered write_hca(const HcaChoice& hca) {
  Ordered out = {{"name", hca.name}, {"port", hca.port}};
  if (!hca.link_layer.empty()) out["link_layer"] = hca.link_layer;
  out["gid_index"] = hca.gid_index ? Ordered(*hca.gid_index) : Ordered(nullptr);
  if (hca.gid) out["gid"] = hca.gid->text();
  put(out, "netdev", hca.netdev);
  put(out, "rate_gbps", hca.rate_gbps);
  put(out, "numa_node", hca.numa_node);
  return out;
}

Ordered write_gpu(const GpuChoice& gpu) {
  Ordered out = {{"gpu", gpu.gpu}};
  put(out, "numa_node", gpu.numa_node);
  out["cpus"] = gpu.cpus.text();
  out["nearest"] = gpu.nearest;
  if (gpu.path) out["path"] = path_class_name(*gpu.path);
  return out;
}

}  // namespace
}  // namespace json

std::string write_decision(const Decision& decision, Layout layout) {
  using namespace json;
  Ordered out = {{"schema", "topoguard.decision/1"}, {"transport", transport_name(decision.transport)}};
  out["socket"] = write_socket(decision.socket);
  Ordered& hcas = out["ib"]["hcas"] = Ordered::array();
  for (const HcaChoice& hca : decision.hcas) hcas.push_back(write_hca(hca));
  Ordered& env = out["env"] = Ordered::object();
  for (const auto& [name, text] : decision.env) env[name] = text;
  if (!decision.fallback.empty()) out["fallback"] = decision.fallback;
  Ordered& gpus = out["gpus"] = Ordered::array();
  for (const GpuChoice& gpu : decision.gpus) gpus.push_back(write_gpu(gpu));
  Ordered& devices = out["devices"] = Ordered::array();
  for (const DeviceVerdict& device : decision.devices)
    devices.push_back({{"kind", device_kind_name(device.kind)},
                       {"name", device.name},
                       {"verdict", verdict_name(device.verdict)},
                       {"reason", device.reason},
                       {"detail", device.detail}});
  Ordered& findings = out["findings"] = Ordered::array();
  for (const Finding& finding : decision.findings) {
    Ordered item = {{"severity", severity_name(finding.severity)}, {"code", finding.code}};
    if (!finding.device.empty()) item["device"] = finding.device;
    item["message"] = finding.message;
    item["remedy"] = finding.remedy;
    findings.push_back(std::move(item));
  }
  return dump(out, layout);
}

}  // namespace topoguard
