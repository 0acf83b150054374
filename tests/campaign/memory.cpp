// SPDX-License-Identifier: Apache-2.0
// Random puts and gets, and their oracle.
#include "campaign/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "campaign/program.hpp"

namespace campaign {
namespace {

constexpr std::size_t memories_max = 12;
constexpr std::uint32_t filler = 5, overwritten = 7, gone = 9;

void violate(world& in, const std::string& name) { in.truth.violate("memory: " + name); }

/// Mostly for one message; now and then of several pieces, or of more than the window to a rank holds.
std::size_t one_size(world& in) {
  const std::uint64_t draw = in.truth.random.below(100);
  return draw < 2 ? 300'000 : draw < 12 ? 30'000 : draw < 50 ? 700 : 10;
}

void expose(world& in, nacre::operations& op) {
  const std::size_t size = one_size(in);
  exposed_memory& exposed_memory = in.memory.all.emplace_back();
  exposed_memory.content.assign(2 * size, filler);
  exposed_memory.expected.assign(size, filler);
  exposed_memory.handle = op.expose(std::span(exposed_memory.content));
}

void withdraw(exposed_memory& exposed_memory, nacre::operations& op) {
  op.withdraw(exposed_memory.handle);
  exposed_memory.withdrawn = true;
  std::fill(exposed_memory.content.begin(), exposed_memory.content.end(), gone);
}

void drop(world& in, exposed_memory& exposed_memory, nacre::operations& op) {
  const std::size_t size = exposed_memory.expected.size(), length = 1 + in.truth.random.below(size);
  const std::size_t begin = size + in.truth.random.below(size - length + 1);
  std::vector<std::uint32_t> values(length, filler);
  if (in.truth.random.below(2) == 0) {
    static_cast<void>(op.put(exposed_memory.handle, begin, std::span<const std::uint32_t>(values)));
  } else {
    static_cast<void>(op.get(exposed_memory.handle, begin, std::span(values)));
  }
  std::fill(values.begin(), values.end(), overwritten);
  in.memory.taken_back.push_back(std::move(values));
}

bool all_are(const std::vector<std::uint32_t>& numbers, std::size_t source, std::uint32_t value) {
  return std::all_of(numbers.begin() + static_cast<std::ptrdiff_t>(source), numbers.end(),
                     [value](std::uint32_t each) { return each == value; });
}

/// `reason` is null when it went well.
void ended(world& in, pending_transfer& transfer, const char* reason) {
  exposed_memory& exposed_memory = *transfer.memory;
  std::erase(exposed_memory.under_way, std::pair(transfer.begin, transfer.begin + transfer.local_memory->size()));
  const std::string name = transfer.puts ? "a put " : "a get ";
  if (reason == nullptr) {
    if (transfer.withdrawn_before) violate(in, name + "to memory that was withdrawn before has not failed");
    const auto position = exposed_memory.expected.begin() + static_cast<std::ptrdiff_t>(transfer.begin);
    if (!transfer.puts && !std::equal(transfer.local_memory->begin(), transfer.local_memory->end(), position))
      violate(in, "a get has brought other values");
  } else {
    if (!exposed_memory.withdrawn) violate(in, name + "to exposed memory has failed: " + reason);
    if (std::string(reason).find("withdrawn") == std::string::npos) violate(in, name + "has failed so: " + reason);
  }
}

}  // namespace

void memories::must_be_quiet(world& in, const std::string& moment) {
  for (const exposed_memory& each : all) {
    if (each.withdrawn) {
      if (!all_are(each.content, 0, gone)) violate(in, moment + ", withdrawn memory had been written to");
      continue;
    }
    if (!std::equal(each.expected.begin(), each.expected.end(), each.content.begin())) {
      violate(in, moment + ", memory did not hold what was put there");
    }
    if (!all_are(each.content, each.expected.size(), filler)) {
      violate(in, moment + ", a dropped put had read memory that was the caller's again");
    }
  }
  for (const auto& each : taken_back) {
    if (!all_are(each, 0, overwritten))
      violate(in, moment + ", a dropped get had written memory that was the caller's again");
  }
  taken_back.clear();
}

void use_memory(world& in, nacre::operations& op) {
  memories& known = in.memory;
  if (known.all.size() < memories_max && in.truth.random.below(6) == 0) return expose(in, op);
  if (known.all.empty()) return;
  exposed_memory& any = known.all[in.truth.random.below(known.all.size())];
  const bool is_own = any.handle.rank() == op.rank();
  const std::uint64_t odds = any.under_way.empty() ? 6 : 1;  // rather while it is accessed
  if (is_own && !any.withdrawn && in.truth.random.below(odds) == 0) return withdraw(any, op);
  drop(in, any, op);
}

pending_transfer begin_transfer(world& in, nacre::operations& op) {
  if (in.memory.all.empty()) return {};
  exposed_memory& exposed_memory = in.memory.all[in.truth.random.below(in.memory.all.size())];
  const std::size_t size = exposed_memory.expected.size(), length = 1 + in.truth.random.below(size);
  const std::size_t begin = in.truth.random.below(size - length + 1), end = begin + length;
  const auto meets = [&](const auto& other) { return begin < other.second && other.first < end; };
  if (std::any_of(exposed_memory.under_way.begin(), exposed_memory.under_way.end(), meets)) return {};
  exposed_memory.under_way.emplace_back(begin, end);
  pending_transfer begun{.memory = &exposed_memory,
                         .puts = in.truth.random.below(2) == 0,
                         .withdrawn_before = exposed_memory.withdrawn,
                         .begin = begin,
                         .local_memory = std::make_unique<std::vector<std::uint32_t>>(length)};
  if (!begun.puts) {
    begun.done = op.get(exposed_memory.handle, begin, std::span(*begun.local_memory));
    return begun;
  }
  for (std::uint32_t& each : *begun.local_memory) each = static_cast<std::uint32_t>(in.truth.random.next());
  std::copy(begun.local_memory->begin(), begun.local_memory->end(),
            exposed_memory.expected.begin() + static_cast<std::ptrdiff_t>(begin));
  begun.done = op.put(exposed_memory.handle, begin, std::span<const std::uint32_t>(*begun.local_memory));
  return begun;
}

nacre::task<void> finish(world& in, pending_transfer begun) {
  if (begun.memory == nullptr) co_return;
  try {
    co_await std::move(begun.done);
    ended(in, begun, nullptr);
  } catch (const nacre::call_error& error) {
    ended(in, begun, error.what());
  }
}

void finish_in_main(world& in, pending_transfer begun) {
  if (begun.memory == nullptr) return;
  try {
    begun.done.get();
    ended(in, begun, nullptr);
  } catch (const nacre::call_error& error) {
    ended(in, begun, error.what());
  }
}

}  // namespace campaign
