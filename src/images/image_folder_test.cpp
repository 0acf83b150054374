// SPDX-License-Identifier: Apache-2.0
// Folders of images: which image counts, and what goes.
#include "images/image_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "images/image_error.hpp"

namespace nacre::images {
namespace {

struct images_of_a_job : testing::Test {
  void TearDown() override { std::filesystem::remove_all(path); }
  /// Takes an image whose file has a byte or so.
  void take(std::uint64_t life, std::uint64_t image) const {
    image_writer file(folder.begin_image(life, image) + "/" + name_of_rank_file(0), {life, image, 0, 1},
                      image_writer::compression::none);
    folder.commit({.life = life,
                   .image = image,
                   .seconds = 1.0 / 3,
                   .taken = "2026-11-29T10:00:00Z",
                   .job = "",
                   .command = "app \xff --steps=3",  // no UTF-8
                   .kept = "progress",
                   .objects = 5,
                   .raw_bytes = 6,
                   .files = {file.finish()}});
  }
  /// A life of an earlier version of Nacre, which does not tell where it began.
  [[nodiscard]] std::uint64_t begin_old_life() const {
    const std::uint64_t life = folder.begin_life(anew);
    std::filesystem::remove(path + "/life-00000" + std::to_string(life) + "/life.json");
    return life;
  }
  /// Leaves an image without a manifest.
  void leave(std::uint64_t life, std::uint64_t image) const {
    static_cast<void>(image_writer(folder.begin_image(life, image) + "/" + name_of_rank_file(0), {life, image, 0, 1},
                                   image_writer::compression::none)
                          .finish());
  }
  [[nodiscard]] bool is_there(const std::string& name) const { return std::filesystem::exists(path + "/" + name); }
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> names, problems;
    for (const found_image& each : folder.images(problems)) names.push_back(each.path.substr(path.size() + 1));
    return names;
  }

  std::string path = testing::TempDir() + "nacre_images." + std::to_string(::getpid()) + "/of/a/job";
  image_folder folder{path};
  const life_record anew{.job = "", .command = "app", .from = {}};
};

TEST_F(images_of_a_job, count_from_the_newest_life_that_has_one) {
  EXPECT_TRUE(found().empty()) << "there is no folder yet";
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  take(1, 2);
  ASSERT_EQ(folder.begin_life(anew), 2U);
  EXPECT_EQ(found().front(), "life-000001/image-000002") << "the second life has none";
  take(2, 3);
  take(1, 4);  // a job that had been given up for dead
  EXPECT_EQ(found().front(), "life-000002/image-000003");
  EXPECT_EQ(found().size(), 4U);
}

TEST_F(images_of_a_job, do_not_count_before_their_manifest) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  static_cast<void>(folder.begin_image(1, 2));
  EXPECT_EQ(found(), std::vector<std::string>{"life-000001/image-000001"});
  EXPECT_THROW(static_cast<void>(folder.begin_image(1, 2)), write_error) << "no number is used twice";
  folder.remove_unfinished(1, 2);
  EXPECT_FALSE(std::filesystem::exists(path + "/life-000001/image-000002"));
}

TEST_F(images_of_a_job, are_described_by_their_manifests) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  std::vector<std::string> problems;
  const std::vector<found_image> all = folder.images(problems);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].description.seconds, 1.0 / 3);
  EXPECT_EQ(all[0].description.ranks(), 1U);
  EXPECT_EQ(all[0].description.objects, 5U);
  EXPECT_TRUE(read_image_file(all[0].file_of(0), {1, 1, 0, 1}, all[0].description.files[0]).empty());
  EXPECT_TRUE(problems.empty());
}

TEST_F(images_of_a_job, are_told_when_a_manifest_is_damaged) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  take(1, 2);
  const std::string manifest = path + "/life-000001/image-000002/manifest.json";
  std::ifstream in(manifest);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string other = whole;
    other[place] = static_cast<char>(other[place] ^ 4);
    std::ofstream(manifest, std::ios::trunc) << other;
    std::vector<std::string> problems;
    const std::vector<found_image> all = folder.images(problems);
    // A changed space changes nothing; all else is noticed.
    if (all.size() == 2) {
      EXPECT_TRUE(whole[place] == ' ' || whole[place] == '\n') << place << whole[place];
    } else {
      EXPECT_EQ(problems.size(), 1U) << place;
    }
  }
}

