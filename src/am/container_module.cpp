// SPDX-License-Identifier: Apache-2.0
// Opening and closing containers, and sending and running bundles of operations.
#include "am/container_module.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "base/forked_child.hpp"

namespace nacre {
namespace {

constexpr double bound_seconds = 500e-6;  // after which the poll loop sends the bundles of a thread that is busy
constexpr std::uint32_t operations_a_dispatch = 4;  // whose cost is that of beginning and ending a handler

/// The row of a bundle. It keeps the message, so it is counted when its operations have run.
detail::outcome take_bundle(engine&, thread_context& thread, message_ptr& m, void* target, handler_id) {
  static_cast<container_module*>(target)->accept(thread, std::move(m));
  return detail::outcome::done;
}
detail::handler_info bundle_row{
    body_ops{}, &take_bundle, "nacre::container_module::accept", detail::key_of<container_module>(), false, true};
const detail::handler_registration bundle_row_enlisted{bundle_row};

}  // namespace

container_module::container_module(am_engine& messages, backplane& link)
    : messages_(messages),
      link_(link),
      bound_ticks_(static_cast<std::uint64_t>(bound_seconds / messages.pool().seconds_a_tick())) {
  messages_.attach_module(*this);
  for (const auto& each : messages_.pool().thread_contexts()) {
    buffers_.push_back(std::make_unique<operation_aggregator>(*each, *this));
    each->attach_operations(*buffers_.back());
  }
}

std::uint32_t container_module::next_container() {
  const std::scoped_lock held(containers_lock_);
  if (containers_.size() == std::numeric_limits<std::uint32_t>::max()) {
    throw usage_error("a job makes at most 2^32 - 1 containers: clear one, and use it again");
  }
  return static_cast<std::uint32_t>(containers_.size());
}

std::vector<std::pair<std::uint32_t, detail::container_part*>> container_module::parts() {
  const std::scoped_lock held(containers_lock_);
  std::vector<std::pair<std::uint32_t, detail::container_part*>> open;
  for (std::uint32_t number = 0; number < containers_.size(); ++number) {
    if (containers_[number] != nullptr) open.emplace_back(number, containers_[number]);
  }
  return open;
}

void container_module::go_on_behind(std::uint32_t next) {
  const std::scoped_lock held(containers_lock_);
  if (containers_.size() < next) containers_.resize(next);
}

void container_module::set_stripes(std::uint32_t count) {
  if (!executors_.empty()) return;
  for (std::uint32_t i = 0; i < count; ++i) executors_.push_back(std::make_unique<operation_executor>(*this, i));
  std::uint32_t first_target = messages_.rank().value() * count;
  for (const auto& each : buffers_) each->set_stripes(count, messages_.size(), first_target++);
}

void container_module::open(std::uint32_t container, detail::container_part& part) {
  const std::scoped_lock held(containers_lock_);
  if (containers_.size() <= container) containers_.resize(std::size_t{container} + 1);
  containers_[container] = &part;
}

void container_module::close(std::uint32_t container) {
  for (const auto& each : executors_) {
    const std::scoped_lock held(each->elements());
  }
  for (const auto& each : buffers_) {
    const std::scoped_lock held(static_cast<detail::operation_buffers&>(*each));
    each->drop_pending(container);
  }
  const std::scoped_lock held(containers_lock_);
  containers_[container] = nullptr;
}

void container_module::end_job() noexcept {
  const std::scoped_lock held(containers_lock_);
  for (detail::container_part* const each : containers_) {
    if (each != nullptr) each->end_job();
  }
}

detail::container_part* container_module::find(std::uint32_t container) {
  const std::scoped_lock held(containers_lock_);
  return container < containers_.size() ? containers_[container] : nullptr;
}

std::string container_module::ended(std::uint32_t container) {
  return "container number " + std::to_string(container) +
         " has ended, or was never made: keep it until nothing uses its handle any more, and call "
         "`rt.wait_quiescence()` on every rank before it goes out of scope";
}

void container_module::check_open(std::uint32_t container) {
  if (find(container) == nullptr) throw usage_error("an operation on a container: " + ended(container));
}

void container_module::hold(detail::container_part& part) {
  for (std::uint32_t stripe = 0; stripe < part.stripes(); ++stripe) {
    const std::scoped_lock held(elements(stripe));
    ++part.state(stripe).holds;
  }
}

void container_module::release(thread_context& thread, detail::container_part& part) {
  for (std::uint32_t stripe = 0; stripe < part.stripes(); ++stripe) {
    const std::scoped_lock held(elements(stripe));
    detail::container_part::stripe_state& state = part.state(stripe);
    if (--state.holds == 0 && !state.aside.empty()) executors_[stripe]->accept_first(thread, state.aside);
  }
}

void container_module::bundle_opened() {
  if (!link_.declared().virtual_time) link_.wake();
}

void container_module::send(thread_context& thread, const thread_context& owner,
                            detail::operation_target operation_target, message_ptr bundle) {
  static_cast<void>(owner);
  message_header& header = bundle->header;
  header.kind = message_kind::module;
  header.flags = flag_communication;
  header.channel = channel::application;
  header.handler = bundle_row.id.value();
  header.source = link_.rank().value();
  header.sequence = operation_target.stripe;
  const bool is_own = operation_target.rank == link_.rank().value();
  messages_.pool().charge_own(is_own ? own_work::send_local : own_work::send);
  if (is_own || messages_.by_pointer()) messages_.acquire_window(thread, *bundle);
  if (is_own && !messages_.deferred()) return executors_[operation_target.stripe]->accept(thread, std::move(bundle));
  const std::uint64_t bytes = sizeof(message_header) + header.payload_bytes;
  thread.counters().messages_sent.add(1);
  thread.counters().bytes_sent.add(bytes);
  thread.record_send(rank_id(operation_target.rank), bytes);
  link_.send(&thread, rank_id(operation_target.rank), std::move(bundle));
}

std::uint64_t container_module::flush_overdue(thread_context& thread) {
  std::uint64_t soonest = 0;
  for (const auto& each : buffers_) {
    const std::uint64_t since = each->open_since();
    if (since == 0) continue;
    const std::uint64_t now = messages_.pool().instant();
    if (now >= since + bound_ticks_) {
      each->flush_bundles(thread);
    } else if (soonest == 0 || since + bound_ticks_ - now < soonest) {
      soonest = since + bound_ticks_ - now;
    }
  }
  return soonest;
}

void container_module::accept(thread_context& thread, message_ptr bundle) {
  const std::uint32_t stripe = bundle->header.sequence;
  if (stripe < executors_.size()) return executors_[stripe]->accept(thread, std::move(bundle));
  messages_.fail("a message from rank " + std::to_string(bundle->header.source) +
                 " holds operations for a part of containers that this rank does not have");
}

void container_module::run(thread_context& thread, std::uint32_t stripe, message_ptr& bundle) {
  for (std::size_t offset = 0; offset < bundle->header.payload_bytes;) {
    if (!run_one(thread, stripe, bundle, offset)) return;
  }
}

/// Runs the run at `offset`, which moves behind it. False: the job ends.
bool container_module::run_one(thread_context& thread, std::uint32_t stripe, message_ptr& bundle, std::size_t& offset) {
  const std::span<const std::byte> rest = bundle->payload().subspan(offset);
  const auto refuse = [&](const std::string& reason) {
    messages_.fail("operations from rank " + std::to_string(bundle->header.source) + " " + reason);
    return false;
  };
  detail::run_header header;
  if (rest.size() < sizeof header) return refuse("are cut off");
  std::memcpy(&header, rest.data(), sizeof header);
  if (header.bytes > rest.size() - sizeof header) return refuse("are cut off");
  const std::size_t whole = sizeof header + header.bytes;
  offset += std::min(detail::run_aligned(whole), rest.size());

  const detail::handler_info* const row = messages_.handlers().handler(header.kind.row);
  if (row == nullptr) return refuse(why_no_handler(header.kind.row, "name no operation", "name an operation"));
  if (row->target_key != detail::key_of<detail::operation_run>()) return refuse("name no operation");
  detail::container_part* const part = find(header.kind.container);
  if (part == nullptr) return refuse("came too late: " + ended(header.kind.container));
  if (part->state(stripe).holds != 0) {
    thread.counters().created.add(1);
    set_aside(*part, stripe, *bundle, rest.first(whole));
    return true;
  }
  messages_.pool().charge_own(own_work::dispatch, header.count / operations_a_dispatch + 1);
  messages_.pool().charge_own(own_work::handler);
  thread.counters().handlers.add(header.count);
  thread.record_begin(trace::event_kind::handler_begin, row->id);
  detail::operation_run run{rest.subspan(sizeof header, header.bytes), header.count, *part, stripe};
  const double charged = thread.charged;
  const detail::outcome outcome = row->invoke(messages_.core(), thread, bundle, &run, row->id);
  thread.charged = charged;  // what operations charge is in no object's load
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  thread.record_end();
  return outcome == detail::outcome::done || refuse("do not decode as the arguments of " + std::string(row->name));
}

void container_module::set_aside(detail::container_part& part, std::uint32_t stripe, const message& bundle,
                                 std::span<const std::byte> run) {
  message_ptr copy = make_message(run.size());
  const std::uint32_t bytes = copy->header.payload_bytes;
  copy->header = bundle.header;
  copy->header.payload_bytes = bytes;
  std::memcpy(copy->body(), run.data(), run.size());
  part.state(stripe).aside.push_back(std::move(copy));
}

void operation_executor::schedule(thread_context& thread) { space_.messages().pool().make_ready(thread, *this); }

void operation_executor::accept(thread_context& thread, message_ptr bundle) {
  {
    const std::scoped_lock held(inbox_lock_);
    inbox_.push_back(std::move(bundle));
    if (std::exchange(scheduled_, true)) return;
  }
  schedule(thread);
}

void operation_executor::accept_first(thread_context& thread, message_list& bundles) {
  {
    const std::scoped_lock held(inbox_lock_);
    bundles.append(inbox_);
    inbox_.append(bundles);
    if (std::exchange(scheduled_, true)) return;
  }
  schedule(thread);
}

message_ptr operation_executor::next() {
  const std::scoped_lock held(inbox_lock_);
  message_ptr first = inbox_.pop_front();
  if (first == nullptr) scheduled_ = false;
  return first;
}

void operation_executor::run_item(work& self, thread_context& thread) {
  static_cast<operation_executor&>(self).run(thread);
}

/// Runs bundles as an item of bounded length. Those that are left when the time is over wait behind other work.
void operation_executor::run(thread_context& thread) {
  worker_pool& pool = space_.messages().pool();
  const std::uint64_t begin = pool.instant();
  const auto slice = static_cast<std::uint64_t>(20e-6 / pool.seconds_a_tick());
  std::uint64_t now = begin;
  bool left = true;
  while (left && now - begin <= slice) {
    message_ptr bundle;
    {
      // Taken under this lock, too: a bundle that is taken while main releases its hold must not overtake those aside.
      const std::scoped_lock held(elements_);
      bundle = next();
      left = bundle != nullptr;
      if (left) space_.run(thread, stripe_, bundle);
    }
    if (!left) break;
    bundle.reset();
    thread.counters().done.add(1);
    now = pool.instant();
  }
  thread.counters().handler_ticks.add(now - begin);
  if (left) schedule(thread);
}

}  // namespace nacre
