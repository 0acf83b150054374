// SPDX-License-Identifier: Apache-2.0
// The transport that ranks of several hosts agree upon between hosts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "transport/mixed/fabric.hpp"

namespace nacre::transport::mixed {
namespace {

using wishes = std::vector<wish>;

TEST(ranks_of_several_hosts, use_ucx_when_all_want_it_or_all_that_do_not_care_have_a_device) {
  EXPECT_TRUE(agree_on_ucx(wishes{wish::ucx, wish::ucx, wish::ucx}));
  EXPECT_TRUE(agree_on_ucx(wishes{wish::with_rdma, wish::with_rdma}));
  EXPECT_TRUE(agree_on_ucx(wishes{wish::ucx}));
  for (const wishes& all : {wishes{wish::tcp, wish::tcp}, wishes{wish::either, wish::either},
                            wishes{wish::either, wish::with_rdma}, wishes{wish::with_rdma, wish::either},
                            wishes{wish::with_rdma, wish::with_rdma, wish::either}, wishes{wish::tcp}}) {
    EXPECT_FALSE(agree_on_ucx(all)) << all.size();
  }
}

TEST(ranks_of_several_hosts, refuse_to_begin_with_different_wishes) {
  for (const wishes& all :
       {wishes{wish::tcp, wish::ucx}, wishes{wish::tcp, wish::with_rdma}, wishes{wish::either, wish::either, wish::ucx},
        wishes{wish::ucx, wish::ucx, wish::with_rdma}, wishes{wish::either, static_cast<wish>('?')}}) {
    try {
      static_cast<void>(agree_on_ucx(all));
      ADD_FAILURE() << "they agree";
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(all.size() - 1)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("auto.between"), std::string::npos);
    }
  }
}

TEST(ranks_of_several_hosts, that_live_in_one_process_use_ucx_when_they_want_it) {
  // A rank alone either fails to load the module, or waits in vain for the other.
  settings how;
  how.tcp.way.connect_timeout = std::chrono::milliseconds(10);
  how.ucx.modules = "/nowhere";
  for (const wish between : {wish::either, wish::ucx}) {
    how.between = between;
    local_fabric both(2, how);
    try {
      static_cast<void>(both.open(rank_id(0)));
      ADD_FAILURE() << "it has met nobody";
    } catch (const setup_error& error) {
      EXPECT_EQ(std::string(error.what()).find("no module for UCX") != std::string::npos, between == wish::ucx);
    }
  }
}

}  // namespace
}  // namespace nacre::transport::mixed
