// SPDX-License-Identifier: Apache-2.0
// GMAC by libcrypto, the library of OpenSSL.
#include "transport/udp/gmac.hpp"

#include <cstddef>
#include <memory>
#include <span>

#if defined(NACRE_WITH_LIBCRYPTO)

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <nacre/assert.hpp>

#include "base/loaded_library.hpp"

namespace nacre::transport::udp {
namespace {

constexpr const char* crypto_library = "libcrypto.so.3";

/// The functions of libcrypto that are used here, and its description of the cipher.
struct crypto_functions {
  decltype(&OPENSSL_init_crypto) init = nullptr;
  decltype(&EVP_CIPHER_fetch) fetch = nullptr;
  decltype(&EVP_CIPHER_CTX_new) make_context = nullptr;
  decltype(&EVP_CIPHER_CTX_free) free_context = nullptr;
  decltype(&EVP_EncryptInit_ex2) begin = nullptr;
  decltype(&EVP_EncryptUpdate) add = nullptr;
  decltype(&EVP_EncryptFinal_ex) end = nullptr;
  decltype(&EVP_CIPHER_CTX_ctrl) control = nullptr;
  EVP_CIPHER* cipher = nullptr;  // null: the library cannot be used
};

crypto_functions load_libcrypto() noexcept {
  crypto_functions result;
  const loaded_library library(crypto_library);
  const bool complete =
      library.find("OPENSSL_init_crypto", result.init) && library.find("EVP_CIPHER_fetch", result.fetch) &&
      library.find("EVP_CIPHER_CTX_new", result.make_context) &&
      library.find("EVP_CIPHER_CTX_free", result.free_context) && library.find("EVP_EncryptInit_ex2", result.begin) &&
      library.find("EVP_EncryptUpdate", result.add) && library.find("EVP_EncryptFinal_ex", result.end) &&
      library.find("EVP_CIPHER_CTX_ctrl", result.control);
  // Threads of the transport may sign until the process ends, so the library frees nothing before.
  if (!complete || result.init(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return result;
  result.cipher = result.fetch(nullptr, "AES-256-GCM", nullptr);
  return result;
}

/// Loaded for the rest of the process.
const crypto_functions& libcrypto() noexcept {
  static const crypto_functions loaded = load_libcrypto();
  return loaded;
}

class libcrypto_gmac final : public gmac {
 public:
  explicit libcrypto_gmac(EVP_CIPHER_CTX* context) noexcept : context_(context) {}
  libcrypto_gmac(const libcrypto_gmac&) = delete;
  libcrypto_gmac& operator=(const libcrypto_gmac&) = delete;
  ~libcrypto_gmac() override { libcrypto().free_context(context_); }

  datagram_tag tag_of(byte_pieces covered, const nonce& number) noexcept override;
  std::size_t bytes_min() const noexcept override { return 2048; }  // measured on a processor with AVX-512

 private:
  EVP_CIPHER_CTX* context_;
};

datagram_tag libcrypto_gmac::tag_of(byte_pieces covered, const nonce& number) noexcept {
  const crypto_functions& use = libcrypto();
  datagram_tag result{};
  int unused = 0;
  bool good = use.begin(context_, nullptr, nullptr, number.data(), nullptr) == 1;
  for (const std::span<const std::byte> piece : covered) {
    NACRE_ASSERT(piece.size() <= datagram_bytes_max, "a piece is part of a datagram");
    if (piece.empty()) continue;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(piece.data());
    good = good && use.add(context_, nullptr, &unused, bytes, static_cast<int>(piece.size())) == 1;
  }
  unsigned char none = 0;
  good = good && use.end(context_, &none, &unused) == 1 &&
         use.control(context_, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(result.size()), result.data()) == 1;
  NACRE_ENSURE(good, "a cipher that has taken its key makes tags");
  return result;
}

}  // namespace

std::unique_ptr<gmac> gmac::by_libcrypto(key key) {
  const crypto_functions& use = libcrypto();
  if (use.cipher == nullptr) return nullptr;
  EVP_CIPHER_CTX* const context = use.make_context();
  if (context == nullptr) return nullptr;
  auto result = std::make_unique<libcrypto_gmac>(context);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (use.begin(context, use.cipher, bytes, nullptr, nullptr) != 1) return nullptr;
  return result;
}

}  // namespace nacre::transport::udp

#else

namespace nacre::transport::udp {

std::unique_ptr<gmac> gmac::by_libcrypto(key) { return nullptr; }

}  // namespace nacre::transport::udp

#endif
