// SPDX-License-Identifier: Apache-2.0
// The transport that ranks of several hosts agree upon between hosts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "transport/auto/fabric.hpp"

namespace nacre::transport::auto_transport {
namespace {

using preferences = std::vector<preference>;

TEST(ranks_of_several_hosts, use_ucx_when_all_want_it_or_all_that_do_not_care_have_a_device) {
  EXPECT_TRUE(agree_on_ucx(preferences{preference::ucx, preference::ucx, preference::ucx}));
  EXPECT_TRUE(agree_on_ucx(preferences{preference::with_rdma, preference::with_rdma}));
  EXPECT_TRUE(agree_on_ucx(preferences{preference::ucx}));
  for (const preferences& all :
       {preferences{preference::tcp, preference::tcp}, preferences{preference::either, preference::either},
        preferences{preference::either, preference::with_rdma}, preferences{preference::with_rdma, preference::either},
        preferences{preference::with_rdma, preference::with_rdma, preference::either}, preferences{preference::tcp},
        preferences{preference::udp, preference::udp}}) {
    EXPECT_FALSE(agree_on_ucx(all)) << all.size();
  }
}

TEST(ranks_of_several_hosts, refuse_to_begin_with_different_preferences) {
  for (const preferences& all :
       {preferences{preference::tcp, preference::ucx}, preferences{preference::tcp, preference::with_rdma},
        preferences{preference::either, preference::either, preference::ucx},
        preferences{preference::ucx, preference::ucx, preference::with_rdma},
        preferences{preference::udp, preference::tcp}, preferences{preference::either, preference::udp},
        preferences{preference::either, static_cast<preference>('?')}}) {
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
  settings settings;
  settings.tcp.join.connect_timeout = std::chrono::milliseconds(10);
  settings.ucx.modules = "/nowhere";
  for (const preference preference : {preference::either, preference::ucx}) {
    settings.far_transport = preference;
    local_fabric both(2, settings);
    try {
      static_cast<void>(both.open(rank_id(0)));
      ADD_FAILURE() << "it has met nobody";
    } catch (const setup_error& error) {
      EXPECT_EQ(std::string(error.what()).find("no module for UCX") != std::string::npos,
                preference == preference::ucx);
    }
  }
}

}  // namespace
}  // namespace nacre::transport::auto_transport
