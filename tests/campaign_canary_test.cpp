// SPDX-License-Identifier: Apache-2.0
// Canaries: with a bug planted by the linker (tests/CMakeLists.txt wraps four functions), the campaign must fail.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "am/memory_segments.hpp"
#include "campaign/job.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

enum class bug { none, early_messages_run, losses_are_silent, messages_are_not_counted, withdrawals_are_ignored };

/// The one that is planted now. The wrappers have no other way to learn it.
bug planted = bug::none;

}  // namespace

// The names that the linker gives to a wrapped function and to its wrapper.
streams::verdict real_admit(streams* self, message_ptr& m, message_list& ready) asm(
    "__real__ZN5nacre7streams5admitERSt10unique_ptrINS_7messageENS_15message_deleterEERNS_12message_listE");
streams::verdict wrapped_admit(streams* self, message_ptr& m, message_list& ready) asm(
    "__wrap__ZN5nacre7streams5admitERSt10unique_ptrINS_7messageENS_15message_deleterEERNS_12message_listE");
void real_undeliverable(delivery_errors* self, thread_context& thread, message_ptr m) asm(
    "__real__ZN5nacre15delivery_errors13undeliverableERNS_14thread_contextESt10unique_ptrINS_7messageENS_15message_"
    "deleterEE");
void wrapped_undeliverable(delivery_errors* self, thread_context& thread, message_ptr m) asm(
    "__wrap__ZN5nacre15delivery_errors13undeliverableERNS_14thread_contextESt10unique_ptrINS_7messageENS_15message_"
    "deleterEE");
void real_post(am_engine* am, thread_context& thread, rank_id rank, message_ptr m, detail::future_state* state) asm(
    "__real__ZN5nacre9am_engine4postERNS_14thread_contextENS_8typed_idINS_8rank_tagEjEESt10unique_ptrINS_7messageENS_"
    "15message_"
    "deleterEEPNS_6detail12future_stateE");
void wrapped_post(am_engine* am, thread_context& thread, rank_id rank, message_ptr m, detail::future_state* state) asm(
    "__wrap__ZN5nacre9am_engine4postERNS_14thread_contextENS_8typed_idINS_8rank_tagEjEESt10unique_ptrINS_7messageENS_"
    "15message_"
    "deleterEEPNS_6detail12future_stateE");

bool real_withdraw(memory_segments* self, const detail::memory_name& name, const std::function<void()>& hasten) asm(
    "__real__ZN5nacre15memory_segments8withdrawERKNS_6detail11memory_nameERKSt8functionIFvvEE");
bool wrapped_withdraw(memory_segments* self, const detail::memory_name& name, const std::function<void()>& hasten) asm(
    "__wrap__ZN5nacre15memory_segments8withdrawERKNS_6detail11memory_nameERKSt8functionIFvvEE");

streams::verdict wrapped_admit(streams* self, message_ptr& m, message_list& ready) {
  const std::uint32_t next = self->next_of(m->header.source);
  if (planted != bug::early_messages_run || m->header.sequence == next) return real_admit(self, m, ready);
  if (static_cast<std::int32_t>(m->header.sequence - next) > 0) {  // it takes the number of one that it has overtaken
    m->header.sequence = next;
    return real_admit(self, m, ready);
  }
  ready.push_back(std::move(m));
  return streams::verdict::admitted;
}

void wrapped_undeliverable(delivery_errors* self, thread_context& thread, message_ptr m) {
  if (planted != bug::losses_are_silent || m->header.reply != 0) return real_undeliverable(self, thread, std::move(m));
  thread.counters().done.add(1);
}

void wrapped_post(am_engine* self, thread_context& thread, rank_id target, message_ptr m,
                  detail::future_state* result) {
  if (planted == bug::messages_are_not_counted && m->header.kind == message_kind::rank) {
    m->header.flags |= flag_uncounted;
  }
  real_post(self, thread, target, std::move(m), result);
}

bool wrapped_withdraw(memory_segments* self, const detail::memory_name& name, const std::function<void()>& hasten) {
  return planted == bug::withdrawals_are_ignored || real_withdraw(self, name, hasten);
}

namespace {

/// Whether a seed finds a violation whose text begins with `kind`. In a process of its own, for a planted bug may also
/// end the job.
bool finds(std::uint64_t seed, bug bug, std::string_view kind) {
  constexpr int found_count = 3;
  const pid_t child = fork();
  if (child == 0) {
    planted = bug;
    const campaign::verdict result = campaign::run_seed(seed);
    const bool any = std::any_of(result.violations.begin(), result.violations.end(),
                                 [&](std::string_view each) { return each.starts_with(kind); });
    _exit(any ? found_count : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == found_count;
}

/// The first seed up to `last` that does; 0: none does.
std::uint64_t seed_that_finds(bug bug, std::string_view kind, std::uint64_t last = 2000) {
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    if (finds(seed, bug, kind)) return seed;
  }
  return 0;
}

TEST(campaign_canary, without_a_planted_bug_these_seeds_find_nothing) {
  EXPECT_EQ(seed_that_finds(bug::none, "", 150), 0U);
}

TEST(campaign_canary, messages_that_are_not_put_back_into_sequence_are_caught) {
  EXPECT_NE(seed_that_finds(bug::early_messages_run, "order"), 0U);
}

TEST(campaign_canary, messages_that_vanish_in_silence_are_caught) {
  EXPECT_NE(seed_that_finds(bug::losses_are_silent, "quiescence"), 0U);
}

TEST(campaign_canary, quiescence_that_is_declared_too_early_is_caught) {
  EXPECT_NE(seed_that_finds(bug::messages_are_not_counted, "quiescence"), 0U);
}

TEST(campaign_canary, memory_that_can_be_accessed_after_its_withdrawal_is_caught) {
  EXPECT_NE(seed_that_finds(bug::withdrawals_are_ignored, "memory"), 0U);
}

}  // namespace
}  // namespace nacre
