#include <weir/queue/testing/allocation_count.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include <gtest/gtest.h>

#include <weir/queue/testing/model.h>

namespace weir::queue::testing {
namespace {

struct account {
  bool counting = false;
  std::size_t made = 0;
  std::size_t freed = 0;
  std::size_t allowed = std::numeric_limits<std::size_t>::max();
};
thread_local account mine;

void* get(std::size_t octets, std::size_t alignment) {
  if (mine.counting) {
    if (mine.made >= mine.allowed) throw std::bad_alloc();
    ++mine.made;
  }
  // aligned_alloc wants a whole number of alignments.
  const std::size_t whole = (octets + alignment - 1) / alignment * alignment;
  void* const got = whole < octets ? nullptr : std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

// Kept out of line, or g++ sees free() where delete was called and takes it for a mistake.
[[gnu::noinline]] void give(void* got) noexcept {
  if (mine.counting && got != nullptr) ++mine.freed;
  // What a modelled thread frees must not come back to another one: the model would call that a race.
  if (model::hold_back(got, &std::free)) return;
  std::free(got);
}

}  // namespace

allocation_count::allocation_count() { mine = {.counting = true}; }
allocation_count::~allocation_count() { mine = {}; }
std::size_t allocation_count::made() const { return mine.made; }
long allocation_count::kept() const { return static_cast<long>(mine.made) - static_cast<long>(mine.freed); }
void allocation_count::fail_from(std::size_t request) {
  mine.allowed = request == 0 ? std::numeric_limits<std::size_t>::max() : mine.made + request - 1;
}

}  // namespace weir::queue::testing

using weir::queue::testing::get;
using weir::queue::testing::give;

void* operator new(std::size_t octets) { return get(octets, alignof(std::max_align_t)); }
void* operator new[](std::size_t octets) { return get(octets, alignof(std::max_align_t)); }
void* operator new(std::size_t octets, std::align_val_t to) { return get(octets, static_cast<std::size_t>(to)); }
void* operator new[](std::size_t octets, std::align_val_t to) { return get(octets, static_cast<std::size_t>(to)); }
void* operator new(std::size_t octets, const std::nothrow_t&) noexcept {
  try {
    return get(octets, alignof(std::max_align_t));
  } catch (...) {
    return nullptr;
  }
}
void* operator new[](std::size_t octets, const std::nothrow_t& quiet) noexcept { return operator new(octets, quiet); }
void operator delete(void* got) noexcept { give(got); }
void operator delete[](void* got) noexcept { give(got); }
void operator delete(void* got, std::size_t) noexcept { give(got); }
void operator delete[](void* got, std::size_t) noexcept { give(got); }
void operator delete(void* got, std::align_val_t) noexcept { give(got); }
void operator delete[](void* got, std::align_val_t) noexcept { give(got); }
void operator delete(void* got, std::size_t, std::align_val_t) noexcept { give(got); }
void operator delete[](void* got, std::size_t, std::align_val_t) noexcept { give(got); }

namespace weir::queue::testing {
namespace {

struct alignas(512) wide {
  int number = 0;
};

TEST(allocation_count, sees_what_is_made_and_what_is_kept) {
  const allocation_count memory;
  auto plain = std::make_unique<int>(1);
  auto aligned = std::make_unique<wide>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.get()) % 512, 0u);
  plain.reset();
  EXPECT_EQ(memory.made(), 2u);
  EXPECT_EQ(memory.kept(), 1);
}

TEST(allocation_count, lets_a_request_fail_that_was_chosen) {
  allocation_count memory;
  memory.fail_from(2);
  auto first = std::make_unique<int>(1);
  bool failed = false;
  try {
    auto second = std::make_unique<wide>();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  memory.fail_from(0);
  EXPECT_TRUE(failed);
  EXPECT_NO_THROW(auto third = std::make_unique<wide>());
}

}  // namespace
}  // namespace weir::queue::testing
