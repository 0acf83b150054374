// SPDX-License-Identifier: Apache-2.0
// Questions about calls of other ranks, and their answers.
#include "am/cancellations.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "am/am_engine.hpp"
#include "backplane/timer_queue.hpp"

namespace nacre {
namespace {

/// Lets the poll loop tell watchers at its next pass. A timer is what any thread can give the poll loop.
class waiting_news final : public timer {
 public:
  waiting_news(cancellations& sender, std::vector<rank_id> watchers, std::uint64_t call) noexcept
      : timer(&on_due), sender_(sender), watchers_(std::move(watchers)), call_(call) {}

 private:
  static void on_due(timer& self, thread_context& thread) {
    const std::unique_ptr<waiting_news> own_waiting_news(&static_cast<waiting_news&>(self));
    own_waiting_news->sender_.tell(thread, own_waiting_news->watchers_, own_waiting_news->call_, call_news::given_up);
  }

  cancellations& sender_;
  std::vector<rank_id> watchers_;
  std::uint64_t call_;
};

}  // namespace

bool cancellations::is_given_up(thread_context& thread, const message_header& request) {
  const bool of_program = request.reply != 0 && request.kind != message_kind::everyone;  // that is a call of the home
  if (!of_program) return false;
  const rank_id source(request.source);
  if (source == messages_.rank()) return messages_.calls().is_given_up(request.reply);
  const watched_calls::answer known = watched_.ask(source, request.reply);
  if (known != watched_calls::answer::first) return known == watched_calls::answer::given_up;
  try {
    messages_.post_to_module<&cancellations::on_watch>(thread, source, request.reply);
  } catch (...) {  // for want of memory: the next question is the first
    watched_.note(source, request.reply, call_news::over);
    throw;
  }
  return false;
}

void cancellations::tell(thread_context& thread, const std::vector<rank_id>& watchers, std::uint64_t call,
                         call_news news) {
  for (const rank_id each : watchers) messages_.post_to_module<&cancellations::on_news>(thread, each, call, news);
}

void cancellations::tell_soon(thread_context& thread, std::vector<rank_id> watchers, std::uint64_t call) {
  if (watchers.empty()) return;
  worker_pool& pool = messages_.pool();
  messages_.commit(thread, [&] {
    auto news = std::make_unique<waiting_news>(*this, std::move(watchers), call);
    pool.set_timer(*news, pool.duties().now());
    static_cast<void>(news.release());
  });
}

void cancellations::on_watch(context& ctx, std::uint64_t call) {
  const pending_calls::standing now = messages_.calls().watch(call, ctx.source());
  if (now == pending_calls::standing::waits) return;
  const call_news news = now == pending_calls::standing::given_up ? call_news::given_up : call_news::over;
  tell(ctx.current_thread(), {ctx.source()}, call, news);
}

void cancellations::on_news(context& ctx, std::uint64_t call, call_news news) {
  watched_.note(ctx.source(), call, news);
}

}  // namespace nacre
