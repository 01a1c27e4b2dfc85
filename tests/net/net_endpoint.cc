// SPDX-License-Identifier: Apache-2.0
#include "net_endpoint.h"

#include <dlfcn.h>
#include <sched.h>

#include <stdexcept>
#include <type_traits>

#include "wrap/api.h"

namespace rig {
namespace {

constexpr std::size_t kHandleSize = 128;
constexpr int kHostMemory = 1;  // NCCL_PTR_HOST

void check(const char* call, tgnccl_result_t result) {
  if (result != tgnccl_success) throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
}

template <class Table>
constexpr int api = topoguard::Api<Table>::kVersion;

template <class Table>
class NetConnection : public Connection {
 public:
  NetConnection(Table* net, void* comm, bool sends, std::size_t buffer_size)
      : net_(net), comm_(comm), sends_(sends), buffer_(buffer_size) {
    using Size = std::conditional_t<(api<Table> >= 8), std::size_t, int>;
    check("regMr", net_->reg_mr(comm_, buffer_.data(), static_cast<Size>(buffer_.size()), kHostMemory, &memory_));
  }
  ~NetConnection() override {
    net_->dereg_mr(comm_, memory_);
    sends_ ? net_->close_send(comm_) : net_->close_recv(comm_);
  }

  char* buffer() override { return buffer_.data(); }

  void transfer(std::size_t size) override {
    void* request = nullptr;
    while (request == nullptr) {
      start(size, &request);
      if (request == nullptr) sched_yield();
    }
    int done = 0, moved = 0;
    while (done == 0) {
      check("test", net_->test(request, &done, &moved));
      if (done == 0) sched_yield();
    }
    if (static_cast<std::size_t>(moved) != size) {
      throw std::runtime_error(std::to_string(moved) + " bytes moved of " + std::to_string(size));
    }
  }

 private:
  void start(std::size_t size, void** request) {
    constexpr int kTag = 7;
    int tag = kTag;
    void* data = buffer_.data();
    std::conditional_t<(api<Table> >= 9), std::size_t, int> length = 0;
    length = static_cast<decltype(length)>(size);
    if constexpr (api<Table> >= 10) {
      void* event = nullptr;
      if (sends_)
        check("isend", net_->isend(comm_, data, length, kTag, memory_, event, request));
      else
        check("irecv", net_->irecv(comm_, 1, &data, &length, &tag, &memory_, &event, request));
    } else if (sends_) {
      check("isend", net_->isend(comm_, data, length, kTag, memory_, request));
    } else {
      check("irecv", net_->irecv(comm_, 1, &data, &length, &tag, &memory_, request));
    }
  }

  Table* net_;
  void* comm_;
  bool sends_;
  std::vector<char> buffer_;
  void* memory_ = nullptr;
};

template <class Table>
class NetListener : public Listener {
 public:
  NetListener(Table* net, void* context, int device) : net_(net), handle_(kHandleSize, '\0') {
    if constexpr (api<Table> >= 11) {
      check("listen", net_->listen(context, device, handle_.data(), &comm_));
    } else {
      check("listen", net_->listen(device, handle_.data(), &comm_));
    }
  }
  ~NetListener() override { net_->close_listen(comm_); }

  const Handle& handle() const override { return handle_; }

  std::unique_ptr<Connection> accept(std::size_t buffer_size) override {
    void* comm = nullptr;
    tgnccl_device_handle_t* device_handle = nullptr;
    while (comm == nullptr) {
      if constexpr (api<Table> >= 7)
        check("accept", net_->accept(comm_, &comm, &device_handle));
      else
        check("accept", net_->accept(comm_, &comm));
      if (comm == nullptr) sched_yield();
    }
    return std::make_unique<NetConnection<Table>>(net_, comm, false, buffer_size);
  }

