// SPDX-License-Identifier: Apache-2.0
// Thieves, victims and the token.
#include "steal.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "rank_part.hpp"
#include "victims.hpp"

namespace uts {
namespace {

/// One rank. Its search runs on a worker, in one message to itself after the other; what comes from others is handled
/// in the poll loop beside it, so all but the search is under the mutex.
class stealer {
 public:
  stealer(nacre::rank_id self, std::uint32_t size, const rank_search_options& options,
          const std::vector<std::uint64_t>& hosts)
      : self_(self),
        size_(size),
        patient_(options.patient),
        search_(options, {}),
        ring_(self, size),
        random_(nacre::rng(1).fork(self.value())),
        victims_(self, size, options.nearby.requests, hosts) {}

  void begin_whole() {
    search_.begin_whole();
    busy_ = true;
  }
  [[nodiscard]] const rank_search& own() const noexcept { return search_; }
  [[nodiscard]] const sharing_figures& figures() const noexcept { return figures_; }
  [[nodiscard]] double ended_at() const noexcept { return ended_at_; }

  void go_on(nacre::context& ctx) {
    search_.advance(ctx);
    const std::scoped_lock lock(mutex_);
    search_.looked(serve(ctx));
    if (!search_.finished()) return ctx.send<&stealing::go_on>(self_);
    busy_ = false;
    rest(ctx);
  }
  void begin(nacre::context& ctx) {
    const std::scoped_lock lock(mutex_);
    rest(ctx);
  }
  void on_request(nacre::context& ctx, bool waits) {
    const std::scoped_lock lock(mutex_);
    const nacre::rank_id source = ctx.source();
    const auto same = [source](const thief& each) { return each.rank == source; };
    if (source == self_ || std::any_of(requests_.begin(), requests_.end(), same))
      throw refusal(ctx, "a second request");
    if (ring_.over() == nacre::token_ring::stage::ended) throw refusal(ctx, "a request after the end of all messages");
    ++control_.received;
    lines_.receive_request(ctx);
    if (busy_ || waits) {
      requests_.push_back({source, waits});
    } else {
      refuse(ctx, source);
    }
  }
  void on_refusal(nacre::context& ctx) {
    const std::scoped_lock lock(mutex_);
    if (victim_ != ctx.source()) throw refusal(ctx, "a refusal of what nobody asks it for");
    ++control_.received;
    victim_.reset();
    ++refusals_;
    rest(ctx);
  }
  void on_work(nacre::context& ctx, search given) {
    const std::scoped_lock lock(mutex_);
    if (victim_ != ctx.source()) throw refusal(ctx, "work that nobody asks it for");
    if (ring_.over() != nacre::token_ring::stage::working) throw refusal(ctx, "work after the end of all work");
    ++work_.received;
    lines_.receive_work(ctx, given);
    victim_.reset();
    refusals_ = 0;
    victims_.restart();
    busy_ = true;
    search_.take_over(std::move(given));
    ctx.send<&stealing::go_on>(self_);
  }
  void on_token(nacre::context& ctx, const nacre::ring_token& token) {
    const std::scoped_lock lock(mutex_);
    if (!ring_.on_token(ctx.source(), token)) throw refusal(ctx, "a token that it does not have");
    if (self_.value() == 0) shade_at_home_ = token.shade;
    if (!busy_) pass_token(ctx);
  }

 private:
  struct thief {
    nacre::rank_id rank;
    bool waits = false;  // rather than be refused
  };

