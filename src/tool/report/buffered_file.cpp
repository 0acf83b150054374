// SPDX-License-Identifier: Apache-2.0
// Collects the text of a report and writes it in large pieces.
#include "tool/report/buffered_file.hpp"

#include <cerrno>
#include <cstring>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

[[noreturn]] void refuse_output(const std::string& path) {
  throw setup_error({.problem = "cannot write '" + path + "': " + std::strerror(errno),
                     .why = "the report goes there",
                     .remedy = "name another place with --output"});
}

}  // namespace

buffered_file::buffered_file(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) refuse_output(path);
}

buffered_file::~buffered_file() {
  if (file_ != nullptr) std::fclose(file_);
}

void buffered_file::write() {
  failed_ |= std::fwrite(waiting_.data(), 1, waiting_.size(), file_) != waiting_.size();
  waiting_.clear();
}

void buffered_file::close() {
  write();
  failed_ |= std::fclose(std::exchange(file_, nullptr)) != 0;
  if (failed_) refuse_output(path_);
}

}  // namespace nacre::tool
