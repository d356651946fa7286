#pragma once

#include <weir/core/bytes.h>
#include <weir/core/cid.h>

namespace weir {

/// SHA-256 of the octets.
///   Threads  any; each thread keeps one OpenSSL context, allocated on its first call and reused.
///   Cost     about 0.6 µs for 1 KB with the CPU's SHA instructions.
digest sha256(bytes_view octets);

/// SHA-256 over several pieces, as if they were one.
class sha256_stream {
 public:
  sha256_stream();
  ~sha256_stream();
  sha256_stream(const sha256_stream&) = delete;
  sha256_stream& operator=(const sha256_stream&) = delete;

  void update(bytes_view octets);
  /// The digest of all updates; the stream is then empty again.
  digest finish();

 private:
  void* context_;
};

}  // namespace weir
