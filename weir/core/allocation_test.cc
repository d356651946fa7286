// What promises not to allocate is watched by a counting operator new, which replaces the global one in this program.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <weir/core/cbor.h>
#include <weir/core/crc32c.h>
#include <weir/core/keys.h>
#include <weir/core/set_hash.h>
#include <weir/core/sha256.h>

namespace {

thread_local std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t& quiet) noexcept { return operator new(size, quiet); }
// Kept out of line, or g++ sees free() where delete was called and takes it for a mistake.
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete[](void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::size_t) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete[](void* made, std::size_t) noexcept { std::free(made); }

namespace weir {
namespace {

// The shape of a statement: what a store reads a million times.
bytes sample() {
  bytes out;
  const cid object = cid::of(codec::raw, as_bytes("object"));
  cbor::writer(out)
      .map(6)
      .key("ref")
      .array(2)
      .text("deb:bash/5.2.15-2/amd64")
      .text("a-text-longer-than-any-short-string-buffer")
      .key("tag")
      .array(0)
      .key("deps")
      .array(1)
      .link(object)
      .key("time")
      .unsigned_integer(1'700'000'000)
      .key("object")
      .link(object)
      .key("weight")
      .floating(0.5);
  return out;
}

TEST(allocation, reading_dag_cbor_does_not_allocate) {
  const bytes item = sample();
  const std::size_t before = allocations;
  const bool valid = cbor::validate(item).ok();
  cbor::reader from(item);
  const bool read = from.map().ok() && from.key("ref").ok() && *from.array() == 2 && from.text().ok() &&
                    from.text().ok() && from.key("ref", false).ok() && from.array().ok() && from.key("deps").ok() &&
                    *from.array() == 1 && from.link().ok() && from.key("time").ok() && from.unsigned_integer().ok() &&
                    from.key("object").ok() && from.peek().ok() && from.skip().ok() && from.key("weight").ok() &&
                    from.floating().ok() && from.end().ok();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(valid);
  EXPECT_TRUE(read);
}

TEST(allocation, writing_into_a_buffer_with_room_does_not_allocate) {
  bytes out;
  out.reserve(1000);
  const std::size_t before = allocations;
  cbor::writer(out).map(1).key("a").array(2).unsigned_integer(1).link(cid());
  EXPECT_EQ(allocations, before);
}

TEST(allocation, hashing_and_verifying_do_not_allocate_once_warm) {
  const bytes item = sample();
  const key_pair key = key_pair::from_seed({});
  const signature sig = key.sign(item);
  (void)sha256(item);
  set_hash set;
  const std::size_t before = allocations;
  set.add(sha256(item));
  const bool good = key.pub().verify(item, sig) && crc32c(item) != 0 && set.count() == 1 &&
                    cid::from_binary(cid::of(codec::raw, item).binary()).ok();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace weir
