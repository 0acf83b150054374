// SPDX-License-Identifier: Apache-2.0
// The backplane's part in flow control: arrived messages hold credit, released credit is granted again.
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "backplane/backplane.hpp"
#include "base/marks.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t flag_ask = 1;  // in header.sequence of a credit message: its sender waits for a grant

}  // namespace

/// Lets arrived messages hold their cost, and takes out credit messages.
void backplane::account_for(message_list& arrived) {
  bool credits = false;
  for (message* m = arrived.front(); m != nullptr; m = m->next) {
    message_header& header = m->header;
    if (header.kind == message_kind::credit) {
      credits = true;
    } else if (needs_credit(header) && header.source < size_) {  // the layer above refuses any other source
      peers_.account(rank_id(header.source), header.channel).hold(*m);
    }
  }
  if (credits) take_credits(arrived);
}

void backplane::take_credits(message_list& arrived) {
  message_list others;
  while (message_ptr m = arrived.pop_front()) {
    if (m->header.kind == message_kind::credit) {
      take_credit(*m);
    } else {
      others.push_back(std::move(m));
    }
  }
  arrived.append(others);
}

/// header.handler: the channel. header.object: the bytes of a grant, or all bytes that the sender of a request has ever
/// spent.
void backplane::take_credit(const message& m) {
  const message_header& header = m.header;
  const bool sane = header.source < size_ && header.handler < channel_count &&
                    header.handler != static_cast<std::uint32_t>(channel::system);
  if (!sane) return sink_->peer_failed({.peer = {}, .reason = "a credit message makes no sense"});
  const rank_id source(header.source);
  const auto via = static_cast<channel>(header.handler);
  if (header.sequence == flag_ask) {
    credit_account& account = peers_.account(source, via);
    account.ask(header.object);
    account.asked = !account.request_granted();
    if (account.asked && !std::exchange(account.asked_listed, true)) asked_.push_back(&account);
    return;
  }
  outbox& box = peers_.box(source, via);
  const std::scoped_lock lock(box.mutex);
  if (!box.window.restore(header.object)) {
    return sink_->peer_failed({.peer = source, .reason = "granted more than it was sent"});
  }
  box.asked = false;
  if (!box.waiting.empty() && !box.listed) list(box);
}

/// True when it has granted any. A busy rank looks at the accounts that are due alone, however many peers wait for a
/// grant: that of another one changes when its rank has nothing to run.
bool backplane::grant_credits() {
  bool granted = false;
  const auto grant = [&](credit_account& account, std::uint64_t bytes) {
    if (bytes == 0) return;  // granted before its release, nothing new: a peer that asked still waits
    account.asked = false;
    granted = true;
    send_credit(account.peer, account.via, bytes, false);
  };
  for (credit_account* account = due_.take(); account != nullptr;) {
    credit_account* const next = account->next_due;  // read before it may be listed again
    account->unlist();
    grant(*account, account->grant());
    account = next;
  }
  if (asked_.empty() || !sink_->idle()) return granted;
  std::erase_if(asked_, [&](credit_account* account) {
    if (account->asked) {
      grant(*account, account->grant_all());  // perhaps nothing: its messages are still under way
      if (!account->asked) NACRE_MARK("a rank that has nothing to run lets more come than it has digested");
    }
    account->asked_listed = account->asked;
    return !account->asked_listed;
  });
  return granted;
}

void backplane::send_credit(rank_id target, channel via, std::uint64_t bytes, bool ask) {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::credit;
  m->header.channel = channel::system;
  m->header.flags = flag_uncounted | flag_communication;
  m->header.source = rank_.value();
  m->header.handler = static_cast<std::uint32_t>(via);
  m->header.object = bytes;
  m->header.sequence = ask ? flag_ask : 0;
  put(peers_.box(target, channel::system), std::move(m));
}

}  // namespace nacre
