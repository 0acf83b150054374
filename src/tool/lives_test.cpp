// SPDX-License-Identifier: Apache-2.0
// Whether a job is started again after a death, by the images that are there.
#include "tool/lives.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

struct lives_of_a_job : testing::Test {
  void TearDown() override { std::filesystem::remove_all(path); }
  void take_image(const std::string& job = "own") {
    const images::image_folder folder(path);
    if (life == 0) life = folder.begin_life({});
    ++image;
    images::image_writer file(folder.begin_image(life, image) + "/" + images::name_of_rank_file(0), {life, image, 0, 1},
                              images::image_writer::compression::none);
    images::manifest manifest;
    manifest.life = life;
    manifest.image = image;
    manifest.job = job;
    manifest.files = {file.finish()};
    folder.commit(manifest);
  }
  std::string path = testing::TempDir() + "nacre_lives." + std::to_string(::getpid());
  std::uint64_t life = 0, image = 0;
};

TEST_F(lives_of_a_job, end_without_an_image) {
  lives all(path, "own", "", 3);
  EXPECT_FALSE(all.after_death());
  EXPECT_EQ(all.started(), 1U);
}

TEST_F(lives_of_a_job, do_not_go_on_from_images_of_another_job) {
  take_image("other");
  lives all(path, "own", "", 3);
  EXPECT_FALSE(all.after_death());
  take_image();
  take_image("other");  // at the same time in the same folder
  const auto newest = all.after_death();
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->description.image, 2U);
  lives restored(path, "third", path, 3);
  take_image("other");
  const auto first = restored.after_death();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->description.image, 3U) << "it began from that image, and not from the newest";
  EXPECT_EQ(restored.path_for(*first), first->path);
}

TEST_F(lives_of_a_job, end_when_deaths_come_without_a_newer_image) {
  lives all(path, "own", "", 2);
  take_image();
  EXPECT_TRUE(all.after_death());
  EXPECT_TRUE(all.after_death());
  EXPECT_FALSE(all.after_death()) << "the third death in a row";
  take_image();
  ASSERT_TRUE(all.after_death()) << "it got further";
  EXPECT_TRUE(all.after_death());
  EXPECT_FALSE(all.after_death());
  EXPECT_EQ(all.started(), 5U);
}

TEST_F(lives_of_a_job, leave_a_passing_cause_more_and_more_time) {
  lives all(path, "own", "", 1000);
  for (int image = 0; image < 2; ++image) {
    take_image();
    for (const int seconds : {0, 1, 4, 16, 60, 60}) {
      ASSERT_TRUE(all.after_death());
      EXPECT_EQ(all.pause(), std::chrono::seconds(seconds));
    }
  }
}

TEST_F(lives_of_a_job, go_back_to_the_image_of_another_folder_that_they_began_from) {
  take_image("earlier");
  const std::string target = path + "_target";
  {
    const images::image_folder stale(target);
    static_cast<void>(stale.begin_life({}));
  }
  lives all(target, "own", path, 3);
  const auto first = all.after_death();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->path.starts_with(path + "/"));
  std::filesystem::remove_all(path);
  EXPECT_FALSE(all.after_death()) << "it is gone";
  std::filesystem::remove_all(target);
}

TEST_F(lives_of_a_job, are_shown_with_their_images) {
  EXPECT_THROW(static_cast<void>(images_text(path)), setup_error);
  take_image();
  take_image();
  const std::string text = images_text(path);
  EXPECT_NE(text.find("image-000002   a restored job goes on from here"), std::string::npos) << text;
  EXPECT_NE(text.find("image-000001\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace nacre::tool
