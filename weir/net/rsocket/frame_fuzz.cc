// libFuzzer target: whatever the octets, parse_frame refuses them or gives a frame that writes them again.
//
//     clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. weir/net/rsocket/frame_fuzz.cc
//       weir/net/rsocket/frame.cc weir/core/result.cc -lfmt -o /tmp/frame_fuzz
#include <algorithm>
#include <cstdlib>

#include <weir/net/rsocket/frame.h>

namespace {

using namespace weir;
using namespace weir::net::rsocket;

/// Fields after which a frame of this type ends; octets behind them are passed over by the reader.
bool ends_with_its_fields(frame_type type) {
  using enum frame_type;
  return type == request_n || type == cancel || type == resume || type == resume_ok || type == lease ||
         type == metadata_push;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes_view octets(data, size);
  const auto read = parse_frame(octets);
  if (!read) return 0;
  bytes again;
  append_frame(again, *read);
  const auto written = bytes_view(again).subspan(frame_length_bytes);
  const auto same = std::min(written.size(), octets.size());
  if (written.size() > octets.size()) std::abort();
  if (written.size() < octets.size() && !ends_with_its_fields(read->type)) std::abort();
  if (!std::equal(written.begin(), written.begin() + std::ptrdiff_t(same), octets.begin())) std::abort();
  return 0;
}
