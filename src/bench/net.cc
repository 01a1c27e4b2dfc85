// SPDX-License-Identifier: Apache-2.0
#include "bench/net.h"

#include <stdexcept>
#include <type_traits>

#include "wrap/api.h"

namespace topoguard::bench {
namespace {

constexpr int kTag = 7;

const char* meaning(tgnccl_result_t result) {
  switch (result) {
    case tgnccl_unhandled_cuda_error:
      return "a CUDA call failed. NCCL's Socket transport asks CUDA for the current device whenever it connects: "
             "without an NVIDIA driver and a GPU it cannot be driven";
    case tgnccl_system_error:
      return "a system call failed; NCCL_DEBUG=WARN shows which";
    case tgnccl_internal_error:
      return "an internal error; NCCL_DEBUG=WARN shows more";
    case tgnccl_invalid_argument:
      return "an argument was refused";
    case tgnccl_invalid_usage:
      return "refused as wrong usage";
    case tgnccl_remote_error:
      return "the other side is gone";
    default:
      return "an unknown result";
  }
}

void check(const char* call, tgnccl_result_t result) {
  if (result == tgnccl_success) return;
  throw std::runtime_error(std::string(call) + "() returned " + std::to_string(result) + ": " + meaning(result));
}

template <class Table>
class TableConnection : public Connection {
 public:
  TableConnection(Table* net, void* comm, bool sends) : net_(net), comm_(comm), sends_(sends) {}
  ~TableConnection() override { sends_ ? net_->close_send(comm_) : net_->close_recv(comm_); }

  void* remember(char* data, std::size_t size, int type) override {
    using Size = std::conditional_t<(kApi >= 8), std::size_t, int>;
    void* memory = nullptr;
    check("regMr", net_->reg_mr(comm_, data, static_cast<Size>(size), type, &memory));
    return memory;
  }
  void forget(void* memory) override { net_->dereg_mr(comm_, memory); }

  void* start(char* data, std::size_t size, void* memory) override {
    using Size = std::conditional_t<(kApi >= 9), std::size_t, int>;
    auto length = static_cast<Size>(size);
    void* request = nullptr;
    void* place = data;
    int tag = kTag;
    if constexpr (kApi >= 10) {
      void* event = nullptr;
      if (sends_)
        check("isend", net_->isend(comm_, place, length, tag, memory, event, &request));
      else
        check("irecv", net_->irecv(comm_, 1, &place, &length, &tag, &memory, &event, &request));
    } else if (sends_) {
      check("isend", net_->isend(comm_, place, length, tag, memory, &request));
    } else {
      check("irecv", net_->irecv(comm_, 1, &place, &length, &tag, &memory, &request));
    }
    return request;
  }

  std::optional<std::size_t> finished(void* request) override {
    int done = 0, size = 0;
    check("test", net_->test(request, &done, &size));
    if (done == 0) return std::nullopt;
    return static_cast<std::size_t>(size);
  }

 private:
  static constexpr int kApi = Api<Table>::kVersion;
  Table* net_;
  void* comm_;
  bool sends_;
};

template <class Table>
class TableListener : public Listener {
 public:
  TableListener(Table* net, void* context, int device) : net_(net) {
    if constexpr (kApi >= 11)
      check("listen", net_->listen(context, device, handle_.data(), &comm_));
    else
      check("listen", net_->listen(device, handle_.data(), &comm_));
  }
  ~TableListener() override { net_->close_listen(comm_); }

  const Handle& handle() const override { return handle_; }

  std::unique_ptr<Connection> poll() override {
    void* comm = nullptr;
    [[maybe_unused]] tgnccl_device_handle_t* offload = nullptr;
    if constexpr (kApi >= 7)
      check("accept", net_->accept(comm_, &comm, &offload));
    else
      check("accept", net_->accept(comm_, &comm));
    if (comm == nullptr) return nullptr;
    return std::make_unique<TableConnection<Table>>(net_, comm, false);
  }

 private:
  static constexpr int kApi = Api<Table>::kVersion;
  Table* net_;
  Handle handle_{};
  void* comm_ = nullptr;
};

// The handle is where connect() keeps its progress between polls: one copy, and always the same.
template <class Table>
class TableConnect : public Pending {
 public:
  TableConnect(Table* net, void* context, int device, const Handle& handle)
      : net_(net), context_(context), device_(device), handle_(handle) {}

