// SPDX-License-Identifier: Apache-2.0
// The wish that the job takes a last image and ends.
#include "join/launch/image_wish.hpp"

#include <atomic>

namespace nacre::launch {
namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

}  // namespace

void wish_last_image(int signal) noexcept { noted.store(signal, std::memory_order_relaxed); }  // only a number

int last_image_signal() noexcept { return noted.load(std::memory_order_relaxed); }  // only a number

void forget_last_image() noexcept { noted.store(0, std::memory_order_relaxed); }  // only a number

}  // namespace nacre::launch