TEST_F(images_of_a_job, keep_two_and_remove_what_is_older) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  leave(1, 2);
  take(1, 3);
  leave(1, 4);
  ASSERT_EQ(folder.begin_life({.job = "", .command = "app", .from = {1, 3}}), 2U);
  take(2, 4);
  folder.remove_older(2, 2);
  EXPECT_EQ(found(), (std::vector<std::string>{"life-000002/image-000004", "life-000001/image-000003"}));
  EXPECT_FALSE(is_there("life-000001/image-000002"));
  EXPECT_FALSE(is_there("life-000001/image-000004")) << "that life is over";
  take(2, 5);
  folder.remove_older(2, 2);
  EXPECT_FALSE(is_there("life-000001"));
  EXPECT_EQ(folder.begin_life(anew), 3U) << "numbers grow";
}

TEST_F(images_of_a_job, keep_those_of_other_starts) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  for (const std::uint64_t image : {1U, 2U, 3U}) take(1, image);
  leave(1, 4);
  ASSERT_EQ(folder.begin_life(anew), 2U) << "without a restore";
  for (const std::uint64_t image : {1U, 2U, 3U}) take(2, image);
  folder.remove_older(2, 2);
  EXPECT_EQ(found(), (std::vector<std::string>{"life-000002/image-000003", "life-000002/image-000002",
                                               "life-000001/image-000003", "life-000001/image-000002",
                                               "life-000001/image-000001"}));
  EXPECT_TRUE(is_there("life-000001/image-000004")) << "somebody may be writing it";
  ASSERT_EQ(folder.begin_life({.job = "", .command = "app", .from = {1, 2}}), 3U) << "back to an earlier one";
  for (const std::uint64_t image : {3U, 4U}) take(3, image);
  folder.remove_older(3, 2, {.damaged = {}, .spared = image_number{1, 2}});
  EXPECT_EQ(found(), (std::vector<std::string>{"life-000003/image-000004", "life-000003/image-000003",
                                               "life-000002/image-000003", "life-000002/image-000002",
                                               "life-000001/image-000003", "life-000001/image-000002"}));
}

TEST_F(images_of_a_job, of_earlier_versions_go_on_from_the_life_before) {
  for (const std::uint64_t life : {1U, 2U}) {
    ASSERT_EQ(begin_old_life(), life);
    take(life, life);
  }
  ASSERT_EQ(folder.begin_life({.job = "", .command = "app", .from = {2, 2}}), 3U);
  EXPECT_EQ(folder.lineage({3, 7}).size(), 3U);
  EXPECT_TRUE(has(folder.lineage({3, 7}), {1, 5}));
  EXPECT_FALSE(has(folder.lineage({3, 7}), {2, 3})) << "it began from the one before";
  take(3, 3);
  folder.remove_older(3, 2);
  EXPECT_EQ(found(), (std::vector<std::string>{"life-000003/image-000003", "life-000002/image-000002"}));
}

TEST_F(images_of_a_job, have_no_lineage_behind_a_life_that_cannot_be_read) {
  for (const std::uint64_t life : {1U, 2U}) {
    ASSERT_EQ(begin_old_life(), life);
    take(life, life);
  }
  std::ofstream(path + "/life-000002/life.json") << "{}";
  EXPECT_EQ(folder.lineage({2, 2}), (std::vector<image_number>{{2, 2}}));
  std::ofstream(path + "/life-000002/life.json") << text_of(life_record{.job = "", .command = "", .from = {2, 1}});
  EXPECT_EQ(folder.lineage({2, 2}), (std::vector<image_number>{{2, 2}})) << "no life goes on from itself";
}

TEST_F(images_of_a_job, leave_no_remains_of_its_own_earlier_lives) {
  ASSERT_EQ(folder.begin_life({.job = "a", .command = "app", .from = {}}), 1U);
  take(1, 1);
  leave(1, 2);
  ASSERT_EQ(folder.begin_life({.job = "b", .command = "app", .from = {1, 1}}), 2U);
  leave(2, 2);
  ASSERT_EQ(folder.begin_life({.job = "c", .command = "other", .from = {1, 1}}), 3U);
  leave(3, 2);
  ASSERT_EQ(begin_old_life(), 4U);
  leave(4, 2);
  const life_record own{.job = "d", .command = "app", .from = {1, 1}};
  EXPECT_TRUE(folder.remove_remains(0, own));
  EXPECT_FALSE(folder.remove_remains(0, own)) << "nothing is left";
  EXPECT_EQ(found(), std::vector<std::string>{"life-000001/image-000001"});
  EXPECT_FALSE(is_there("life-000001/image-000002")) << "it goes on from that life";
  EXPECT_FALSE(is_there("life-000002/image-000002")) << "that was the same start";
  EXPECT_TRUE(is_there("life-000003/image-000002")) << "that may be a job that runs";
  EXPECT_TRUE(is_there("life-000004/image-000002"));
  EXPECT_TRUE(folder.remove_remains(4, {.job = "c", .command = "", .from = {}})) << "a life of the same nacre run";
  leave(4, 3);
  EXPECT_FALSE(folder.remove_remains(4, {.job = "", .command = "", .from = {4, 1}})) << "its own, and later ones";
}

