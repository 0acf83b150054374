// SPDX-License-Identifier: Apache-2.0
// Segments and transfers without a network: random traffic against a model, and forgeries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <variant>
#include <vector>

#include <nacre/rng.hpp>

#include "am/memory_segments.hpp"
#include "am/memory_transfers.hpp"

namespace nacre {
namespace {

using detail::memory_access;
using detail::memory_name;
using intent = memory_segments::intent;
using piece = memory_transfers::piece;
using bytes = std::vector<std::byte>;

constexpr std::uint64_t big = std::numeric_limits<std::uint64_t>::max();

/// Ranks that put to and get from each other; their messages wait in a bag, out of which the seed draws.
class memory_machine {
 public:
  memory_machine(std::uint32_t ranks, std::uint64_t seed) : random_(seed) {
    for (std::uint32_t r = 0; r < ranks; ++r) sites_.emplace_back(rank_id(r));
    for (site& s : sites_) {
      s.memory.resize(slice * ranks);
      s.model = s.memory;
      s.exposed = s.segments.expose(s.memory, memory_access::read_write, {random_.next(), random_.next()});
    }
  }

  /// Each rank begins `count` transfers at random moments, in its own slice of a random rank's memory.
  void run(std::uint32_t count) {
    std::vector<std::uint32_t> left(sites_.size(), count);
    for (;;) {
      std::vector<std::uint32_t> able;
      for (std::uint32_t r = 0; r < sites_.size(); ++r) {
        if (left[r] != 0 && sites_[r].open.size() < 6) able.push_back(r);
      }
      if (able.empty() && bag_.empty()) return;
      const std::uint64_t choice = random_.below(able.size() * 4 + bag_.size());
      if (choice < able.size() * 4) {
        --left[able[choice / 4]];
        begin(sites_[able[choice / 4]]);
      } else {
        deliver(choice - able.size() * 4);
      }
    }
  }

  void expect_all_over() const {
    for (const site& s : sites_) {
      EXPECT_EQ(s.transfers.open(), 0U);
      EXPECT_EQ(s.transfers.in_flight(), 0U);
      EXPECT_EQ(s.memory, s.model);
    }
  }

  bool forge = false;
  std::uint64_t pieces = 0, forged = 0;

 private:
  static constexpr std::uint64_t slice = 140'000;
  struct operation {
    memory_transfer* transfer;
    std::uint32_t target;
    std::uint64_t offset;
    bytes local_memory;
  };
  struct site {
    explicit site(rank_id rank) : self(rank), segments(rank), transfers(memory_transfers::data_path::reply) {}
    rank_id self;
    memory_segments segments;
    memory_transfers transfers;
    bytes memory, model;
    memory_name exposed;
    std::vector<std::unique_ptr<operation>> open;
  };
  struct request {
    std::uint32_t source, target;
    piece requested;
    bytes data;
  };
  struct reply {
    std::uint32_t source, target;
    std::uint64_t token;
    memory_status status;
    bytes data;
  };

  [[nodiscard]] bool overlaps(const site& s, std::uint32_t target, std::uint64_t offset, std::uint64_t length) const {
    return std::any_of(s.open.begin(), s.open.end(), [&](const auto& each) {
      return each->target == target && offset < each->offset + each->local_memory.size() &&
             each->offset < offset + length;
    });
  }

  void begin(site& s) {
    const auto target = static_cast<std::uint32_t>(random_.below(sites_.size()));
    const std::uint64_t length = random_.below(random_.below(2) == 0 ? 200 : slice);
    const std::uint64_t offset = s.self.value() * slice + random_.below(slice - length + 1);
    if (overlaps(s, target, offset, length)) return;
    const bool writes = random_.below(2) == 0;
    auto op = std::make_unique<operation>(operation{nullptr, target, offset, bytes(length)});
    if (writes) {
      const std::uint64_t salt = random_.next();
      for (std::size_t index = 0; index < length; ++index)
        op->local_memory[index] = static_cast<std::byte>(index * 7 + salt);
    }
    op->transfer = new memory_transfer({.name = sites_[target].exposed,
                                        .direction = writes ? intent::write : intent::read,
                                        .offset = offset,
                                        .local_memory = op->local_memory});
    s.transfers.start(*op->transfer);
    s.open.push_back(std::move(op));
    pump(s, target);
  }

