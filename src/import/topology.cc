// SPDX-License-Identifier: Apache-2.0
// An NCCL topology file: <system> <cpu numaid affinity> <pci busid class link_speed link_width> ... <gpu>, <nic> <net>.
// Elements and attributes as NCCL 2.18 to 2.30 reads them (graph/xml.cc, graph/topo.cc).
#include <tinyxml2.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "import/problems.h"

namespace topoguard::import {
namespace {

using Element = tinyxml2::XMLElement;

constexpr int kMaxDepth = 32;  // NCCL's own files have seven levels

struct Reader {
  Problems& problems;
  Imported& out;
  HostSnapshot& host;
  std::set<std::string> seen;
};

struct Context {
  std::optional<int> node;
  std::optional<CpuSet> cpus;
  std::optional<std::string> pci;
};

std::string_view attribute(const Element& element, const char* name) {
  const char* value = element.Attribute(name);
  return value == nullptr ? "" : value;
}

bool is_bus_id(std::string_view id) {
  // domain:bus:device.function in hexadecimal digits
  int colons = 0, dots = 0;
  for (const char c : id) {
    if (c == ':')
      ++colons;
    else if (c == '.')
      ++dots;
    else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
      return false;
  }
  return colons == 2 && dots == 1 && id.size() >= 10 && id.size() <= 16;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "16.0 GT/s PCIe", "32 GT/s PCIe/s", "": the leading number.
std::optional<double> transfer_rate(std::string_view text) {
  // g++ 10 has no from_chars for floating point
  const std::string copy(text.substr(0, 16));
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !(value > 0) || value > 1000) return std::nullopt;
  return value;
}

void add_gpu(Reader& reader, const Context& context, int wanted) {
  auto& gpus = reader.host.gpus;
  if (!gpus) gpus.emplace();
  if (std::any_of(gpus->begin(), gpus->end(), [&](const Gpu& g) { return g.pci == context.pci; })) return;
  Gpu gpu;
  gpu.index = wanted >= 0 ? wanted : static_cast<int>(gpus->size());
  gpu.pci = context.pci;
  gpu.numa_node = context.node;
  gpus->push_back(std::move(gpu));
}

void read_net(Reader& reader, const Element& net, const Context& context) {
  const std::string_view name = attribute(net, "name");
  const int port = number(attribute(net, "port"));
  if (name.empty() || port < 1 || port > 255) {
    // port 0: an entry of the Socket transport, whose interface `ip addr` describes better
    if (port != 0) reader.problems.add(net.GetLineNum(), "a net with name and port", name);
    return;
  }
  auto& rdma = reader.host.rdma;
  if (!rdma) rdma.emplace();
  auto device = std::find_if(rdma->begin(), rdma->end(), [&](const RdmaDevice& d) { return d.name == name; });
  if (device == rdma->end()) {
    rdma->emplace_back();
    device = rdma->end() - 1;
    device->name = name;
  }
  if (!device->pci) device->pci = context.pci;
  if (!device->numa_node) device->numa_node = context.node;
  if (std::none_of(device->ports.begin(), device->ports.end(), [&](const RdmaPort& p) { return p.port == port; })) {
    RdmaPort fresh;
    fresh.port = port;
    if (const int mbps = number(attribute(net, "speed")); mbps > 0) fresh.rate_gbps = mbps / 1000.0;
    device->ports.push_back(std::move(fresh));
  }
  ++reader.out.used;
}

void read_children(Reader& reader, const Element& parent, const Context& context, int depth);

void read_pci(Reader& reader, const Element& element, const Context& context, int depth) {
  const std::string id = lower(attribute(element, "busid"));
  Context below = context;
  if (!is_bus_id(id)) {
    reader.problems.add(element.GetLineNum(), "busid=\"0000:17:00.0\"", attribute(element, "busid"));
  } else if (!reader.seen.insert(id).second) {
    reader.problems.add(element.GetLineNum(), "each busid once", id);
  } else {
    PciDevice device;
    device.id = id;
    device.parent = context.pci;
    if (const auto text = attribute(element, "class"); !text.empty()) device.device_class = lower(text);
    device.numa_node = context.node;
    device.local_cpus = context.cpus;
    device.link_gts = transfer_rate(attribute(element, "link_speed"));
    if (const int width = number(attribute(element, "link_width")); width > 0) device.link_width = width;
    below.pci = id;
    // 3D controller or VGA (PCI Code and ID Assignment); <gpu> says the same in dumped files
    const bool gpu = device.device_class &&
                     (device.device_class->rfind("0x0302", 0) == 0 || device.device_class->rfind("0x0300", 0) == 0);
    if (!reader.host.pci) reader.host.pci.emplace();
    reader.host.pci->push_back(std::move(device));
    ++reader.out.used;
    if (gpu) {
      const Element* dumped = element.FirstChildElement("gpu");
      add_gpu(reader, below, dumped == nullptr ? -1 : number(attribute(*dumped, "dev")));
    }
  }
  read_children(reader, element, below, depth);
}

void read_cpu(Reader& reader, const Element& element, Context context, int depth) {
  const int node = number(attribute(element, "numaid"));
  const auto mask = CpuSet::parse_mask(attribute(element, "affinity"));
  if (node < 0) {
    if (attribute(element, "numaid") != "-1")
      reader.problems.add(element.GetLineNum(), "numaid=\"0\"", attribute(element, "numaid"));
  } else {
    context.node = node;
    context.cpus = mask;
    if (!reader.host.numa) reader.host.numa.emplace();
    reader.host.numa->push_back({node, mask.value_or(CpuSet()), std::nullopt});
    ++reader.out.used;
  }
  if (!mask && !attribute(element, "affinity").empty())
    reader.problems.add(element.GetLineNum(), "a mask of 32-bit words such as affinity=\"0000ffff,ffffffff\"",
                        attribute(element, "affinity"));
  read_children(reader, element, context, depth);
}

void read_children(Reader& reader, const Element& parent, const Context& context, int depth) {
  if (depth >= kMaxDepth) {
    reader.problems.add(parent.GetLineNum(), "at most 32 levels", parent.Name());
    return;
  }
  for (const Element* child = parent.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    const std::string_view name = child->Name();
    if (name == "cpu")
      read_cpu(reader, *child, context, depth + 1);
    else if (name == "pci")
      read_pci(reader, *child, context, depth + 1);
    else if (name == "net")
      read_net(reader, *child, context);
    else if (name == "nic")
      read_children(reader, *child, context, depth + 1);
    // gpu, nvlink, c2c, ...: nothing that a snapshot holds
  }
}

int line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

void read_topology(std::string_view text, Problems& problems, Imported& out, HostSnapshot& host) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || text[i] == '\0') {
      problems.line_of(problems.file() + ":" + std::to_string(line_of(text, i)) +
                       ": expected UTF-8 text, found other bytes");
      return;
    }
    i += length;
  }
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    problems.line_of(problems.file() + ":" + std::to_string(std::max(1, document.ErrorLineNum())) +
                     ": expected an NCCL topology file (XML), found " +
                     printable(tinyxml2::XMLDocument::ErrorIDToName(document.ErrorID())));
    return;
  }
  const Element* system = document.FirstChildElement("system");
  if (system == nullptr) {
    const Element* root = document.RootElement();
    problems.add(root == nullptr ? 1 : root->GetLineNum(), "<system>", root == nullptr ? "no element" : root->Name());
    return;
  }
  Reader reader{problems, out, host, {}};
  for (const PciDevice& device : known(host.pci)) reader.seen.insert(device.id);
  read_children(reader, *system, {}, 0);
}

}  // namespace topoguard::import
