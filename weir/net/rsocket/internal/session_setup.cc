// How a session begins, and how it notices that the other side has gone.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <weir/core/clock.h>
#include <weir/flow/caught.h>
#include <weir/net/rsocket/internal/error_text.h>
#include <weir/net/rsocket/internal/session.h>

namespace weir::net::rsocket::internal {

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;

bool is_http(std::string_view text) {
  constexpr std::array methods{"GET ",     "POST ",  "PUT ",     "HEAD ",  "DELETE ",
                               "OPTIONS ", "PATCH ", "CONNECT ", "TRACE ", "PRI * "};
  return std::any_of(methods.begin(), methods.end(), [&](std::string_view method) { return text.starts_with(method); });
}

/// A TLS record that holds a handshake.
bool is_tls(bytes_view octets) { return octets[0] == 0x16 && octets[1] == 0x03; }

/// Whether these nine octets can begin any frame of RSocket with a length that a first frame may have.
bool is_plausible(bytes_view octets) {
  const std::size_t length = frame_length(octets.data());
  if (length < frame_header_bytes || length > setup_bytes_max) return false;
  const auto head = parse_frame(octets.subspan(frame_length_bytes, frame_header_bytes));
  // Only the header is here, so a known type says that its fields are missing; an unknown one says `unsupported`.
  return head || head.error().code == errc::malformed;
}

constexpr std::string_view http_answer =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 36\r\n"
    "Connection: close\r\n"
    "\r\n"
    "This port speaks RSocket, not HTTP.\n";

}  // namespace

void session::start() {
  wire_.start(shared_from_this());
  heard_ns_ = clock::system().steady_ns();
  if (side_ == role::server) return await(how_.setup_ms_max, &session::on_setup_late);
  frame f;
  f.type = frame_type::setup;
  f.keepalive_ms = how_.hello.keepalive_ms;
  f.lifetime_ms = how_.hello.lifetime_ms;
  f.metadata_mime = how_.hello.metadata_mime;
  f.data_mime = how_.hello.data_mime;
  f.data = how_.hello.content.data;
  if (how_.hello.content.metadata) f.metadata = *how_.hello.content.metadata;
  send(f);
  serve_ = std::move(how_.serve);
  keepalive_ms_ = f.keepalive_ms;
  lifetime_ms_ = f.lifetime_ms;
  begin();
}

void session::refuse(const error& why) {
  wire_.start(shared_from_this());
  reject(error_code::rejected_setup, why);
}

/// The connection is set up, as far as this side can know.
void session::begin() {
  set_up_ = true;
  await_keepalive();
  if (!serve_.opened) return;
  try {
    serve_.opened(requester(std::make_shared<requester::internals>(link_, false)));
  } catch (...) {
    reject(error_code::rejected_setup, flow::caught());
  }
}

/// Whether the first octets of a connection are not RSocket; then whoever sent them has been answered.
bool session::is_stranger(bytes_view octets) {
  if (is_http(as_text(octets))) {
    const auto line = fmt::format("{} sent an HTTP request; this port speaks RSocket", wire_.peer());
    log(line);
    wire_.append([](bytes& out) { append(out, as_bytes(http_answer)); });
    end(fail(errc::unexpected, line), ending::polite);
    return true;
  }
  if (is_tls(octets)) {
    protocol_error(error_code::invalid_setup, "sent a TLS handshake; this port speaks RSocket without TLS");
    return true;
  }
  if (!is_plausible(octets)) {
    protocol_error(error_code::invalid_setup, "sent octets that are not RSocket");
    return true;
  }
  return false;
}

void session::on_first_frame(const frame& f) {
  if (f.stream != 0 || (f.type != frame_type::setup && f.type != frame_type::resume)) {
    return protocol_error(error_code::invalid_setup, "did not begin with SETUP");
  }
  if (f.type == frame_type::resume) {
    return reject(error_code::rejected_resume, fail(errc::unsupported, "connections cannot be resumed here"));
  }
  on_setup(f);
}

void session::on_setup(const frame& f) {
  if (f.major != version_major || f.minor != version_minor) {
    return reject(error_code::unsupported_setup,
                  fail(errc::unsupported, fmt::format("version {}.{} is not spoken here, {}.{} is", f.major, f.minor,
                                                      version_major, version_minor)));
  }
  if (f.has(flag::lease)) {
    return reject(error_code::unsupported_setup, fail(errc::unsupported, "leases are not given here"));
  }
  if (f.resume_token) {
    return reject(error_code::rejected_setup, fail(errc::unsupported, "connections cannot be resumed here"));
  }
  setup asked;
  asked.data_mime = f.data_mime;
  asked.metadata_mime = f.metadata_mime;
  asked.keepalive_ms = keepalive_ms_ = f.keepalive_ms;
  asked.lifetime_ms = lifetime_ms_ = f.lifetime_ms;
  asked.content.data = to_bytes(f.data);
  if (f.metadata) asked.content.metadata = to_bytes(*f.metadata);

  result<handlers> accepted = fail(errc::refused, "no connections are accepted here");
  try {
    if (how_.accept) accepted = how_.accept(asked, wire_.peer());
  } catch (...) {
    accepted = flow::caught();
  }
  if (!accepted) return reject(error_code::rejected_setup, accepted.error());
  serve_ = *std::move(accepted);
  begin();
}

void session::reject(error_code code, const error& why) {
  log(fmt::format("{} was refused: {}", wire_.peer(), why.message));
  send_error(0, code, error_text(why));
  end(why, ending::polite);
}

// --- time ----------------------------------------------------------------------------------------------------------------

void session::await(std::uint32_t ms, void (session::*then)()) {
  timer_.expires_after(std::chrono::milliseconds(ms));
  timer_.async_wait([this, then, held = shared_from_this()](asio::error_code cancelled) {
    if (!cancelled && !ended_) (this->*then)();
  });
}

void session::on_setup_late() {
  if (set_up_) return;  // the SETUP came while this was on its way
  protocol_error(error_code::invalid_setup, fmt::format("sent no SETUP within {} ms", how_.setup_ms_max));
}

/// A client's next keepalive is due; a server's next look at the clock is when the client could have been silent for too
/// long. Whatever arrives counts as a sign of life.
void session::await_keepalive() {
  const std::uint64_t silent_ms = (clock::system().steady_ns() - heard_ns_) / ns_per_ms;
  const auto left_ms = static_cast<std::uint32_t>(lifetime_ms_ - std::min<std::uint64_t>(silent_ms, lifetime_ms_ - 1));
  await(side_ == role::client ? std::min(keepalive_ms_, left_ms) : left_ms, &session::on_keepalive_due);
}

void session::on_keepalive_due() {
  if (clock::system().steady_ns() - heard_ns_ >= std::uint64_t{lifetime_ms_} * ns_per_ms) {
    auto line = fmt::format("{} was silent for {} ms", wire_.peer(), lifetime_ms_);
    log(line);
    send_error(0, error_code::connection_error, line);
    return end(fail(errc::disconnected, std::move(line)), ending::polite);
  }
  if (side_ == role::client) {
    frame f;
    f.type = frame_type::keepalive;
    f.flags = flag::respond;
    send(f);
  }
  await_keepalive();
}

}  // namespace weir::net::rsocket::internal
