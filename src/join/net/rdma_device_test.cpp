// SPDX-License-Identifier: Apache-2.0
// The RDMA devices that count, in folders that look like the kernel's.
#include "join/net/rdma_device.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace nacre::net {
namespace {

namespace fs = std::filesystem;

class rdma_devices : public testing::Test {
 protected:
  rdma_devices() {
    std::string pattern = (fs::temp_directory_path() / "nacre_test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
  }
  ~rdma_devices() override { fs::remove_all(root_); }

  /// Adds a device with one port, in the layout of sysfs.
  void add(const std::string& name, const std::string& node, const std::string& state) const {
    write(root_ / "class/infiniband_verbs" / node / "ibdev", name);
    write(root_ / "class/infiniband" / name / "ports/1/state", state);
  }
  void add_node(const std::string& node) const { write(root_ / "dev" / node, ""); }
  [[nodiscard]] std::optional<std::string> found() const {
    return find_rdma_device({.classes = root_ / "class", .nodes = root_ / "dev"});
  }

 private:
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  fs::path root_;
};

TEST_F(rdma_devices, that_have_a_port_in_use_and_may_be_opened_count) {
  EXPECT_EQ(found(), std::nullopt) << "a host without any has no such folders";
  add("mlx5_0", "uverbs0", "1: DOWN");
  add_node("uverbs0");
  EXPECT_EQ(found(), std::nullopt) << "nothing is connected";
  add("mlx5_1", "uverbs1", "4: ACTIVE");
  EXPECT_EQ(found(), std::nullopt) << "it is another process's: there is no node to open";
  add_node("uverbs1");
  EXPECT_EQ(found(), "mlx5_1");
  add("mlx5_0", "uverbs0", "4: ACTIVE");
  EXPECT_EQ(found(), "mlx5_0") << "the first of two";
}

TEST_F(rdma_devices, that_are_not_connected_do_not_count_whatever_their_state_is_called) {
  add_node("uverbs0");
  for (const char* state : {"1: DOWN", "2: INIT", "3: ARMED", "5: ACTIVE_DEFER", ""}) {
    add("mlx5_0", "uverbs0", state);
    EXPECT_EQ(found(), std::nullopt) << state;
  }
}

}  // namespace
}  // namespace nacre::net
