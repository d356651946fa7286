// Whatever octets come: the reader refuses them or they are the one spelling of what it reads; nothing else happens.
#include <cstdio>
#include <cstdlib>

#include <weir/core/testing/cbor_value.h>

namespace {

void must(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const weir::bytes_view input(data, size);
  const bool valid = weir::cbor::validate(input).ok();
  const auto value = weir::testing::decode(input);
  must(valid == value.ok(), "validate and the calls of the reader agree");
  if (value) must(weir::testing::encode(*value) == weir::to_bytes(input), "one spelling");

  // The calls of the reader without validate before them, in an order that the input chooses.
  weir::cbor::reader reader(input);
  for (std::size_t i = 0; i < size && i < 64; ++i) {
    const std::size_t before = reader.offset();
    const bool taken = data[i] % 2 == 0 ? reader.skip().ok() : reader.key("", data[i] % 4 == 1).ok();
    must(taken ? reader.offset() > before : reader.offset() == before, "a failed call takes nothing");
    must(reader.offset() <= size, "inside of the input");
    if (!taken && !reader.array() && !reader.map() && !reader.text() && !reader.link()) break;
  }
  return 0;
}
