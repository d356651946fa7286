#include <weir/core/result.h>

#include <cerrno>
#include <system_error>

namespace weir {

std::string_view to_string(errc code) noexcept {
  // No default label: the compiler reports a code that is missing here.
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::malformed:
      return "malformed";
    case errc::too_large:
      return "too_large";
    case errc::corrupt:
      return "corrupt";
    case errc::bad_signature:
      return "bad_signature";
    case errc::not_found:
      return "not_found";
    case errc::outside_query:
      return "outside_query";
    case errc::unexpected:
      return "unexpected";
    case errc::refused:
      return "refused";
    case errc::unreachable:
      return "unreachable";
    case errc::disconnected:
      return "disconnected";
    case errc::timed_out:
      return "timed_out";
    case errc::locked:
      return "locked";
    case errc::address_in_use:
      return "address_in_use";
    case errc::disk_full:
      return "disk_full";
    case errc::io:
      return "io";
    case errc::permission:
      return "permission";
    case errc::unsupported:
      return "unsupported";
    case errc::cancelled:
      return "cancelled";
    case errc::threw:
      return "threw";
    case errc::internal:
      return "internal";
  }
  return "unknown";  // A number from a newer peer that was cast to the enumeration.
}

namespace {

errc code_of(int number) noexcept {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return errc::disk_full;
    case EACCES:
    case EPERM:
    case EROFS:
      return errc::permission;
    case ENOENT:
      return errc::not_found;
    case EADDRINUSE:
      return errc::address_in_use;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return errc::unreachable;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
      return errc::disconnected;
    case ETIMEDOUT:
      return errc::timed_out;
    case ECANCELED:
      return errc::cancelled;
    default:
      return errc::io;
  }
}

}  // namespace

error system_error(std::string_view what, int number) {
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(number);
  return error{code_of(number), std::move(message), number};
}

}  // namespace weir
