#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weir {

/// What went wrong, as a stable code: used by logs, by the wire and by exit statuses alike. The numbers never change;
/// new codes go to the end.
enum class errc : unsigned char {
  invalid_argument = 1,  ///< The caller's input is not acceptable: a flag, a query, a namespace.
  malformed = 2,         ///< Bytes or text do not have the form their format demands.
  too_large = 3,         ///< A length, count or depth is over its named limit.
  corrupt = 4,           ///< Stored or received bytes do not match their hash or checksum.
  bad_signature = 5,     ///< A signature does not verify, or a statement has no bundle that attests it.
  not_found = 6,         ///< A named thing does not exist here.
  outside_query = 7,     ///< A peer sent a statement that the query does not select.
  unexpected = 8,        ///< A peer sent something that was not asked for, or out of turn.
  refused = 9,           ///< A peer refused the connection, the setup or the request.
  unreachable = 10,      ///< No connection to the peer could be made.
  disconnected = 11,     ///< The connection ended in the middle of something.
  timed_out = 12,        ///< A bounded wait is over.
  locked = 13,           ///< Another process holds the data directory.
  address_in_use = 14,   ///< Another process listens on the address.
  disk_full = 15,        ///< No space, or a quota, on the disk.
  io = 16,               ///< Another failure of a file or a socket; `error::system` has the number.
  permission = 17,       ///< The operating system does not let us.
  unsupported = 18,      ///< Well formed, but of a version or kind this build does not handle.
  cancelled = 19,        ///< Somebody asked to stop.
  threw = 20,            ///< A caller's function threw; the message has its what().
  internal = 21,         ///< A defect in Weir.
};

/// The code's name as it is spelled above: "bad_signature".
std::string_view to_string(errc code) noexcept;

/// A failure: what kind, a sentence for people that names the thing, what was expected and what to do, and the operating
/// system's number where there is one. Immutable in practice; copied freely off the hot path.
struct error {
  errc code = errc::internal;
  std::string message;
  int system = 0;
};

/// Either a value or an error.
///   Threads  confined, like the value it holds.
///   Errors   reading the value of a failed result is a bug in the caller (asserted).
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  result(T value) : held_(std::in_place_index<0>, std::move(value)) {}                // NOLINT: implicit by design
  result(weir::error failure) : held_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

  [[nodiscard]] bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & { return assert(ok()), *std::get_if<0>(&held_); }
  [[nodiscard]] const T& value() const& { return assert(ok()), *std::get_if<0>(&held_); }
  [[nodiscard]] T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&held_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const weir::error& error() const& { return assert(!ok()), *std::get_if<1>(&held_); }
  [[nodiscard]] weir::error&& error() && { return assert(!ok()), std::move(*std::get_if<1>(&held_)); }

 private:
  std::variant<T, weir::error> held_;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;

  result() = default;
  result(weir::error failure) : failure_(std::move(failure)), failed_(true) {}  // NOLINT

  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] const weir::error& error() const& { return assert(!ok()), failure_; }
  [[nodiscard]] weir::error&& error() && { return assert(!ok()), std::move(failure_); }

 private:
  weir::error failure_;
  bool failed_ = false;
};

/// Makes an error in the shortest way: `return fail(errc::malformed, "…")`.
inline error fail(errc code, std::string message, int system = 0) { return error{code, std::move(message), system}; }

/// The error of a failed system call, its code chosen by the number: ENOSPC is disk_full, EACCES is permission, …
///   what     a sentence's beginning that names the thing: "cannot write 'a/b'"; the system's words are appended.
error system_error(std::string_view what, int number);

}  // namespace weir

#define WEIR_DETAIL_JOIN2(a, b) a##b
#define WEIR_DETAIL_JOIN(a, b) WEIR_DETAIL_JOIN2(a, b)
#define WEIR_DETAIL_TRY(held, declaration, ...) \
  auto held = (__VA_ARGS__);                    \
  if (!held) return std::move(held).error();    \
  declaration = *std::move(held)

/// Declares a variable from a result, or returns its error: `WEIR_TRY(auto page, read_page(n));`
#define WEIR_TRY(declaration, ...) WEIR_DETAIL_TRY(WEIR_DETAIL_JOIN(weir_try_, __LINE__), declaration, __VA_ARGS__)

/// Returns the error of a result without a value: `WEIR_CHECK(file.sync());`
#define WEIR_CHECK(...)                                                                           \
  do {                                                                                            \
    if (auto weir_checked = (__VA_ARGS__); !weir_checked) return std::move(weir_checked).error(); \
  } while (false)
