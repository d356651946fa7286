#pragma once

#include <weir/core/result.h>

namespace weir::cli {

// Exit statuses; docs/command.md has the table. A failure's status is 10 and its code, so a script can tell them apart
// as well as a program that reads the logs.
inline constexpr int exit_ok = 0;
inline constexpr int exit_usage = 2;
inline constexpr int exit_damaged = 3;        ///< `weir check` found damage
inline constexpr int exit_unread = 141;       ///< standard output was closed, as after SIGPIPE
inline constexpr int exit_interrupted = 130;  ///< a second Ctrl-C

constexpr int exit_status(errc code) noexcept { return 10 + static_cast<int>(code); }

}  // namespace weir::cli
