// SPDX-License-Identifier: Apache-2.0
// A process with two copies of the runtime says so.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include <nacre/run.hpp>

#include "runtime/runtime_copies.hpp"

namespace {

/// Loads the library that stands for a copy, until this object ends.
class second_copy {
 public:
  second_copy() : handle_(::dlopen(NACRE_SECOND_COPY, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << ::dlerror();
  }
  second_copy(const second_copy&) = delete;
  second_copy& operator=(const second_copy&) = delete;
  ~second_copy() { ::dlclose(handle_); }

  /// What the code in the library prints where a job begins in it.
  [[nodiscard]] std::string told() const {
    testing::internal::CaptureStderr();
    reinterpret_cast<void (*)()>(::dlsym(handle_, "tell_from_second_copy"))();
    return testing::internal::GetCapturedStderr();
  }

 private:
  void* handle_;
};

TEST(runtime_copies, are_the_files_that_hold_one) {
  const auto alone = nacre::find_runtime_copies();
  ASSERT_EQ(alone.files.size(), 1U);
  EXPECT_TRUE(alone.files[0].ends_with("runtime_copies_test")) << alone.files[0];
  EXPECT_TRUE(alone.own_is_first);
  {
    const second_copy loaded;
    const auto both = nacre::find_runtime_copies();
    ASSERT_EQ(both.files.size(), 2U);
    EXPECT_EQ(both.files[1], NACRE_SECOND_COPY);
    EXPECT_TRUE(both.own_is_first);
  }
  EXPECT_EQ(nacre::find_runtime_copies().files.size(), 1U);
}

TEST(runtime_copies, that_were_loaded_later_say_so_once_in_a_line) {
  const second_copy loaded;
  const std::string line = loaded.told();
  EXPECT_TRUE(line.starts_with("nacre: this process has 2 copies of the runtime, in ")) << line;
  EXPECT_NE(line.find("runtime_copies_test and in " NACRE_SECOND_COPY " ("), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  EXPECT_EQ(loaded.told(), "");
}

TEST(runtime_copies, that_were_loaded_first_say_nothing) {
  const second_copy loaded;
  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(nacre::config(), [](nacre::runtime&) {}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
