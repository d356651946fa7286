#pragma once

#include <chrono>
#include <functional>

#include <weir/core/result.h>
#include <weir/net/endpoint.h>
#include <weir/net/internal/connection.h>
#include <weir/net/loop.h>

namespace weir::net::internal {

/// Looks the name up and connects to its addresses, one after another, until one answers or the time is over. Calls `then`
/// once, on the loop's thread.
///   Errors   unreachable, timed_out, permission; each names the address.
///   Threads  any.
void connect(loop& on, const endpoint& to, std::chrono::milliseconds deadline,
             std::function<void(result<stream_socket>)> then);

}  // namespace weir::net::internal
