#include <weir/core/sha256.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include <openssl/evp.h>

namespace weir {

namespace {

// SHA-256 over memory cannot fail once its context exists; should OpenSSL say otherwise, no digest may be trusted.
void must(int done) noexcept {
  if (done == 1) return;
  std::fputs("weir: OpenSSL cannot compute SHA-256\n", stderr);
  std::abort();
}

// EVP_sha256() would search the providers again in each init; a fetched method is found once. Never freed: threads
// that outlive the static destructors may still hash.
const EVP_MD* method() noexcept {
  static const EVP_MD* const fetched = [] {
    const EVP_MD* found = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
    must(found != nullptr);
    return found;
  }();
  return fetched;
}

EVP_MD_CTX* new_context() {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

digest finish_into_digest(EVP_MD_CTX* context) noexcept {
  digest out;
  unsigned length = 0;
  must(EVP_DigestFinal_ex(context, out.data(), &length));
  must(length == out.size());
  return out;
}

class thread_context {
 public:
  thread_context() : context_(new_context()) {}
  thread_context(const thread_context&) = delete;
  thread_context& operator=(const thread_context&) = delete;
  ~thread_context() { EVP_MD_CTX_free(context_); }
  [[nodiscard]] EVP_MD_CTX* get() const noexcept { return context_; }

 private:
  EVP_MD_CTX* context_;
};

}  // namespace

digest sha256(bytes_view octets) {
  thread_local const thread_context context;
  must(EVP_DigestInit_ex2(context.get(), method(), nullptr));
  must(EVP_DigestUpdate(context.get(), octets.data(), octets.size()));
  return finish_into_digest(context.get());
}

sha256_stream::sha256_stream() : context_(new_context()) {
  must(EVP_DigestInit_ex2(static_cast<EVP_MD_CTX*>(context_), method(), nullptr));
}

sha256_stream::~sha256_stream() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void sha256_stream::update(bytes_view octets) {
  must(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), octets.data(), octets.size()));
}

digest sha256_stream::finish() {
  auto* context = static_cast<EVP_MD_CTX*>(context_);
  const digest out = finish_into_digest(context);
  must(EVP_DigestInit_ex2(context, method(), nullptr));
  return out;
}

}  // namespace weir