  void pump(site& s, std::uint32_t target) {
    while (const auto leaving = s.transfers.next(rank_id(target))) {
      ++pieces;
      ASSERT_LE(leaving->bytes, memory_transfers::piece_bytes_max);
      ASSERT_LE(in_flight_cost(s, target) + leaving->bytes + memory_transfers::piece_cost,
                memory_transfers::window_bytes);
      bytes data;
      if (leaving->transfer->what() == intent::write) {
        EXPECT_TRUE(leaving->transfer->with_own_memory([&](const std::byte* own_bytes) {
          data.assign(own_bytes + leaving->offset, own_bytes + leaving->offset + leaving->bytes);
        }));
      }
      bag_.push_back(request{s.self.value(), target, *leaving, std::move(data)});
    }
  }

  [[nodiscard]] std::uint64_t in_flight_cost(const site& s, std::uint32_t target) const {
    std::uint64_t sum = 0;
    for (const auto& each : bag_) {
      const auto* asked = std::get_if<request>(&each);
      const auto* answer = std::get_if<reply>(&each);
      if (asked != nullptr && asked->source == s.self.value() && asked->target == target)
        sum += asked->requested.bytes + 256;
      if (answer != nullptr && answer->target == s.self.value() && answer->source == target) sum += 256;
    }
    return sum;
  }

  void deliver(std::size_t index) {
    std::swap(bag_[index], bag_.back());
    auto flight = std::move(bag_.back());
    bag_.pop_back();
    if (auto* asked = std::get_if<request>(&flight)) {
      if (forge) send_forged_requests(*asked);
      serve(*asked);
    } else {
      auto& answer = std::get<reply>(flight);
      if (forge) send_forged_replies(answer);
      take(answer);
    }
  }

  void serve(const request& asked) {
    site& s = sites_[asked.target];
    const memory_transfer& transfer = *asked.requested.transfer;
    auto range = s.segments.access(transfer.name(), transfer.offset(), transfer.bytes(), transfer.what());
    ASSERT_TRUE(range) << describe(range.error());
    reply answer{asked.target, asked.source, asked.requested.token, memory_status::done, {}};
    const auto part = range->bytes().subspan(asked.requested.offset, asked.requested.bytes);
    if (transfer.what() == intent::write) {
      std::copy(asked.data.begin(), asked.data.end(), part.begin());
    } else {
      answer.data.assign(part.begin(), part.end());
    }
    bag_.push_back(std::move(answer));
  }

  void take(const reply& answer) {
    site& s = sites_[answer.target];
    const auto answered =
        s.transfers.take_reply(rank_id(answer.source), answer.token, answer.status, answer.data.size());
    ASSERT_TRUE(answered);
    EXPECT_TRUE(answered->transfer->with_own_memory([&](std::byte* own_bytes) {
      std::copy(answer.data.begin(), answer.data.end(), own_bytes + answered->offset);
    }));
    if (const auto memory_status = s.transfers.complete(*answered, answer.status)) {
      EXPECT_EQ(*memory_status, memory_status::done);
      finish(s, answered->transfer.get());
    }
    pump(s, answer.source);
  }

