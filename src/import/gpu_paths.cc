// SPDX-License-Identifier: Apache-2.0
// The matrix of `nvidia-smi topo -m`: a heading with device names, a row per device, and since driver 525 a legend that
// says which HCA a NIC column is.
#include <algorithm>
#include <map>

#include "import/problems.h"

namespace topoguard::import {
namespace {

// Terminals underline the heading: ESC [ ... m
std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      while (i < text.size() && text[i] != 'm' && text[i] != '\n') ++i;
      if (i < text.size() && text[i] == '\n') out += '\n';
    } else {
      out += text[i];
    }
  }
  return out;
}

int gpu_number(std::string_view name) { return name.rfind("GPU", 0) == 0 ? number(name.substr(3)) : -1; }
bool is_nic_column(std::string_view name) { return name.rfind("NIC", 0) == 0 && number(name.substr(3)) >= 0; }

struct Cell {
  int line;
  int gpu;
  std::string column;
  std::string value;
};

void add_numa(HostSnapshot& host, int node, const CpuSet& cpus) {
  if (!host.numa) host.numa.emplace();
  for (const NumaNode& have : *host.numa)
    if (have.node == node) return;
  host.numa->push_back({node, cpus, std::nullopt});
}

// CPU list and NUMA node behind the matrix; either may be missing or N/A.
void read_affinity(const std::vector<std::string_view>& cells, std::size_t from, Gpu& gpu, HostSnapshot& host) {
  if (from + 1 >= cells.size()) return;
  const auto cpus = CpuSet::parse(cells[from]);
  const int node = number(cells[from + 1]);
  if (!cpus || cpus->empty() || node < 0) return;
  gpu.numa_node = node;
  add_numa(host, node, *cpus);
}

}  // namespace

void read_gpu_paths(std::string_view raw, Problems& problems, Imported& out, HostSnapshot& host) {
  const std::string text = without_escapes(raw);
  std::vector<std::string> columns;
  std::map<std::string, std::string> legend;
  std::vector<Cell> paths;
  bool in_legend = false;
  each_line(text, [&](std::string_view line, int at) {
    const auto cells = words(line);
    if (cells.empty()) return;
    if (cells.back() == "Legend:") {
      in_legend = true;
      return;
    }
    if (in_legend) {
      if (cells.size() == 2 && cells[0].back() == ':')
        legend[std::string(cells[0].substr(0, cells[0].size() - 1))] = cells[1];
      return;
    }
    if (columns.empty()) {
      // the heading ends before "CPU Affinity"
      for (const std::string_view cell : cells) {
        if (cell == "CPU" || cell == "NUMA") break;
        columns.emplace_back(cell);
      }
      if (gpu_number(columns.empty() ? "" : columns[0]) < 0) {
        problems.add(at, "a heading that begins with GPU0", line);
        columns.clear();
      }
      return;
    }
    const int gpu = gpu_number(cells[0]);
    const bool other_device = std::find(columns.begin(), columns.end(), cells[0]) != columns.end();
    if (gpu < 0 && other_device) return;  // a NIC's own row says nothing new
    if (gpu < 0 || cells.size() < columns.size() + 1) {
      problems.add(at, "GPU<n> and " + std::to_string(columns.size()) + " path classes", line);
      return;
    }
    if (!host.gpus) host.gpus.emplace();
    auto known_gpu = std::find_if(host.gpus->begin(), host.gpus->end(), [&](const Gpu& g) { return g.index == gpu; });
    if (known_gpu == host.gpus->end()) {
      Gpu fresh;
      fresh.index = gpu;
      host.gpus->push_back(fresh);
      known_gpu = host.gpus->end() - 1;
    }
    read_affinity(cells, columns.size() + 1, *known_gpu, host);
    ++out.used;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (gpu_number(columns[i]) < 0) paths.push_back({at, gpu, columns[i], std::string(cells[i + 1])});
  });
  if (columns.empty())
    problems.add(1, "a heading that begins with GPU0", std::string_view(text).substr(0, text.find('\n')));
  for (const Cell& cell : paths) {
    const auto named = legend.find(cell.column);
    if (is_nic_column(cell.column) && named == legend.end()) {
      problems.add(cell.line, "a NIC Legend that names " + cell.column, cell.column);
      continue;
    }
    const auto path = parse_path_class(cell.value);
    if (!path) {
      problems.add(cell.line, "PIX, PXB, PHB, NODE or SYS under " + printable(cell.column, 40), cell.value);
      continue;
    }
    if (!host.paths) host.paths.emplace();
    host.paths->push_back({cell.gpu, named == legend.end() ? cell.column : named->second, *path});
    ++out.used;
  }
}

}  // namespace topoguard::import
