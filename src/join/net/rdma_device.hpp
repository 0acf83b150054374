// SPDX-License-Identifier: Apache-2.0
// Whether this host has an RDMA device (InfiniBand, RoCE, and others that the kernel knows as such).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace nacre::net {

/// The folders where the kernel shows devices, and where processes open them.
struct rdma_places {
  std::filesystem::path classes = "/sys/class";
  std::filesystem::path nodes = "/dev/infiniband";
};

/// The name of a device, such as "mlx5_0", that has a port in use and that this process may open; nothing when there is
/// none. A container often shows the devices of its host, but no process in it may open them.
[[nodiscard]] std::optional<std::string> find_rdma_device(const rdma_places& rdma_places = {});

}  // namespace nacre::net
