// Reads octets in hexadecimal, one item a line, and answers each line with one: "refused" and why, or the item taken
// apart and written anew, its SHA-256 and its two CIDs.
#include <cstdio>
#include <string>

#include <weir/core/cid.h>
#include <weir/core/file.h>
#include <weir/core/hex.h>
#include <weir/core/sha256.h>
#include <weir/core/testing/cbor_value.h>

namespace {

std::string answer(std::string_view line) {
  const auto octets = weir::from_hex(line);
  if (!octets) return "refused " + octets.error().message;
  const auto value = weir::testing::decode(*octets);
  if (!value) return "refused " + value.error().message;
  const weir::bytes written = weir::testing::encode(*value);
  return weir::to_hex(written) + " " + weir::to_hex(weir::sha256(written)) + " " +
         weir::cid::of(weir::codec::raw, written).text() + " " + weir::cid::of(weir::codec::dag_cbor, written).text();
}

}  // namespace

int main() {
  auto input = weir::line_reader::open("-", 1 << 20);
  std::string_view line;
  while (true) {
    const auto more = input->next(line);
    if (!more) {
      std::fprintf(stderr, "%s\n", more.error().message.c_str());
      return 1;
    }
    if (!*more) return 0;
    std::puts(answer(line).c_str());
  }
}