  /// Answers all requests except waiting ones that it cannot serve. True if it answered any.
  bool serve(nacre::context& ctx) {
    return std::erase_if(requests_, [&](const thief& each) { return answer(ctx, each); }) != 0;
  }
  bool answer(nacre::context& ctx, const thief& asks) {
    search chunk = search_.surplus();
    if (chunk.finished()) {
      if (!asks.waits) refuse(ctx, asks.rank);
      return !asks.waits;
    }
    ++work_.sent;
    figures_.chunks_near += victims_.is_near(asks.rank) ? 1 : 0;
    lines_.give(ctx, asks.rank, asks.waits);
    ctx.send<&stealing::on_work>(as_work, asks.rank, std::move(chunk));
    return true;
  }
  void refuse(nacre::context& ctx, nacre::rank_id whom) {
    ++control_.sent;
    ++figures_.refusals;
    ctx.send<&stealing::on_refusal>(as_control, whom);
  }
  /// Without work: asks a victim, and lets the token go on.
  void rest(nacre::context& ctx) {
    ask(ctx);
    pass_token(ctx);
  }
  /// After `size` refusals a patient thief waits at the next rank until that has something; asking without pause would
  /// load a machine that has fewer cores than ranks. It does not wait in vain: the chain from a waiting thief to the
  /// rank that it waits at leads to a rank with work, or no rank has any.
  void ask(nacre::context& ctx) {
    if (victim_ || busy_ || size_ == 1 || ring_.over() != nacre::token_ring::stage::working) return;
    const bool waits = patient_ && refusals_ >= size_;
    victim_ = waits ? nacre::rank_id{(self_.value() + 1) % size_} : victims_.next(random_);
    ++control_.sent;
    lines_.ask(ctx, *victim_);
    ctx.send<&stealing::on_request>(as_control, *victim_, waits);
  }
  void pass_token(nacre::context& ctx) {
    if (!ring_.holds_token()) return;
    const nacre::token_ring::stage previous = ring_.over();
    const auto token = ring_.on_idle(work_, control_);
    if (shade_at_home_ && ring_.over() == previous) note_outrun(*shade_at_home_);
    shade_at_home_.reset();
    work_received_before_ = work_.received;
    if (ring_.over() == nacre::token_ring::stage::ended) ended_at_ = ctx.now();
    if (token) ctx.send<&stealing::on_token>(as_control, ring_.next(), *token);
  }
  /// Counts the messages that the token has outrun. It is called when the token has come home and the stage does not
  /// end. A pink token, or a white one without work received since it left, then shows that the sums alone have told of
  /// messages under way.
  void note_outrun(nacre::ring_token::colour shade) {
    using colour = nacre::ring_token::colour;
    if (shade == colour::pink) ++figures_.requests_outrun;
    if (shade == colour::white && work_.received == work_received_before_) ++figures_.work_outrun;
  }

  const nacre::rank_id self_;
  const std::uint32_t size_;
  const bool patient_;
  rank_search search_;  // of the message that runs it, or of who finds it not busy
  std::mutex mutex_;    // over all below
  nacre::token_ring ring_;
  std::optional<nacre::ring_token::colour>
      shade_at_home_;                       // rank 0: of the token that has come and not been judged yet
  std::uint64_t work_received_before_ = 0;  // when the token left last
  nacre::rng random_;
  victims victims_;
  bool busy_ = false;                     // has work, and a message to itself
  std::optional<nacre::rank_id> victim_;  // the rank that owes an answer
  std::vector<thief> requests_;
  std::uint32_t refusals_ = 0;  // in a row
  sharing_figures figures_;
  nacre::message_counters work_, control_;
  steal_lines lines_;
  double ended_at_ = 0;
};

std::shared_ptr<stealer> here(const nacre::context& ctx) { return rank_part<stealer>::of(ctx); }

}  // namespace

namespace stealing {

void begin(nacre::context& ctx) {
  expect_own(ctx);
  here(ctx)->begin(ctx);
}
void go_on(nacre::context& ctx) {
  expect_own(ctx);
  here(ctx)->go_on(ctx);
}
void on_request(nacre::context& ctx, bool waits) { here(ctx)->on_request(ctx, waits); }
void on_refusal(nacre::context& ctx) { here(ctx)->on_refusal(ctx); }
void on_work(nacre::context& ctx, search given) { here(ctx)->on_work(ctx, std::move(given)); }
void on_token(nacre::context& ctx, nacre::ring_token token) { here(ctx)->on_token(ctx, token); }

}  // namespace stealing

search_result search_by_stealing(nacre::runtime& rt, const rank_search_options& options) {
  const rank_part<stealer> part(
      rt.rank(), rt.rank(), rt.size(), options,
      options.nearby.requests > 0 ? rt.all_gather(options.nearby.host) : std::vector<std::uint64_t>());
  if (rt.rank().value() == 0) part->begin_whole();
  rt.barrier();  // thieves of other ranks may ask as soon as it ends for them
  const double start = rt.now();
  if (rt.rank().value() == 0) {
    rt.send<&stealing::go_on>(rt.rank());
  } else {
    rt.send<&stealing::begin>(rt.rank());
  }
  rt.wait_quiescence();  // the token goes round, and so keeps all ranks awake, until it has ended the search
  return combined(rt, options, part->own(), start, part->ended_at() - start, part->figures(), "stealing");
}

}  // namespace uts
