#include <weir/net/rsocket/internal/session.h>

#include <fmt/format.h>

#include <weir/core/clock.h>
#include <weir/core/limits.h>
#include <weir/flow/caught.h>
#include <weir/net/rsocket/internal/error_text.h>

namespace weir::net::rsocket::internal {

namespace {

/// Turns of senders in one go; then other connections of the loop get theirs.
constexpr int sender_turns_max = 16;

payload payload_of(const frame& f) {
  payload p{to_bytes(f.data), std::nullopt};
  if (f.metadata) p.metadata = to_bytes(*f.metadata);
  return p;
}

}  // namespace

session::session(loop& on, net::internal::stream_socket socket, std::string peer, session_config how)
    : loop_(on),
      side_(how.side),
      how_(std::move(how)),
      link_(std::make_shared<link>(on, peer, how_.counters)),
      wire_(on, std::move(socket), std::move(peer), *this, *how_.counters),
      timer_(on.inside().io),
      next_id_(side_ == role::client ? 1 : 2) {
  link_->on_loop = this;
  round_task_.of = this;
  round_task_.run = [](flow::task* self) noexcept {
    auto& task = *static_cast<round_task*>(self);
    const auto alive = std::move(task.alive);
    task.of->send_round();
  };
}

session::~session() {
  // Only when the loop is destroyed first: otherwise on_closed came.
  end_streams(fail(errc::disconnected, fmt::format("the loop of the connection to {} has ended", wire_.peer())));
}

void session::close(error why) { end(std::move(why), ending::polite); }
void session::abort(error why) { end(std::move(why), ending::immediate); }

void session::on_closed(const error& why) {
  if (!ended_ && why.code == errc::unexpected) log(why.message);
  if (!ended_ && half_a_frame_) log(fmt::format("{} closed the connection in the middle of a frame", wire_.peer()));
  end(why, ending::immediate);
  if (how_.gone) how_.gone(*this);
}

void session::end(error why, ending how) {
  if (ended_) return;
  timer_.cancel();
  end_streams(why);
  if (how == ending::polite) {
    wire_.finish();
  } else {
    wire_.abort(std::move(why));
  }
}

void session::end_streams(const error& why) {
  if (ended_) return;
  ended_ = true;
  link_->on_loop = nullptr;
  link_->close(why);
  for (auto& [id, stream] : std::exchange(requested_, {})) {
    round_.remove(*stream);
    stream->end(why);
  }
  for (auto& [id, stream] : std::exchange(served_, {})) served_stream::end(std::move(stream));
  parts_.clear();
  serve_ = {};
}

void session::log(const std::string& line) const {
  if (how_.log) how_.log(line);
}

// --- out -----------------------------------------------------------------------------------------------------------------

void session::send(const frame& f) {
  wire_.append([&](bytes& out) { append_frame(out, f); });
}

void session::send_error(std::uint32_t stream, error_code code, std::string_view text) {
  frame f;
  f.stream = stream;
  f.type = frame_type::error;
  f.number = std::uint32_t(code);
  f.data = as_bytes(text);
  send(f);
}

/// The peer broke the protocol: says so to it and to the log, and ends.
void session::protocol_error(error_code code, std::string_view what) {
  auto line = fmt::format("{} {}", wire_.peer(), what);
  log(line);
  send_error(0, code, what);
  end(fail(errc::unexpected, std::move(line)), ending::polite);
}

void session::send_round() {
  for (int turn = 0; !ended_ && wire_.writable() && !round_.empty(); ++turn) {
    if (turn == sender_turns_max) {
      if (!round_task_.alive) {
        round_task_.alive = shared_from_this();
        loop_.post(round_task_);
      }
      return;
    }
    round_.next()->send();
  }
}

void session::open(const std::shared_ptr<requested_stream>& stream) {
  if (requested_.size() >= limits::streams_max) {
    return stream->end(
        fail(errc::too_large, fmt::format("{} streams are open on the connection to {}, no more are allowed",
                                          requested_.size(), wire_.peer())));
  }
  if (next_id_ > number_max) {
    return stream->end(fail(
        errc::refused, fmt::format("the connection to {} has used up its stream ids: connect again", wire_.peer())));
  }
  stream->open(next_id_);
  next_id_ += 2;
  requested_.emplace(stream->id(), stream);
  round_.add(*stream);
  send_round();
}

void session::request_more(const requested_stream& stream, std::uint32_t more) {
  frame f;
  f.stream = stream.id();
  f.type = frame_type::request_n;
  f.number = more;
  send(f);
}

void session::cancel(requested_stream& stream) {
  if (stream.id() == 0) return;
  round_.remove(stream);
  parts_.drop(stream.id());
  requested_.erase(stream.id());
  if (!stream.is_requested()) return;
  frame f;
  f.stream = stream.id();
  f.type = frame_type::cancel;
  send(f);
}

void session::end_requested(std::uint32_t id, std::optional<error> failure) {
  const auto found = requested_.find(id);
  if (found == requested_.end()) return;
  const auto stream = std::move(found->second);
  requested_.erase(found);
  round_.remove(*stream);
  parts_.drop(id);
  stream->end(std::move(failure));
}

void session::end_served(std::uint32_t id) {
  const auto found = served_.find(id);
  if (found == served_.end()) return;
  auto stream = std::move(found->second);
  served_.erase(found);
  served_stream::end(std::move(stream));
}

// --- in ------------------------------------------------------------------------------------------------------------------

session::taken session::on_octets(bytes_view octets) {
  heard_ns_ = clock::system().steady_ns();
  if (!set_up_) {
    if (octets.size() < frame_length_bytes + frame_header_bytes) {
      half_a_frame_ = true;
      return {0, frame_length_bytes + frame_header_bytes};
    }
    if (is_stranger(octets)) return {octets.size(), 0};
  }
  taken so_far;
  while (!ended_) {
    const bytes_view left = octets.subspan(so_far.octets);
    half_a_frame_ = !left.empty();
    so_far.wanted = frame_length_bytes;
    if (left.size() < frame_length_bytes) break;
    const std::size_t length = frame_length(left.data());
    const std::size_t most = set_up_ ? limits::frame_bytes_accepted : setup_bytes_max;
    if (length < frame_header_bytes || length > most) {
      protocol_error(
          set_up_ ? error_code::connection_error : error_code::invalid_setup,
          fmt::format("sent a frame of {} octets; from {} to {} are accepted", length, frame_header_bytes, most));
      break;
    }
    so_far.wanted = frame_length_bytes + length;
    if (left.size() < so_far.wanted) break;
    how_.counters->frames_in.add(1);
    on_frame(left.subspan(frame_length_bytes, length));
    so_far.octets += so_far.wanted;
  }
  wake_consumers();
  send_round();
  return so_far;
}

void session::on_frame(bytes_view octets) {
  const auto f = parse_frame(octets);
  if (f) return set_up_ ? dispatch(*f) : on_first_frame(*f);
  if (set_up_ && f.error().code == errc::unsupported && is_ignorable(octets)) return;
  protocol_error(set_up_ ? error_code::connection_error : error_code::invalid_setup, "sent " + f.error().message);
}

// What is not answered here is ignored, as the specification wants it: a second SETUP, leases that nobody asked for,
// metadata pushes, frames of streams that are not (or not any more) open.
void session::dispatch(const frame& f) {
  if (f.stream != 0) established_ = true;
  switch (f.type) {
    case frame_type::request_response:
    case frame_type::request_fnf:
    case frame_type::request_stream:
    case frame_type::request_channel:
      return on_request(f);
    case frame_type::request_n:
      return on_request_n(f);
    case frame_type::cancel:
      return on_cancel(f.stream);
    case frame_type::payload:
      return on_payload(f);
    case frame_type::error:
      return f.stream == 0 ? on_connection_error(f) : on_stream_error(f);
    case frame_type::keepalive:
      return on_keepalive(f);
    case frame_type::resume:
      return protocol_error(error_code::connection_error, "sent RESUME on a connection that is set up");
    case frame_type::ext:
      if (!f.has(flag::ignore))
        protocol_error(error_code::connection_error, "sent an extension that must not be ignored");
      return;
    case frame_type::setup:
    case frame_type::lease:
    case frame_type::metadata_push:
    case frame_type::resume_ok:
      return;
  }
}

void session::on_request(const frame& f) {
  if (f.stream == 0 || !is_of_peer(f.stream)) {
    return protocol_error(error_code::connection_error,
                          fmt::format("sent a request on stream {}, which is not its to choose", f.stream));
  }
  if (served_.contains(f.stream) || parts_.has(f.stream)) return;  // in use: the specification says to ignore it
  if (f.type == frame_type::request_fnf) return;                   // has no answer, not even a refusal
  if (f.type == frame_type::request_channel) {
    return send_error(f.stream, error_code::rejected,
                      error_text(fail(errc::unsupported, "channels are not served here")));
  }
  if (served_.size() + parts_.size() >= limits::streams_max) {
    return send_error(f.stream, error_code::rejected,
                      error_text(fail(errc::too_large,
                                      fmt::format("{} streams are open, no more are allowed", limits::streams_max))));
  }
  if (f.has(flag::follows)) return on_fragment(f);
  serve(f.stream, {f.type, f.flags, f.number, payload_of(f)});
}

void session::serve(std::uint32_t id, reassembly::whole request) {
  const bool single = request.type == frame_type::request_response;
  const auto& handler = single ? serve_.request_response : serve_.request_stream;
  if (!handler) {
    return send_error(id, error_code::rejected,
                      error_text(fail(errc::refused, "requests of this kind are not served here")));
  }
  reply items;
  try {
    items = handler(std::move(request.content));
  } catch (...) {
    return send_error(id, error_code::application_error, error_text(flow::caught()));
  }
  auto stream = std::make_unique<served_stream>(*this, id, request.type, request.number, std::move(items));
  round_.add(*stream);
  served_.emplace(id, std::move(stream));
}

void session::on_payload(const frame& f) {
  if (parts_.has(f.stream)) return on_fragment(f);  // of a request too
  if (!requested_.contains(f.stream)) return;
  if (f.has(flag::follows) && !f.has(flag::complete)) return on_fragment(f);
  deliver(f.stream, f.flags, payload_of(f));
}

void session::on_fragment(const frame& f) {
  if (const auto added = parts_.add(f); !added) {
    return protocol_error(error_code::connection_error, fmt::format("sent too much: {}", added.error().message));
  }
  if (f.has(flag::follows) && !(f.type == frame_type::payload && f.has(flag::complete))) return;
  auto whole = parts_.take(f.stream);
  if (is_request(whole.type)) {
    serve(f.stream, std::move(whole));
  } else {
    deliver(f.stream, whole.flags | flag::next, std::move(whole.content));
  }
}

void session::deliver(std::uint32_t id, std::uint16_t flags, payload&& item) {
  const auto stream = requested_.at(id);
  if ((flags & flag::next) != 0) {
    if (!stream->take_item(std::move(item))) {
      cancel(*stream);
      return stream->end(fail(errc::unexpected, fmt::format("{} sent more items than it was asked for", wire_.peer())));
    }
    if (!stream->has_news) {
      stream->has_news = true;
      have_news_.push_back(stream);
    }
  }
  // A response is one payload, whether it says that it is the last or not.
  if ((flags & flag::complete) != 0 || stream->is_single()) end_requested(id, std::nullopt);
}

void session::wake_consumers() {
  for (const auto& stream : have_news_) {
    stream->has_news = false;
    stream->wake_consumer();
  }
  have_news_.clear();
}

void session::on_request_n(const frame& f) {
  if (const auto found = served_.find(f.stream); found != served_.end()) return found->second->add_credit(f.number);
  parts_.add_number(f.stream, f.number);
}

void session::on_cancel(std::uint32_t id) {
  if (!is_of_peer(id)) return;
  parts_.drop(id);
  end_served(id);
}

void session::on_stream_error(const frame& f) { end_requested(f.stream, error_of(f.data, wire_.peer())); }

void session::on_connection_error(const frame& f) {
  const auto text = printable(as_text(f.data));
  switch (error_code(f.number)) {
    case error_code::invalid_setup:
    case error_code::unsupported_setup:
    case error_code::rejected_setup:
    case error_code::rejected_resume:
      if (side_ == role::server || established_) return;
      return end(fail(errc::refused, fmt::format("{} refused the connection: {}", wire_.peer(), text)), ending::polite);
    case error_code::connection_close:
      return;  // the peer closes when its streams have ended
    default:
      return end(fail(errc::disconnected, fmt::format("{} gave up the connection: {}", wire_.peer(), text)),
                 ending::polite);
  }
}

void session::on_keepalive(const frame& f) {
  if (f.stream != 0 || !f.has(flag::respond)) return;
  if (f.data.size() > keepalive_bytes_max) {
    return protocol_error(error_code::connection_error, fmt::format("sent a keepalive of {} octets; {} are accepted",
                                                                    f.data.size(), keepalive_bytes_max));
  }
  frame answer;
  answer.type = frame_type::keepalive;
  answer.data = f.data;
  send(answer);
}

}  // namespace weir::net::rsocket::internal
