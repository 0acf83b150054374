// SPDX-License-Identifier: Apache-2.0
// Jobs that take images and go on from them, and classes that several tests of images use.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <nacre/nacre.hpp>

namespace nacre::tests {

struct mayor {
  std::uint64_t votes = 0;
  void vote(std::uint64_t count) { votes += count; }
  std::uint64_t result() const { return votes; }
  void merge(mayor&& other) { votes += other.votes; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(votes);
  }
};

struct street {
  std::uint64_t cars = 0;
  void drive(std::uint64_t count) { cars += count; }
  std::uint64_t count() const { return cars; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cars);
  }
};

/// A folder of images that goes with the test.
struct images_of : testing::Test {
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] static config options(const std::string& transport, std::uint32_t ranks) {
    config configuration;
    configuration.set("transport", transport);
    configuration.set("ranks", ranks);
    configuration.set("workers", "2");
    return configuration;
  }
  [[nodiscard]] config writing(config configuration) const {
    configuration.set("checkpoint.folder", folder);
    configuration.set("checkpoint.every", "1ns");
    return configuration;
  }
  [[nodiscard]] config restoring(config configuration) const {
    configuration.set("restore", folder);
    return configuration;
  }

  std::string folder = testing::TempDir() + "nacre_image_jobs." + std::to_string(::getpid());
};

}  // namespace nacre::tests
