// SPDX-License-Identifier: Apache-2.0
// Combines the results of many, slot by slot, when the last one has come.
#include "mobile/elements/reduction.hpp"

#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/exception_text.hpp"

namespace nacre {
namespace {

/// A call of the runtime's own; its reply goes to a slot unchanged.
class contribution final : public detail::future_state, private detail::waiter {
 public:
  contribution(std::shared_ptr<reduction> target, std::size_t slot) : reduction_(std::move(target)), slot_(slot) {
    notify = [](detail::waiter& self, thread_context& thread) { static_cast<contribution&>(self).pass_on(thread); };
    static_cast<void>(await(*this));  // no other thread knows of it yet
  }

 private:
  bool take(message_ptr& reply) override {
    result_ = std::move(reply);
    return true;
  }
  void pass_on(thread_context& thread) {
    if (error() != nullptr) result_ = am_engine::make_failure(error()->what(), error()->type());
    reduction_->give(slot_, std::move(result_), thread);
  }
  std::shared_ptr<reduction> reduction_;
  std::size_t slot_;
  message_ptr result_;
};

}  // namespace

std::uint64_t reduction::expect(const std::shared_ptr<reduction>& target, std::size_t slot) {
  auto* const one = new contribution(target, slot);
  const std::uint64_t number = target->calls_.open(*one);
  one->release();  // the open call keeps it
  return number;
}

void reduction::finish(thread_context& thread) {
  message_ptr result;
  try {
    result = combined(thread);
  } catch (...) {
    result = am_engine::make_failure("combining the results of an array threw: " + text_of_thrown(), {});
  }
  results_.clear();
  done_(std::move(result), thread);
}

message_ptr reduction::combined(thread_context& thread) {
  std::vector<message_ptr> values;
  for (message_ptr& each : results_) {
    if (is_none(*each)) continue;
    if ((each->header.flags & flag_failed) != 0) return std::move(each);
    values.push_back(std::move(each));
  }
  if (values.empty()) return none();
  if (fold_ == nullptr) return make_message(0);
  if (values.size() == 1) return std::move(values.front());
  std::vector<std::span<const std::byte>> payloads;
  for (message_ptr& each : values) {
    each = packed_form(std::move(each));
    payloads.push_back(each->payload());
  }
  std::vector<std::byte> sum(payloads.front().begin(), payloads.front().end());
  if (!fold_(sum, std::span(payloads).subspan(1), thread))
    return am_engine::make_failure("a result does not decode as the type of the reduction", {});
  message_ptr result = make_message(sum.size());
  if (!sum.empty()) std::memcpy(result->body(), sum.data(), sum.size());
  return result;
}

}  // namespace nacre