TEST_F(images_of_a_job, keep_two_that_are_sound) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  for (const std::uint64_t image : {1U, 2U, 3U}) take(1, image);
  folder.remove_older(1, 2, {.damaged = {{1, 2}}});
  EXPECT_EQ(found(), (std::vector<std::string>{"life-000001/image-000003", "life-000001/image-000001"}));
  EXPECT_FALSE(is_there("life-000001/image-000002")) << "it was damaged";
}

TEST_F(images_of_a_job, are_those_up_to_one_that_is_named) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  for (const std::uint64_t image : {1U, 2U, 3U}) take(1, image);
  for (const std::string end : {"", "/"}) {
    std::vector<std::string> problems;
    const image_folder named = image_folder::up_to(path + "/life-000001/image-000002" + end);
    const std::vector<found_image> all = named.images(problems);
    EXPECT_EQ(named.path(), path);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all.front().number(), (image_number{1, 2}));
    EXPECT_EQ(image_folder::up_to(path + end).images(problems).size(), 3U) << "a folder is itself";
  }
}

TEST_F(images_of_a_job, are_there_or_not_when_one_is_named) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  for (const std::uint64_t image : {1U, 2U}) take(1, image);
  ASSERT_EQ(folder.begin_life(anew), 2U);
  leave(2, 3);
  const auto is_named_one_there = [&](const std::string& name) { return image_folder::up_to(path + name).has_named(); };
  EXPECT_TRUE(is_named_one_there("")) << "none is named";
  EXPECT_TRUE(is_named_one_there("/life-000001/image-000002"));
  EXPECT_FALSE(is_named_one_there("/life-000001/image-000003"));
  EXPECT_FALSE(is_named_one_there("/life-000002/image-000003")) << "it is not whole";
  EXPECT_TRUE(is_named_one_there("/life-000001"));
  EXPECT_FALSE(is_named_one_there("/life-000002/")) << "it has no image";
  EXPECT_FALSE(is_named_one_there("/life-000009"));
  std::ofstream(path + "/life-000001/image-000002/manifest.json") << "{}";
  EXPECT_TRUE(is_named_one_there("/life-000001/image-000002")) << "it is damaged, but there";
  std::vector<std::string> problems;
  const std::vector<found_image> of_life = image_folder::up_to(path + "/life-000001").images(problems);
  ASSERT_EQ(of_life.size(), 1U);
  EXPECT_EQ(of_life.front().number(), (image_number{1, 1}));
  const std::string odd = path + "/life-000007/life-000001/image-000001";
  std::filesystem::create_directories(odd);
  EXPECT_FALSE(image_folder::up_to(path + "/life-000007").named()) << "a folder of images that has such a name";
}

TEST_F(images_of_a_job, are_refused_when_somebody_has_nested_a_manifest_deeply) {
  ASSERT_EQ(folder.begin_life(anew), 1U);
  take(1, 1);
  std::string deep = R"({"checksum":"0","nacre image":)";
  constexpr std::size_t levels = 1'000'000;
  deep.append(levels, '[').append(levels, ']').append("}");
  std::ofstream(path + "/life-000001/image-000001/manifest.json") << deep;
  std::vector<std::string> problems;
  EXPECT_TRUE(folder.images(problems).empty());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("nested too deeply"), std::string::npos) << problems[0];
}

TEST(text_of_a_manifest, is_shown_without_control_characters) {
  EXPECT_EQ(shown("app\x1b[2J\n\x7f \xc3\xa4"), "app?[2J?? \xc3\xa4");
}

TEST_F(images_of_a_job, are_not_said_to_be_missing_where_nobody_can_look) {
  const image_folder none(path), hidden(path + "/" + std::string(300, 'x'));  // longer than names may be
  std::vector<std::string> problems;
  EXPECT_TRUE(none.images(problems).empty());
  std::filesystem::create_directories(path);
  EXPECT_THROW(static_cast<void>(hidden.images(problems)), damaged_error);
  EXPECT_THROW(static_cast<void>(hidden.begin_life(anew)), write_error);
}

TEST_F(images_of_a_job, say_what_the_disk_refuses) {
  std::filesystem::create_directories(testing::TempDir() + "nacre_images." + std::to_string(::getpid()));
  const image_folder file("/dev/null/images");
  EXPECT_THROW(static_cast<void>(file.begin_life(anew)), write_error);
  EXPECT_THROW(static_cast<void>(folder.begin_image(1, 1)), write_error) << "there is no such life";
  std::filesystem::create_directories(path + "/life-18446744073709551615");
  EXPECT_THROW(static_cast<void>(folder.begin_life(anew)), write_error) << "there is no number behind it";
}

}  // namespace
}  // namespace nacre::images
