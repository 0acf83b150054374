// SPDX-License-Identifier: Apache-2.0
// Between the flow control of senders and the rank.
#include "am/flow_module.hpp"

#include <string>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

/// Of a packed message: the measure of option flow_small and of the protocol.
std::uint64_t bytes_on_link(const message& m) noexcept { return sizeof(message_header) + m.header.payload_bytes; }

}  // namespace

flow_module::flow_module(am_engine& messages, backplane& link, clock& time, const flow::link_settings& settings,
                         surroundings surroundings)
    : messages_(messages),
      link_(link),
      time_(time),
      surroundings_(surroundings),
      flow_(messages.rank(), messages.size(), settings, *this),
      thread_(&messages.pool().application()) {
  messages_.attach_module(*this);
}

flow_policy flow_module::chosen(flow_policy asked) const noexcept {
  if (asked == flow_policy::automatic && surroundings_ == surroundings::alone) return flow_policy::none;
  return flow_.choose(asked).policy;
}

void flow_module::post(thread_context& thread, rank_id target, flow_policy policy, message_ptr m) {
  const flow_policy actor = chosen(policy);
  if (actor == flow_policy::none || target == messages_.rank() || messages_.by_pointer()) {
    return messages_.post(thread, target, std::move(m));
  }
  m = packed_by_sender(std::move(m));
  if (bytes_on_link(*m) <= flow_.settings().small_bytes) return messages_.post(thread, target, std::move(m));
  messages_.commit(thread, [&] {
    m->header.source = messages_.rank().value();
    thread.counters().created.add(1);
    waiting_bytes_.fetch_add(am_engine::size_of(*m), std::memory_order_relaxed);  // a number alone
    bool first = false;
    {
      const std::scoped_lock lock(mutex_);
      first = posted_.empty();
      posted_.push_back({target, actor, std::move(m)});
    }
    if (first) messages_.post_to_module<&flow_module::on_posted>(thread, messages_.rank());
  });
}

void flow_module::on_posted(context& ctx) {
  thread_ = &ctx.current_thread();
  used_ = true;
  std::vector<posted_message> taken;
  {
    const std::scoped_lock lock(mutex_);
    taken.swap(posted_);
  }
  const auto now = time_.now();
  for (posted_message& each : taken) {
    const std::uint64_t bytes = bytes_on_link(*each.m);
    waiting_[{each.target, each.policy}].push_back(std::move(each.m));
    flow_.offer(each.target, each.policy, bytes, now);
  }
  send_released();
}

void flow_module::on_control(context& ctx, std::span<const std::byte> bytes) {
  thread_ = &ctx.current_thread();
  used_ = true;
  const auto flow_message = flow::decode(bytes);
  const bool known =
      flow_message && flow_message->link.value() < messages_.size() && flow_message->subject.value() < messages_.size();
  if (!known) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent flow control that makes no sense");
  }
  flow_.receive(ctx.source(), *flow_message, time_.now());
  send_released();
}

void flow_module::on_arrived(context& ctx, departure left, std::uint32_t epoch, std::uint64_t pass,
                             std::uint64_t used) {
  thread_ = &ctx.current_thread();
  used_ = true;
  const bool is_sound = left.policy <= static_cast<std::uint8_t>(flow_policy::slot) &&
                        left.permit < flow_.settings().permits && left.via <= channel::bulk;
  if (!is_sound) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent under a policy that does not exist");
  }
  const auto policy = static_cast<flow_policy>(left.policy);
  if (policy == flow_policy::token && left.via != channel::system) sources_[{ctx.source(), left.via}] = left.bytes;
  flow_.arrived(ctx.source(), policy, {epoch, pass, left.permit, used}, time_.now());
  send_released();
}

/// As the accounts of credit tell: of all messages of these senders on these channels, as if they had one length.
std::uint64_t flow_module::held_bytes() const {
  if (messages_.idle()) return 0;
  std::uint64_t sum = 0;
  for (const auto& [source, bytes] : sources_) sum += link_.held_bytes(source.first, source.second, bytes);
  return sum;
}

std::chrono::nanoseconds flow_module::tick(thread_context& thread) {
  thread_ = &thread;
  const auto now = time_.now();
  if (flow_.due() <= now) {
    flow_.tick(now);
    send_released();
  }
  return flow_.due();
}

void flow_module::send(rank_id target, const flow::message& message) {
  const std::vector<std::byte> bytes = flow::encode(message);
  messages_.post_to_module<&flow_module::on_control>(*thread_, target, std::span<const std::byte>(bytes));
}

void flow_module::transmit(rank_id target, flow_policy policy, const flow::token_stamp& stamp) {
  auto& queue = waiting_[{target, policy}];
  NACRE_EXPECT(!queue.empty(), "a message leaves that nobody has offered");
  released_.push_back({target, policy, stamp, std::move(queue.front())});
  queue.pop_front();
}

/// A grant that follows a message must not wait behind it, so the protocol's own messages leave first.
void flow_module::send_released() {
  for (released_message& each : released_) {
    waiting_bytes_.fetch_sub(am_engine::size_of(*each.m), std::memory_order_relaxed);  // a number alone
    const departure left{.bytes = static_cast<std::uint32_t>(bytes_on_link(*each.m)),
                         .policy = static_cast<std::uint8_t>(each.policy),
                         .permit = each.stamp.permit,
                         .via = each.m->header.channel};
    // Each polling thread has bundles of its own, which could overtake each other.
    messages_.route(*thread_, each.target, std::move(each.m), am_engine::bundling::never);
    if (each.policy != flow_policy::slot) send_word_behind(each.target, left, each.stamp);
  }
  released_.clear();
}

/// On the channel of the data, so that it comes behind them. A schedule needs no news of them.
void flow_module::send_word_behind(rank_id target, const departure& left, const flow::token_stamp& stamp) {
  switch (left.via) {
    case channel::system:
      return messages_.post_counted_to_module<&flow_module::on_arrived>(*thread_, target, left, stamp.epoch, stamp.pass,
                                                                        stamp.used);
    case channel::application:
      return messages_.post_application_to_module<&flow_module::on_arrived>(*thread_, target, left, stamp.epoch,
                                                                            stamp.pass, stamp.used);
    case channel::bulk:
      return messages_.post_bulk_to_module<&flow_module::on_arrived>(*thread_, target, left, stamp.epoch, stamp.pass,
                                                                     stamp.used);
  }
}

}  // namespace nacre
