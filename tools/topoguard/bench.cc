// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "bench/report.h"
#include "bench/source.h"
#include "check/nccl_here.h"
#include "command.h"
#include "document/printable.h"
#include "host/process_env.h"
#include "io.h"
#include "library_folder.h"

namespace topoguard::cli {
namespace {

struct Options {
  bench::Request request;
  std::string net = "topoguard", traffic = "both";
  std::vector<std::string> compared, sizes{"8", "4K", "64K", "1M", "4M", "64M"};
  std::string libnccl, plugin, listen, connect, bytes = "64M", output;
  double wait = 120;
  bool json = false;
};

std::string nccl_file(const Options& options) {
  if (!options.libnccl.empty()) return options.libnccl;
  const auto found = check::find_libnccl(Sources(), live_variable("LD_LIBRARY_PATH").value_or(""));
  if (!found) throw std::runtime_error("no libnccl.so.2 is found here; name one with --libnccl");
  return *found;
}

// On a terminal only; it is wiped away by what comes next.
void show_progress(const std::string& what) {
  if (::isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

bench::Request request_of(const Options& options) {
  bench::Request request = options.request;
  request.compare = !options.compared.empty();
  request.ping_pong = options.traffic != "stream";
  request.stream = options.traffic != "ping-pong";
  const auto bytes = bench::parse_size(options.bytes);
  if (!bytes) throw std::invalid_argument("--bytes: expected a number with K, M or G, at most 1G");
  request.bytes = *bytes;
  for (const std::string& text : options.sizes) {
    const auto size = bench::parse_size(text);
    if (!size) throw std::invalid_argument("--sizes: '" + text + "' is no size: 8, 64K, 4M, at most 1G");
    request.sizes.push_back(*size);
  }
  return request;
}

int run_bench(const Options& options) {
  bench::Result result;
  result.request = request_of(options);
  const bench::Nccl nccl(nccl_file(options));
  const std::string folder = library_folder("");
  const std::string plugin = !options.plugin.empty() ? options.plugin : folder.empty() ? "" : folder + kNetPlugin;
  const auto sources = options.compared.empty() ? std::vector<std::string>{options.net} : options.compared;
  bench::Nets nets;
  for (const std::string& source : sources) {
    nets.push_back(bench::open_source(nccl, source, plugin));
    result.nets.push_back({source, nets.back()->name(), nets.back()->api(), nets.back()->devices()});
  }
  if (!options.listen.empty()) {
    bench::serve(nets, bench::Wire::listen(options.listen, options.wait));
    return kClean;
  }
  result.two_processes = !options.connect.empty();
  const auto runner = result.two_processes ? bench::run_with(nets, bench::Wire::connect(options.connect, options.wait))
                                           : bench::run_here(nets);
  result.rows = bench::measure(*runner, result.request, show_progress);
  show_progress("");
  result.nccl_path = nccl.path();
  result.nccl_release = nccl.release();
  result.same_functions = nets.size() == 2 && nets[0]->data_slots() == nets[1]->data_slots();
  ::getloadavg(&result.load, 1);
  result.processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return write_text(options.json ? bench::bench_json(result) : bench::bench_text(result), options.output) ? kClean
                                                                                                          : kBadInput;
}

int run_and_explain(const Options& options) {
  try {
    return run_bench(options);
  } catch (const std::invalid_argument& error) {
    complain("bench: " + printable(error.what(), 500));
    return kBadInput;
  } catch (const std::exception& error) {
    show_progress("");
    complain("bench: " + printable(error.what(), 500));
    return kErrors;
  }
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  bench::Request& request = options->request;
  CLI::App* command = app.add_subcommand(
      "bench",
      "Drive a network transport by NCCL's own net API: latency, bandwidth, CPU; two of them in turn with --ab");
  command->add_option("--net", options->net,
                      "Socket or IB (NCCL's own), topoguard (its wrap of them, the default), or a net plugin's file");
  command
      ->add_option("--ab", options->compared, "Two of these in turn, with A against itself beside it: Socket,topoguard")
      ->delimiter(',')
      ->expected(2);
  command->add_option("--libnccl", options->libnccl, "The libnccl.so.2 to use, where the linker would not find it");
  command->add_option("--plugin", options->plugin,
                      "The file that `topoguard` stands for; else the one beside this program");
  command->add_option("--listen", options->listen, "Be the other end for one --connect: [HOST]:PORT")
      ->group("Two processes");
  command->add_option("--connect", options->connect, "Measure against the process that listens there: HOST:PORT")
      ->excludes("--listen")
      ->group("Two processes");
  command->add_option("--wait", options->wait, "Seconds to wait for the other process (default 120)")
      ->check(CLI::Range(1.0, 3600.0))
      ->group("Two processes");
  command->add_option("--sizes", options->sizes, "Message sizes (default 8,4K,64K,1M,4M,64M)")->delimiter(',');
  command->add_option("--traffic", options->traffic, "ping-pong, stream or both (default)")
      ->check(CLI::IsMember({"ping-pong", "stream", "both"}));
  command->add_option("--rounds", request.rounds, "Samples, each with fresh connections (default 10)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--bytes", options->bytes, "Of one sample of a stream (default 64M)");
  command->add_option("--round-trips", request.round_trips, "Of one sample of a ping-pong (default 1000)")
      ->check(CLI::Range(4, 1000000));
  command->add_option("--connections", request.plan.connections, "Of a stream, dealt over the devices (default 1)")
      ->check(CLI::Range(1, bench::kMostConnections));
  command->add_option("--window", request.plan.window, "Requests in flight on a connection (default 8)")
      ->check(CLI::Range(1, bench::kMostInFlight));
  command->add_option("--device", request.plan.device, "This device of the transport alone; else all in turn")
      ->check(CLI::Range(0, 255));
  command->add_option("--memory", request.plan.memory, "host (default), cuda or cuda:N");
  command->add_option("--seed", request.plan.seed, "Of the bytes that are sent (default 1)");
  command->add_option("-o,--output", options->output, "Write to this file");
  command->add_flag("--json", options->json, "Write the document topoguard.bench/1");
  command->footer("Exit status: 0 measured, 2 it could not be (nothing to drive, the other end is away), 3 bad usage.");
  command->callback([&action, options] { action = [options] { return run_and_explain(*options); }; });
}

}  // namespace topoguard::cli
