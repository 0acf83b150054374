// SPDX-License-Identifier: Apache-2.0
// Loaded before a program (LD_PRELOAD), ends it as soon as it starts a thread.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  std::fputs("no_threads: a thread is started, so this test belongs to those of the thread sanitizer\n", stderr);
  std::abort();
}
