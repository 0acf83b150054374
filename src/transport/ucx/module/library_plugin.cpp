// SPDX-License-Identifier: Apache-2.0
// Inside the module: UCX in this process.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "transport/ucx/module/port.hpp"

namespace nacre::transport::ucx {
namespace {

class ucx_library final : public library {
 public:
  ucx_library() {
    unsigned major = 0, minor = 0, release = 0;
    ucp_get_version(&major, &minor, &release);
    name_ = "UCX " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }

  const char* name() const noexcept override { return name_.c_str(); }

  port* open(std::uint32_t ranks, std::span<char> text) noexcept override {
    const std::lock_guard one_at_a_time(opening_);  // ucp_init reads tables that it fills at its first call
    auto result = std::make_unique<ucx_port>(ranks);
    if (result->start()) return result.release();
    const std::string_view words = result->error();
    const std::size_t count = std::min(words.size(), text.size() - 1);
    std::memcpy(text.data(), words.data(), count);
    text[count] = '\0';
    return nullptr;
  }

 private:
  std::mutex opening_;
  std::string name_;
};

}  // namespace
}  // namespace nacre::transport::ucx

extern "C" __attribute__((visibility("default"))) void* nacre_ucx_module(std::uint32_t version) {
  namespace ucx = nacre::transport::ucx;
  static auto* const only = new ucx::ucx_library;  // never destroyed: it ends with the process
  return version == ucx::module_version ? static_cast<ucx::library*>(only) : nullptr;
}
