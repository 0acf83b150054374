// SPDX-License-Identifier: Apache-2.0
// What ranks of several hosts find out they use between hosts.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nacre::transport::mixed
