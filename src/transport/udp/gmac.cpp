// SPDX-License-Identifier: Apache-2.0
// GMAC of long datagrams, in one piece or in several, by libcrypto.
#include "transport/udp/gmac.hpp"

#if defined(NACRE_WITH_LIBCRYPTO)

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include <nacre/assert.hpp>

namespace nacre::transport::udp {
namespace {

constexpr const char* library_name = "libcrypto.so.3";

/// The functions of libcrypto that are used here, and its description of the cipher.
struct library {
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

template <class Function>
bool find(void* handle, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

library load() noexcept {
  library result;
  void* const handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return result;
  const bool complete =
      find(handle, "OPENSSL_init_crypto", result.init) && find(handle, "EVP_CIPHER_fetch", result.fetch) &&
      find(handle, "EVP_CIPHER_CTX_new", result.make_context) &&
      find(handle, "EVP_CIPHER_CTX_free", result.free_context) && find(handle, "EVP_EncryptInit_ex2", result.begin) &&
      find(handle, "EVP_EncryptUpdate", result.add) && find(handle, "EVP_EncryptFinal_ex", result.end) &&
      find(handle, "EVP_CIPHER_CTX_ctrl", result.control);
  // Threads of the transport may sign until the process ends, so the library frees nothing before.
  if (!complete || result.init(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return result;
  result.cipher = result.fetch(nullptr, "AES-256-GCM", nullptr);
  return result;
}

/// Loaded for the rest of the process.
const library& libcrypto() noexcept {
  static const library loaded = load();
  return loaded;
}

EVP_CIPHER_CTX* of(void* context) noexcept { return static_cast<EVP_CIPHER_CTX*>(context); }

}  // namespace

std::unique_ptr<gmac> gmac::make(std::span<const std::byte, 32> key) {
  const library& use = libcrypto();
  if (use.cipher == nullptr) return nullptr;
  std::unique_ptr<gmac> result(new gmac(use.make_context()));
  if (result->context_ == nullptr) return nullptr;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (use.begin(of(result->context_), use.cipher, bytes, nullptr, nullptr) != 1) return nullptr;
  return result;
}

gmac::~gmac() { libcrypto().free_context(of(context_)); }

datagram_tag gmac::tag_of(byte_pieces covered, const nonce& number) noexcept {
  const library& use = libcrypto();
  EVP_CIPHER_CTX* const context = of(context_);
  datagram_tag result{};
  int unused = 0;
  bool good = use.begin(context, nullptr, nullptr, number.data(), nullptr) == 1;
  for (const std::span<const std::byte> piece : covered) {
    NACRE_ASSERT(piece.size() <= datagram_bytes_max, "a piece is part of a datagram");
    if (piece.empty()) continue;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(piece.data());
    good = good && use.add(context, nullptr, &unused, bytes, static_cast<int>(piece.size())) == 1;
  }
  unsigned char none = 0;
  good = good && use.end(context, &none, &unused) == 1 &&
         use.control(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(result.size()), result.data()) == 1;
  NACRE_ENSURE(good, "a cipher that has taken its key makes tags");
  return result;
}

}  // namespace nacre::transport::udp

#else

namespace nacre::transport::udp {

std::unique_ptr<gmac> gmac::make(std::span<const std::byte, 32>) { return nullptr; }
gmac::~gmac() { static_cast<void>(context_); }
datagram_tag gmac::tag_of(byte_pieces, const nonce&) noexcept { return {}; }

}  // namespace nacre::transport::udp

#endif
