// SPDX-License-Identifier: Apache-2.0
// The log's lines about connections, for people. Pure functions; without "topoguard: " and line ends.
#pragma once

#include <string>
#include <string_view>

#include "record/record.h"
#include "topoguard/snapshot.h"

namespace topoguard::record {

/// "connection 3, sending: Socket on eth0 (10.0.0.1) to 10.0.0.2"
std::string connection_phrase(const Connection& connection);
/// "mlx5_0:1 GID 3 (::ffff:10.0.0.1)", "eth0 (10.0.0.1)"
std::string device_phrase(const Connection& connection);
/// What GPUDirect RDMA can come to on this connection: "GPUDirect possible by DMA-BUF", or "no GPUDirect: " and the
/// reason, as far as the device's properties and the host tell.
std::string gpudirect_phrase(const Connection& connection, const HostSnapshot& host);
/// "less than 0.1 ms", "0.4 ms", "12 ms", "3.2 s"
std::string duration_phrase(double seconds);
std::string_view side_name(Side side);      ///< "send", "recv"
std::string_view memory_name(Memory kind);  ///< "host", "CUDA", "DMA-BUF"

}  // namespace topoguard::record