 private:
  Table* net_;
  Handle handle_;
  void* comm_ = nullptr;
};

template <class Table>
class Net : public NetEndpoint {
 public:
  Net(Table* net, tgnccl_logger_t logger) : net_(net) {
    if constexpr (api<Table> >= 11) {
      config_.traffic_class = -1;
      check("init", net_->init(&context_, 1, &config_, logger, nullptr));
    } else if constexpr (api<Table> == 10) {
      check("init", net_->init(logger, nullptr));
    } else {
      check("init", net_->init(logger));
    }
  }
  ~Net() override {
    if constexpr (api<Table> >= 11) net_->finalize(context_);
  }

  std::vector<NetDevice> devices() override {
    int count = 0;
    check("devices", net_->devices(&count));
    std::vector<NetDevice> devices;
    for (int device = 0; device < count; ++device) {
      Properties properties{};
      check("getProperties", net_->get_properties(device, &properties));
      devices.push_back({properties.name, properties.speed});
    }
    return devices;
  }

  std::unique_ptr<Listener> listen(int device) override {
    return std::make_unique<NetListener<Table>>(net_, context_, device);
  }

  // The handle is where connect() keeps its progress between polls: one copy, and always the same.
  std::unique_ptr<Connection> connect(int device, Handle handle, std::size_t buffer_size) override {
    void* comm = nullptr;
    tgnccl_device_handle_t* device_handle = nullptr;
    while (comm == nullptr) {
      if constexpr (api<Table> >= 11) {
        check("connect", net_->connect(context_, device, handle.data(), &comm, &device_handle));
      } else if constexpr (api<Table> == 10) {
        check("connect", net_->connect(device, &config_, handle.data(), &comm, &device_handle));
      } else if constexpr (api<Table> >= 7) {
        check("connect", net_->connect(device, handle.data(), &comm, &device_handle));
      } else {
        check("connect", net_->connect(device, handle.data(), &comm));
      }
      if (comm == nullptr) sched_yield();
    }
    return std::make_unique<NetConnection<Table>>(net_, comm, true, buffer_size);
  }

 private:
  using Properties = typename topoguard::Api<Table>::Properties;

  Table* net_;
  void* context_ = nullptr;
  tgnccl_comm_config_t config_{};
};

void* find_table(const NcclLibrary& library, const std::string& source, const char* exported_name) {
  if (source == "Socket") return library.local_symbol("ncclNetSocket");
  if (source == "IB") return library.local_symbol("ncclNetIb");
  void* plugin = dlopen(source.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) throw std::runtime_error(dlerror());
  return dlsym(plugin, exported_name);
}

template <class Table>
std::unique_ptr<NetEndpoint> open_table(const NcclLibrary& library, const std::string& source) {
  const std::string exported_name = "ncclNetPlugin_v" + std::to_string(api<Table>);
  auto* table = static_cast<Table*>(find_table(library, source, exported_name.c_str()));
  if (table == nullptr) throw std::runtime_error(source + " has no " + exported_name);
  // NCCL's own logger: a plugin may ask which NCCL object it belongs to.
  auto logger = reinterpret_cast<tgnccl_logger_t>(library.local_symbol("_Z12ncclDebugLog"));
  if (logger == nullptr) throw std::runtime_error("libnccl has no ncclDebugLog in its symbol table");
  return std::make_unique<Net<Table>>(table, logger);
}

}  // namespace

std::unique_ptr<NetEndpoint> open_net(const NcclLibrary& library, const std::string& source) {
  const int release = library.version() / 100;
  if (release == 218) return open_table<tgnccl_net_v6_t>(library, source);
  if (release == 219) return open_table<tgnccl_net_v7_t>(library, source);
  if (release >= 220 && release <= 223) return open_table<tgnccl_net_v8_t>(library, source);
  if (release == 224 || release == 225) return open_table<tgnccl_net_v9_t>(library, source);
  if (release == 226 || release == 227) return open_table<tgnccl_net_v10_t>(library, source);
  if (release == 228 || release == 229) return open_table<tgnccl_net_v11_t>(library, source);
  if (release >= 230 && release <= 232) return open_table<tgnccl_net_v12_t>(library, source);
  throw std::runtime_error("no net table is known for NCCL " + std::to_string(library.version()));
}

}  // namespace rig