  std::unique_ptr<Connection> poll() override {
    void* comm = nullptr;
    [[maybe_unused]] tgnccl_device_handle_t* offload = nullptr;
    if constexpr (kApi >= 11) {
      check("connect", net_->connect(context_, device_, handle_.data(), &comm, &offload));
    } else if constexpr (kApi == 10) {
      tgnccl_comm_config_t config{TGNCCL_TRAFFIC_CLASS_UNDEFINED};
      check("connect", net_->connect(device_, &config, handle_.data(), &comm, &offload));
    } else if constexpr (kApi >= 7) {
      check("connect", net_->connect(device_, handle_.data(), &comm, &offload));
    } else {
      check("connect", net_->connect(device_, handle_.data(), &comm));
    }
    if (comm == nullptr) return nullptr;
    return std::make_unique<TableConnection<Table>>(net_, comm, true);
  }

 private:
  static constexpr int kApi = Api<Table>::kVersion;
  Table* net_;
  void* context_;
  int device_;
  Handle handle_;
};

template <class Table>
class TableNet : public Net {
 public:
  TableNet(Table* net, tgnccl_logger_t logger) : net_(net) {
    if constexpr (kApi >= 11) {
      config_.traffic_class = TGNCCL_TRAFFIC_CLASS_UNDEFINED;
      check("init", net_->init(&context_, 1, &config_, logger, nullptr));
    } else if constexpr (kApi == 10) {
      check("init", net_->init(logger, nullptr));
    } else {
      check("init", net_->init(logger));
    }
    int count = 0;
    check("devices", net_->devices(&count));
    for (int device = 0; device < count; ++device) {
      typename Api<Table>::Properties properties{};
      check("getProperties", net_->get_properties(device, &properties));
      devices_.push_back({properties.name != nullptr ? properties.name : "?", properties.speed,
                          (properties.ptr_support & TGNCCL_PTR_CUDA) != 0});
    }
  }
  ~TableNet() override {
    if constexpr (kApi >= 11) net_->finalize(context_);
  }

  int api() const override { return kApi; }
  std::string name() const override { return net_->name; }
  const std::vector<NetDevice>& devices() const override { return devices_; }

  std::unique_ptr<Listener> listen(int device) override {
    return std::make_unique<TableListener<Table>>(net_, context_, device);
  }
  std::unique_ptr<Pending> connect(int device, const Handle& handle) override {
    return std::make_unique<TableConnect<Table>>(net_, context_, device, handle);
  }
  std::array<const void*, 4> data_slots() const override {
    return {reinterpret_cast<const void*>(net_->isend), reinterpret_cast<const void*>(net_->irecv),
            reinterpret_cast<const void*>(net_->iflush), reinterpret_cast<const void*>(net_->test)};
  }

 private:
  static constexpr int kApi = Api<Table>::kVersion;
  Table* net_;
  void* context_ = nullptr;
  tgnccl_comm_config_t config_{};
  std::vector<NetDevice> devices_;
};

template <class Table>
std::unique_ptr<Net> opened(void* table, tgnccl_logger_t logger) {
  return std::make_unique<TableNet<Table>>(static_cast<Table*>(table), logger);
}

}  // namespace

std::unique_ptr<Net> open_table(void* table, int api, tgnccl_logger_t logger) {
  switch (api) {
    case 6:
      return opened<tgnccl_net_v6_t>(table, logger);
    case 7:
      return opened<tgnccl_net_v7_t>(table, logger);
    case 8:
      return opened<tgnccl_net_v8_t>(table, logger);
    case 9:
      return opened<tgnccl_net_v9_t>(table, logger);
    case 10:
      return opened<tgnccl_net_v10_t>(table, logger);
    case 11:
      return opened<tgnccl_net_v11_t>(table, logger);
    case 12:
      return opened<tgnccl_net_v12_t>(table, logger);
    default:
      throw std::runtime_error("net API v" + std::to_string(api) + " is not known; v6 to v12 are");
  }
}

}  // namespace topoguard::bench
