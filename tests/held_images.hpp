// SPDX-License-Identifier: Apache-2.0
// Jobs that take images in the middle of a wait, and the images that have messages in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "image_jobs.hpp"
#include "images/image_folder.hpp"
#include "runtime/image_sections.hpp"

namespace nacre::tests {

/// The bytes of a section in all files of an image; the messages that lie, unless told otherwise.
inline std::size_t bytes_lying(const images::found_image& image, std::uint32_t section = lying_section) {
  std::size_t sum = 0;
  const images::manifest& manifest = image.description;
  for (std::uint32_t rank = 0; rank < manifest.ranks(); ++rank) {
    const images::file_name name{manifest.life, manifest.image, rank, manifest.ranks()};
    const images::sections file = images::read_image_file(image.file_of(rank), name, manifest.files[rank]);
    if (const auto match = file.find(section); match != file.end()) sum += match->second.size();
  }
  return sum;
}

struct held_images_of : images_of {
  /// A simulated job on a network and with parts of the runtime that are drawn from the seed.
  [[nodiscard]] static config drawn(std::uint32_t ranks, int seed) {
    config configuration = options("sim", ranks);
    rng draw(static_cast<std::uint64_t>(seed));
    const auto set = [&](const char* name, std::initializer_list<const char*> values) {
      configuration.set(name, *(values.begin() + draw.below(values.size())));
    };
    configuration.set("seed", seed);
    set("workers", {"1", "2", "3"});
    set("sim.latency", {"300ns", "1500ns", "20us"});
    set("sim.jitter", {"0", "0.5", "10"});
    set("sim.late_probability", {"0", "0.05"});
    set("aggregate", {"on", "off"});
    set("location", {"lazy_forwarding", "jump_update", "path_update", "home", "broadcast_update"});
    set("location_cache", {"1", "65536"});
    set("hops_max", {"1", "8"});
    set("receive_memory", {"1KiB", "4KiB", "256MiB"});
    set("send_memory", {"1KiB", "64MiB"});
    set("balancer", {"none", "random", "rotate", "steal", "diffusion", "adaptive"});
    return configuration;
  }
  [[nodiscard]] config often(config configuration, const char* every) const {
    configuration.set("checkpoint.folder", folder);
    configuration.set("checkpoint.every", every);
    return configuration;
  }
  /// Removes images until the one that counts has messages in it. Returns whether there is one.
  [[nodiscard]] bool go_back_to_messages() const {
    std::vector<std::string> problems;
    for (const images::found_image& each : images::image_folder(folder).images(problems)) {
      if (bytes_lying(each) != 0) return true;
      std::filesystem::remove_all(each.path);
    }
    return false;
  }
};

}  // namespace nacre::tests