  /// At the very moment at which the transfer is over the bytes are where they belong.
  void finish(site& s, memory_transfer* ended) {
    const auto position =
        std::find_if(s.open.begin(), s.open.end(), [&](const auto& each) { return each->transfer == ended; });
    ASSERT_NE(position, s.open.end());
    const operation& op = **position;
    site& target = sites_[op.target];
    const auto place = [&](bytes& bytes) { return bytes.begin() + static_cast<std::ptrdiff_t>(op.offset); };
    if (ended->what() == intent::write) {
      EXPECT_TRUE(std::equal(op.local_memory.begin(), op.local_memory.end(), place(target.memory)));
      std::copy(op.local_memory.begin(), op.local_memory.end(), place(target.model));
    } else {
      EXPECT_TRUE(std::equal(op.local_memory.begin(), op.local_memory.end(), place(target.model)));
    }
    ended->release();  // as the caller's future
    s.open.erase(position);
  }

  void send_forged_requests(const request& asked) {
    site& s = sites_[asked.target];
    const memory_name good = s.exposed;
    const std::uint64_t size = s.memory.size();
    const auto refused = [&](memory_name name, std::uint64_t offset, std::uint64_t length, memory_status as) {
      const auto range = s.segments.access(name, offset, length, intent::write);
      ++forged;
      ASSERT_FALSE(range);
      EXPECT_EQ(range.error(), as);
    };
    memory_name bad = good;
    bad.key[random_.below(2)] ^= std::uint64_t{1} << random_.below(64);
    refused(bad, 0, 1, memory_status::wrong_key);
    bad.key = {};
    refused(bad, 0, 0, memory_status::wrong_key);
    bad = good;
    bad.segment = static_cast<std::uint32_t>(2 + random_.below(1u << 31));
    refused(bad, 0, 1, memory_status::never_exposed);
    bad.segment = 0;
    refused(bad, 0, 1, memory_status::never_exposed);
    bad = good;
    bad.bytes = big;  // not believed
    refused(bad, size, 1, memory_status::out_of_range);
    refused(good, size + 1, 0, memory_status::out_of_range);
    refused(good, 1, big, memory_status::out_of_range);
    refused(good, big, 1, memory_status::out_of_range);
    refused(good, big, big, memory_status::out_of_range);
    refused(good, 1 + random_.below(size), size, memory_status::out_of_range);
  }

  void send_forged_replies(const reply& true_one) {
    memory_transfers& t = sites_[true_one.target].transfers;
    const std::size_t previous = t.in_flight();
    const std::uint64_t token = true_one.token;
    const rank_id source(true_one.source);
    const std::uint64_t length = true_one.data.size();
    EXPECT_FALSE(t.take_reply(source, token, memory_status::done, length + 1));
    EXPECT_FALSE(t.take_reply(source, token, memory_status::done, big));
    EXPECT_FALSE(t.take_reply(source, token, memory_status::done, length - 1));
    EXPECT_FALSE(t.take_reply(source, token, memory_status::withdrawn, 1 + random_.below(100)));
    EXPECT_FALSE(t.take_reply(rank_id(source.value() + 1), token, memory_status::done, length));
    EXPECT_FALSE(t.take_reply(source, token + (std::uint64_t{1} << 32), memory_status::done, length));
    EXPECT_FALSE(t.take_reply(source, token + 1'000'000, memory_status::done, length));
    EXPECT_FALSE(t.take_reply(source, 0, memory_status::done, 0));
    EXPECT_EQ(t.in_flight(), previous);
    forged += 8;
  }

  rng random_;
  std::deque<site> sites_;
  std::vector<std::variant<request, reply>> bag_;
};

TEST(memory_transfers, random_puts_and_gets_in_any_order_agree_with_a_model) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    memory_machine m(1 + static_cast<std::uint32_t>(seed % 4), seed);
    m.run(15);
    m.expect_all_over();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(memory_transfers, forged_requests_and_replies_are_refused_and_harm_nothing) {
  std::uint64_t forged = 0;
  for (std::uint64_t seed = 100; seed <= 110; ++seed) {
    memory_machine m(3, seed);
    m.forge = true;
    m.run(8);
    m.expect_all_over();
    forged += m.forged;
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(forged, 1000U);
}

}  // namespace
}  // namespace nacre
