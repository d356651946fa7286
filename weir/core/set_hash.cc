#include <weir/core/set_hash.h>

#include <cassert>

#include <weir/core/endian.h>
#include <weir/core/sha256.h>

namespace weir {

set_hash::sum set_hash::number_of(const std::uint8_t* octets) noexcept {
  sum number;
  for (std::size_t i = 0; i < number.size(); ++i) {
    number[i] = load_little<std::uint64_t>(octets + 8 * i);
  }
  return number;
}

void set_hash::add(const sum& other) noexcept {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const std::uint64_t with_carry = sum_[i] + carry;
    carry = with_carry < carry ? 1 : 0;
    sum_[i] = with_carry + other[i];
    if (sum_[i] < other[i]) carry = 1;
  }
}

void set_hash::add(const digest& element) noexcept {
  add(number_of(element.data()));
  ++count_;
}

void set_hash::remove(const digest& element) noexcept {
  assert(count_ > 0);
  // Subtracting x is adding its complement and one.
  sum negated = number_of(element.data());
  for (std::uint64_t& limb : negated) limb = ~limb;
  add(negated);
  add(sum{1, 0, 0, 0});
  --count_;
}

void set_hash::add(const set_hash& other) noexcept {
  add(other.sum_);
  count_ += other.count_;
}

std::array<std::uint8_t, set_hash::binary_size> set_hash::binary() const noexcept {
  std::array<std::uint8_t, binary_size> out;
  for (std::size_t i = 0; i < sum_.size(); ++i) store_little(out.data() + 8 * i, sum_[i]);
  store_little(out.data() + 32, count_);
  return out;
}

set_hash set_hash::from_binary(const std::array<std::uint8_t, binary_size>& binary) noexcept {
  set_hash made;
  made.sum_ = number_of(binary.data());
  made.count_ = load_little<std::uint64_t>(binary.data() + 32);
  return made;
}

digest set_hash::value() const { return sha256(binary()); }

}  // namespace weir
