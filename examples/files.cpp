// SPDX-License-Identifier: Apache-2.0
// The program of docs/files.md: objects in files, written by one job and read by another one that has fewer ranks.
// prints: 3 ranks have written 12 boxes, sum 1724
// prints: 2 ranks have read them, sum 1724
// prints: refused: box-3: a length exceeds what the remaining bytes can hold
// prints: refused: box-4: no box, or one of another version
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace fs = std::filesystem;

/// Opens every file. Raise the version whenever `box::serialize` changes: the bytes do not tell what they mean.
struct file_head {
  std::uint64_t magic = 0x31786f6265726361;
  std::uint32_t version = 1;
  friend bool operator==(const file_head&, const file_head&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(magic, version);
  }
};

/// Writes a file as a whole or not at all: a job that ends halfway leaves the old one.
void write_file(const fs::path& file, const std::vector<std::byte>& bytes) {
  const fs::path next = file.string() + ".next";
  std::ofstream out(next, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + next.string());
  fs::rename(next, file);
}

std::vector<std::byte> bytes_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error("cannot read " + file.string());
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

struct box {
  std::vector<double> values;

  double sum() const {
    double all = 0;
    for (const double each : values) all += each;
    return all;
  }
  void save(nacre::context& ctx, const std::string& folder) const {
    write_file(fs::path(folder) / ("box-" + std::to_string(ctx.index()[0])), nacre::pack(file_head{}, *this));
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values);
  }
};

box box_of_file(const fs::path& file) {
  const std::vector<std::byte> bytes = bytes_of_file(file);
  const std::size_t head = nacre::packed_size(file_head{});
  if (bytes.size() < head || nacre::unpack<file_head>(std::span(bytes).first(head)) != file_head{})
    throw std::runtime_error(file.filename().string() + ": no box, or one of another version");
  auto read = nacre::unpack<std::tuple<file_head, box>>(bytes);  // what was packed in one call is read in one
  if (!read) throw std::runtime_error(file.filename().string() + ": " + std::string(nacre::describe(read.error())));
  return std::get<box>(std::move(*read));
}

int run_on(const char* ranks, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  configuration.set("ranks", ranks);
  return nacre::run(configuration, main);
}

/// Prints why a damaged file is refused.
void try_to_read(const fs::path& file) {
  try {
    static_cast<void>(box_of_file(file));
  } catch (const std::runtime_error& problem) {
    std::printf("refused: %s\n", problem.what());
  }
}

int main() {
  const std::string folder = (fs::temp_directory_path() / ("nacre-boxes-" + std::to_string(getpid()))).string();
  fs::create_directory(folder);
  int failed = run_on("3", [&](nacre::runtime& rt) {
    const auto boxes = rt.create_array<box>(nacre::extents{12}, [](nacre::index index) {
      return box{std::vector<double>(static_cast<std::size_t>(index[0]) + 10, static_cast<double>(index[0]) + 3)};
    });
    if (rt.rank().value() != 0) return;
    rt.call<&box::save>(boxes, folder).get();  // each writes its own file, where it is
    std::printf("3 ranks have written 12 boxes, sum %.0f\n", rt.reduce<&box::sum>(boxes, std::plus<>{}).get());
  });
  failed |= run_on("2", [&](nacre::runtime& rt) {
    const auto boxes = rt.create_array<box>(nacre::extents{12}, [&](nacre::index index) {
      return box_of_file(fs::path(folder) / ("box-" + std::to_string(index[0])));
    });
    if (rt.rank().value() != 0) return;
    std::printf("2 ranks have read them, sum %.0f\n", rt.reduce<&box::sum>(boxes, std::plus<>{}).get());
  });
  fs::resize_file(fs::path(folder) / "box-3", 50);
  try_to_read(fs::path(folder) / "box-3");
  std::ofstream(fs::path(folder) / "box-4") << "some other bytes";
  try_to_read(fs::path(folder) / "box-4");
  fs::remove_all(folder);
  return failed;
}
