// SPDX-License-Identifier: Apache-2.0
// Whether this host has an RDMA device (InfiniBand, RoCE, and others that the kernel knows as such).
#include "join/net/rdma_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <system_error>
#include <vector>

namespace nacre::net {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder, in the order of their names; none when there is no such folder.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    result.push_back(each->path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string first_line_of(const fs::path& file) {
  std::string result;
  std::getline(std::ifstream(file) >> std::ws, result);
  return result;
}

bool has_port_in_use(const fs::path& device) {
  const auto ports = entries_of(device / "ports");
  return std::any_of(ports.begin(), ports.end(),
                     [](const fs::path& port) { return first_line_of(port / "state").ends_with("ACTIVE"); });
}

}  // namespace

std::optional<std::string> find_rdma_device(const rdma_places& rdma_places) {
  for (const fs::path& verbs : entries_of(rdma_places.classes / "infiniband_verbs")) {
    const std::string device = first_line_of(verbs / "ibdev");
    if (device.empty() || !has_port_in_use(rdma_places.classes / "infiniband" / device)) continue;
    if (::access((rdma_places.nodes / verbs.filename()).c_str(), R_OK | W_OK) == 0) return device;
  }
  return std::nullopt;
}

}  // namespace nacre::net
