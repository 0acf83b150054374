// SPDX-License-Identifier: Apache-2.0
// GMAC by intel-ipsec-mb, the library of Intel's IPsec and of DPDK.
#include "transport/udp/gmac.hpp"

#include <cstddef>
#include <memory>
#include <span>

#if defined(NACRE_WITH_IPSEC_MB)

#include <intel-ipsec-mb.h>
#include <sodium.h>

#include <nacre/assert.hpp>

#include "base/loaded_library.hpp"

namespace nacre::transport::udp {
namespace {

constexpr unsigned patch_bits = 8;  // of a version: those of major and minor lie above
constexpr const char* ipsec_library = IMB_VERSION_NUM >> 16 == 1 ? "libIPSec_MB.so.1" : "libIPSec_MB.so.2";

/// The library's table of functions for this processor, which its macros read; null: the library cannot be used. Its
/// layout is that of the headers, so the minor version must be theirs.
IMB_MGR* load_ipsec_mb() noexcept {
  const loaded_library library(ipsec_library);
  decltype(&imb_get_version) version = nullptr;
  decltype(&alloc_mb_mgr) make = nullptr;
  decltype(&init_mb_mgr_auto) init = nullptr;
  const bool complete = library.find("imb_get_version", version) && library.find("alloc_mb_mgr", make) &&
                        library.find("init_mb_mgr_auto", init);
  if (!complete) return nullptr;
  if (version() >> patch_bits != IMB_VERSION_NUM >> patch_bits) return nullptr;
  IMB_MGR* const table = make(0);
  if (table == nullptr) return nullptr;
  IMB_ARCH processor = IMB_ARCH_NONE;
  init(table, &processor);
  const bool sound = (table->features & IMB_FEATURE_SELF_TEST_PASS) != 0 && processor >= IMB_ARCH_SSE;
  return sound ? table : nullptr;
}

/// Loaded for the rest of the process.
IMB_MGR* ipsec_mb() noexcept {
  static IMB_MGR* const loaded = load_ipsec_mb();
  return loaded;
}

class ipsec_mb_gmac final : public gmac {
 public:
  ipsec_mb_gmac(IMB_MGR& use, key key) noexcept : use_(use) { IMB_AES256_GCM_PRE(&use_, key.data(), &key_); }
  ipsec_mb_gmac(const ipsec_mb_gmac&) = delete;
  ipsec_mb_gmac& operator=(const ipsec_mb_gmac&) = delete;
  ~ipsec_mb_gmac() override { sodium_memzero(&key_, sizeof key_); }

  datagram_tag tag_of(byte_pieces covered, const nonce& number) noexcept override;
  std::size_t bytes_min() const noexcept override { return 0; }

 private:
  IMB_MGR& use_;
  alignas(64) gcm_key_data key_;
};

datagram_tag ipsec_mb_gmac::tag_of(byte_pieces covered, const nonce& number) noexcept {
  datagram_tag result;
  alignas(64) gcm_context_data state;
  const auto bytes_of = [](std::span<const std::byte> piece) {
    return reinterpret_cast<const unsigned char*>(piece.data());
  };
  if (covered.size() == 1) {  // half of the time of three calls
    IMB_AES256_GCM_ENC(&use_, &key_, &state, nullptr, nullptr, 0, number.data(), bytes_of(covered[0]),
                       covered[0].size(), result.data(), result.size());
    return result;
  }
  IMB_AES256_GMAC_INIT(&use_, &key_, &state, number.data(), number.size());
  for (const std::span<const std::byte> piece : covered) {
    if (!piece.empty()) IMB_AES256_GMAC_UPDATE(&use_, &key_, &state, bytes_of(piece), piece.size());
  }
  IMB_AES256_GMAC_FINALIZE(&use_, &key_, &state, result.data(), result.size());
  return result;
}

}  // namespace

std::unique_ptr<gmac> gmac::by_ipsec_mb(key key) {
  IMB_MGR* const use = ipsec_mb();
  return use == nullptr ? nullptr : std::make_unique<ipsec_mb_gmac>(*use, key);
}

}  // namespace nacre::transport::udp

#else

namespace nacre::transport::udp {

std::unique_ptr<gmac> gmac::by_ipsec_mb(key) { return nullptr; }

}  // namespace nacre::transport::udp

#endif
