// SPDX-License-Identifier: Apache-2.0
// The promises of every backend with datagrams: at most once, unchanged, and beside messages that all come.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "transport/conformance/harness.hpp"
#include "transport/udp/losing_backend_test_kit.hpp"

namespace nacre::transport::conformance {
namespace {

constexpr std::uint32_t datagrams_to_each = 600;
constexpr std::uint32_t label_of_all = 0xfedcba98U;

std::byte byte_of(std::uint32_t number, std::size_t place) { return static_cast<std::byte>(number * 31 + place * 7); }

/// Sends numbered datagrams of mixed lengths to all other ranks, with a message behind each eighth of them. Done when
/// all messages of the others have come: those ask for nothing of the datagrams.
class datagram_sender final : public rank_script {
 public:
  progress step(endpoint& endpoint) override {
    bool moved = send_some(endpoint);
    message_list arrived;
    moved |= endpoint.poll(arrived, 64);
    while (const message_ptr m = arrived.pop_front()) {
      EXPECT_EQ(m->header.sequence, next_message_[m->header.source]++) << "messages are reliable and in order";
      ++messages;
    }
    while (const auto next = endpoint.datagrams()->take()) check(endpoint, *next);
    if (sent_ == datagrams_to_each && messages == messages_expected(endpoint)) return progress::done;
    return moved ? progress::moving : progress::idle;
  }
  std::size_t messages = 0;
  std::size_t came = 0;
  std::size_t dropped_here = 0;

 private:
  static std::size_t messages_expected(const endpoint& endpoint) {
    return (endpoint.size() - 1) * (datagrams_to_each / 8);
  }

  /// A round leaves when all messages of the others' earlier rounds have come, so that no socket overflows.
  bool send_some(endpoint& endpoint) {
    if (sent_ == datagrams_to_each || messages < (endpoint.size() - 1) * (sent_ / 8)) return false;
    datagram_service& service = *endpoint.datagrams();
    for (std::uint32_t i = 0; i < 8; ++i, ++sent_) {
      const std::size_t longest = std::min<std::size_t>(service.bytes_max(), 9000);
      const std::size_t bytes = sent_ % 50 == 0 ? longest : sizeof sent_ + sent_ * 37 % 1000;
      std::vector<std::byte> content(bytes);
      for (std::size_t index = sizeof sent_; index < bytes; ++index) content[index] = byte_of(sent_, index);
      std::memcpy(content.data(), &sent_, sizeof sent_);
      for (std::uint32_t target = 0; target < endpoint.size(); ++target) {
        if (rank_id(target) == endpoint.rank()) continue;
        if (!service.send(rank_id(target), label_of_all - endpoint.rank().value(), content)) ++dropped_here;
      }
    }
    for (std::uint32_t target = 0; target < endpoint.size(); ++target) {
      if (rank_id(target) == endpoint.rank()) continue;
      message_list batch;
      batch.push_back(make_message(8));
      batch.front()->header.source = endpoint.rank().value();
      batch.front()->header.sequence = sent_ / 8 - 1;
      std::memset(batch.front()->body(), 0, 8);
      endpoint.submit(rank_id(target), batch);
      EXPECT_TRUE(batch.empty());
    }
    return true;
  }
  void check(const endpoint& endpoint, const received_datagram& datagram) {
    ASSERT_NE(datagram.source, endpoint.rank());
    ASSERT_LT(datagram.source.value(), endpoint.size());
    EXPECT_EQ(datagram.label, label_of_all - datagram.source.value());
    std::uint32_t number = 0;
    ASSERT_GE(datagram.bytes.size(), sizeof number);
    std::memcpy(&number, datagram.bytes.data(), sizeof number);
    ASSERT_LT(number, datagrams_to_each);
    EXPECT_TRUE(seen_.emplace(datagram.source.value(), number).second) << "datagram " << number << " came twice";
    for (std::size_t index = sizeof number; index < datagram.bytes.size(); ++index)
      ASSERT_EQ(datagram.bytes[index], byte_of(number, index));
    ++came;
  }

  std::uint32_t sent_ = 0;
  std::vector<std::uint32_t> next_message_ = std::vector<std::uint32_t>(64);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

/// Of all datagrams that the job sends, how many come.
double share_that_comes(const subject& subject) {
  job all(subject);
  rank_scripts scripts;
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) scripts.push_back(std::make_unique<datagram_sender>());
  all.run(scripts);
  std::size_t came = 0;
  for (const auto& each : scripts) {
    const auto& sender = static_cast<const datagram_sender&>(*each);
    EXPECT_EQ(sender.messages, (all.size() - 1) * (datagrams_to_each / 8)) << "all messages come";
    EXPECT_EQ(sender.dropped_here, 0U);
    came += sender.came;
  }
  return static_cast<double>(came) / (double{datagrams_to_each} * all.size() * (all.size() - 1));
}

class datagrams : public ::testing::TestWithParam<subject> {};
INSTANTIATE_TEST_SUITE_P(every_backend, datagrams, ::testing::ValuesIn(every_backend_with({2, 3})),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(datagrams, are_offered_where_they_are_declared_and_state_their_longest) {
  job all(GetParam());
  datagram_service* const service = all.at(0).datagrams();
  ASSERT_EQ(service != nullptr, all.declared().datagrams);
  if (service == nullptr) GTEST_SKIP() << "datagrams is not declared";
  EXPECT_GE(service->bytes_max(), 1000U);
  EXPECT_FALSE(service->sends_to(rank_id(0))) << "the own rank gets none";
  EXPECT_FALSE(service->sends_to(rank_id(all.size())));
  EXPECT_TRUE(service->sends_to(rank_id(1)));
  EXPECT_FALSE(service->take());
  const std::vector<std::byte> longer(service->bytes_max() + 1);
  EXPECT_DEATH(static_cast<void>(service->send(rank_id(1), 1, longer)), "bytes_max");
}

TEST_P(datagrams, come_once_and_unchanged_between_all_ranks_beside_messages) {
  {
    job all(GetParam());
    if (!all.declared().datagrams) GTEST_SKIP() << "datagrams is not declared";
  }
  EXPECT_EQ(share_that_comes(GetParam()), 1) << "nothing on this path loses any";
}

TEST(lossy_datagrams, are_lost_as_often_as_the_path_loses_while_all_messages_come) {
  const std::pair<const backend*, double> paths[]{
      {&udp::losing_backend<1>(), 0.99}, {&udp::losing_backend<10>(), 0.9}, {&udp::losing_backend<30>(), 0.7}};
  for (const auto& [row, expected] : paths) {
    EXPECT_NEAR(share_that_comes({.row = row, .ranks = 3}), expected, 0.04) << row->name;
  }
}

}  // namespace
}  // namespace nacre::transport::conformance
