#pragma once

#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir::net::rsocket::internal {

/// Octets of an ERROR frame's text; longer ones are cut, on both sides.
inline constexpr std::size_t error_text_bytes_max = 4096;

/// What the data of an ERROR frame says about an error: "not_found: no object of that name". Other implementations see
/// a text; ours finds the code again.
std::string error_text(const error& why);

/// The error that an ERROR frame of a peer means: the code its text begins with, else `refused`; in the message the
/// peer's words, made printable, and its name.
error error_of(bytes_view data, std::string_view peer);

/// The text with control characters replaced, and cut: a peer's words, fit for a line of a log.
std::string printable(std::string_view text);

}  // namespace weir::net::rsocket::internal
