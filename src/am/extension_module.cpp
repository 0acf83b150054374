// SPDX-License-Identifier: Apache-2.0
// Between the extension modules of a rank and its messages.
#include "am/extension_module.hpp"

#include <cstring>

#include <nacre/archive.hpp>

#include "wire/job_secret.hpp"

namespace nacre {
namespace {

constexpr std::size_t short_answer_bytes = 4096;

}  // namespace

extension_module::extension_module(am_engine& messages, clock& time, const settings& settings)
    : messages_(messages),
      configuration_(*settings.configuration),
      datagrams_(settings.datagrams),
      key_source_(rng(settings.seed).fork(0x657874656e7300U + messages.rank().value())),
      thread_(&messages.pool().application()),
      space_(*this, time,
             {.rank = messages.rank(), .size = messages.size(), .limits = settings.limits, .make_key = [this] {
                return new_key();
              }}) {
  messages_.attach_module(*this);
}

extension_key extension_module::new_key() {
  extension_key key;
  do {
    if (messages_.deferred()) {
      for (std::uint64_t& word : key.words) word = key_source_.next();
    } else {
      fill_random(std::as_writable_bytes(std::span(key.words)));
    }
  } while (key.is_program_key());
  return key;
}

double extension_module::charged() const {
  if (!messages_.deferred()) return 0;
  return static_cast<double>(messages_.pool().instant()) * messages_.pool().seconds_a_tick();
}

void extension_module::command(thread_context& thread, rank_id target, const detail::extension_target& extension_target,
                               std::span<const std::byte> bytes, detail::future_state& result) {
  const std::uint64_t number = messages_.calls().open(result, pending_calls::answers::command);
  const extension_command sent{.module = extension_target.module,
                               .key = extension_target.key,
                               .asker = 0,
                               .request = number,
                               .number = extension_target.command};
  try {
    messages_.post_application_to_module<&extension_module::on_command>(thread, target, sent, bytes);
  } catch (...) {
    messages_.calls().close(number)->release();
    throw;
  }
}

void extension_module::run_inside(thread_context& thread,
                                  std::function<void(extension_space&, thread_context&)> action) {
  {
    const std::scoped_lock lock(mutex_);
    actions_.push_back(std::move(action));
  }
  messages_.post_to_module<&extension_module::on_actions>(thread, messages_.rank());
}

void extension_module::on_actions(context& ctx) {
  thread_ = &ctx.current_thread();
  for (;;) {
    std::function<void(extension_space&, thread_context&)> next;
    {
      const std::scoped_lock lock(mutex_);
      if (actions_.empty()) return;
      next = std::move(actions_.front());
      actions_.pop_front();
    }
    next(space_, *thread_);
  }
}

void extension_module::on_control(context& ctx, std::uint64_t module, std::span<const std::byte> bytes) {
  thread_ = &ctx.current_thread();
  space_.on_control(ctx.source(), module, bytes);
}

void extension_module::on_control_word(context& ctx, std::uint32_t module, std::uint32_t bytes, std::uint64_t word) {
  thread_ = &ctx.current_thread();
  if (bytes > sizeof word) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent a word of more bytes than it has");
  }
  space_.on_control(ctx.source(), module, std::as_bytes(std::span(&word, 1)).first(bytes));
}

void extension_module::on_datagram(context& ctx, std::uint64_t module, std::span<const std::byte> bytes) {
  thread_ = &ctx.current_thread();
  space_.on_datagram(ctx.source(), module, datagram_way::message, bytes);
}

void extension_module::take(thread_context& thread, const transport::received_datagram& datagram) {
  if (!space_.used()) return;
  thread_ = &thread;
  space_.on_datagram(datagram.source, datagram.label, datagram_way::datagram, datagram.bytes);
}

void extension_module::on_handled(context& ctx, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams) {
  thread_ = &ctx.current_thread();
  space_.on_handled(ctx.source(), module, controls, datagrams);
}

void extension_module::on_command(context& ctx, extension_command command, std::span<const std::byte> bytes) {
  thread_ = &ctx.current_thread();
  space_.on_command(ctx.source(), command, bytes);
}

void extension_module::on_answer(context& ctx, std::uint64_t asker, std::uint64_t request, bool failed,
                                 std::span<const std::byte> bytes) {
  thread_ = &ctx.current_thread();
  if (asker != 0) return space_.on_answer(asker, request, failed, bytes);
  detail::future_state* const state = messages_.calls().close(request);
  if (state == nullptr) {
    if (messages_.calls().forget(request)) return;  // nobody waits for it any more
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " answered a command to an extension module that nobody sent");
  }
  if (failed) {
    state->complete_with_error(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), *thread_);
  } else {
    // Packed, so that it is decoded as every reply: a peer may name a call whose result is of another type.
    state->complete_with(packed_form(detail::make_reply(std::vector<std::byte>(bytes.begin(), bytes.end()))), *thread_);
  }
  state->release();
}

void extension_module::send_control(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  if (bytes.size() <= sizeof word) {
    if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
    return messages_.post_to_module<&extension_module::on_control_word>(
        *thread_, target, static_cast<std::uint32_t>(module), static_cast<std::uint32_t>(bytes.size()), word);
  }
  messages_.post_to_module<&extension_module::on_control>(*thread_, target, module, bytes);
}

bool extension_module::send_datagram(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) {
  if (has_datagrams(target)) return datagrams_->send(target, static_cast<std::uint32_t>(module), bytes);
  messages_.post_to_module<&extension_module::on_datagram>(*thread_, target, module, bytes);
  return true;
}

void extension_module::send_handled(rank_id target, std::uint64_t module, std::uint32_t controls,
                                    std::uint32_t datagrams) {
  messages_.post_to_module<&extension_module::on_handled>(*thread_, target, module, controls, datagrams);
}

void extension_module::send_command(rank_id target, const extension_command& command,
                                    std::span<const std::byte> bytes) {
  messages_.post_application_to_module<&extension_module::on_command>(*thread_, target, command, bytes);
}

void extension_module::send_answer(const extension_request& request, bool failed, std::span<const std::byte> bytes) {
  if (bytes.size() <= short_answer_bytes) {
    messages_.post_counted_to_module<&extension_module::on_answer>(*thread_, request.source, request.asker,
                                                                   request.number, failed, bytes);
  } else {
    messages_.post_bulk_to_module<&extension_module::on_answer>(*thread_, request.source, request.asker, request.number,
                                                                failed, bytes);
  }
}

}  // namespace nacre
