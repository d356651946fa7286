#include <weir/node/internal/handlers.h>

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/try_map.h>
#include <weir/merge/protocol.h>
#include <weir/merge/source.h>
#include <weir/node/messages.h>

namespace weir::node::internal {
namespace {

using net::rsocket::payload;
using net::rsocket::reply;

using route_table = std::map<std::string, std::function<reply(bytes data)>, std::less<>>;

reply refuse(error why) { return flow::fail<payload>(std::move(why)); }

std::function<reply(payload)> dispatch(route_table routes) {
  return [routes = std::move(routes)](payload request) -> reply {
    if (!request.metadata)
      return refuse(fail(errc::invalid_argument,
                         "the request has no metadata: it must name a route "
                         "(message/x.rsocket.routing.v0)"));
    auto route = net::rsocket::route_of(*request.metadata);
    if (!route) return refuse(std::move(route).error());
    const auto known = routes.find(*route);
    if (known == routes.end())
      return refuse(fail(errc::not_found, fmt::format("no route '{}' with this interaction is served here", *route)));
    return known->second(std::move(request.data));
  };
}

// The reply of a function that may wait, run on `where` when the reply is first pulled.
template <class Answer>
reply answer_on(flow::executor& where, Answer answer) {
  return flow::generate([answer = std::move(answer), told = false]() mutable -> result<std::optional<payload>> {
           if (std::exchange(told, true)) return std::optional<payload>{};
           WEIR_TRY(bytes octets, answer());
           return std::optional<payload>(payload{std::move(octets), {}});
         }) |
         flow::observe_on(where, {.capacity = 1});
}

reply query_rows(served what, bytes text, bool as_json) {
  if (text.size() > limits::query_bytes_max)
    return refuse(fail(errc::too_large, fmt::format("a query of {} octets; at most {} are allowed", text.size(),
                                                    limits::query_bytes_max)));
  auto asked = store::query::parse(as_text(text));
  if (!asked) return refuse(std::move(asked).error());
  return what.on.query(*asked) | flow::try_map([as_json](store::row&& row) -> result<payload> {
           if (!as_json) return payload{encode(row), {}};
           WEIR_TRY(std::string json, row_json(row));
           return payload{to_bytes(json), {}};
         }) |
         flow::observe_on(what.reader, {.capacity = limits::window_items});
}

route_table peer_responses(served what) {
  return {
      {std::string(id_route),
       [what](const bytes&) -> reply {
         return flow::just(payload{encode(identity{what.on.publisher(), std::string(version())}), {}});
       }},
      {std::string(get_route),
       [what](bytes text) -> reply {
         auto id = cid::parse(as_text(text));
         if (!id) return refuse(std::move(id).error());
         return answer_on(what.reader, [what, id = *id] { return what.on.get(id); });
       }},
  };
}

route_table peer_streams(served what, const net::rsocket::setup& asked) {
  auto source = std::make_shared<merge::source>(what.on.store(), what.reader);
  const bool as_json = asked.data_mime == "application/json";
  return {
      {std::string(query_route), [what, as_json](bytes text) { return query_rows(what, std::move(text), as_json); }},
      {std::string(merge::list_route), [source](const bytes& request) { return source->list(request); }},
      {std::string(merge::fetch_route), [source](const bytes& request) { return source->fetch(request); }},
  };
}

reply publish(served what, flow::executor& writer, const bytes& request) {
  auto publication = decode_publication(request);
  if (!publication) return refuse(std::move(publication).error());
  return answer_on(writer, [what, publication = *std::move(publication)]() mutable -> result<bytes> {
    WEIR_TRY(published done, what.on.publish(std::move(publication)));
    return encode(done);
  });
}

reply start_merge(merge_jobs& merges, const bytes& request) {
  auto order = decode_merge_order(request);
  if (!order) return refuse(std::move(order).error());
  auto peer = net::endpoint::parse(order->peer);
  if (!peer) return refuse(std::move(peer).error());
  auto asked = store::query::parse(order->query);
  if (!asked) return refuse(std::move(asked).error());
  if (order->lanes < 1 || order->lanes > limits::lanes_max)
    return refuse(
        fail(errc::invalid_argument, fmt::format("{} lanes; 1 to {} are possible", order->lanes, limits::lanes_max)));
  return merges.start(*std::move(peer), *std::move(asked), order->lanes) | flow::map([](merge::progress&& so_far) {
           return payload{encode(so_far), {}};
         });
}

}  // namespace

net::rsocket::handlers peer_handlers(served what, const net::rsocket::setup& asked) {
  net::rsocket::handlers how;
  how.request_response = dispatch(peer_responses(what));
  how.request_stream = dispatch(peer_streams(what, asked));
  return how;
}

net::rsocket::handlers control_handlers(served what, const net::rsocket::setup& asked, flow::executor& writer,
                                        merge_jobs& merges, std::string listen) {
  route_table responses = peer_responses(what);
  responses.emplace(status_route, [what, listen = std::move(listen)](const bytes&) {
    return answer_on(what.reader, [what, listen]() -> result<bytes> {
      WEIR_TRY(status now, what.on.get_status());
      now.listen = listen;
      return encode(now);
    });
  });
  responses.emplace(publish_route, [what, &writer](const bytes& request) { return publish(what, writer, request); });
  responses.emplace(check_route, [what, &writer](const bytes&) {
    return answer_on(writer, [what]() -> result<bytes> {
      WEIR_TRY(store::damage found, what.on.check());
      return encode(found);
    });
  });
  route_table streams = peer_streams(what, asked);
  streams.emplace(merge_route, [&merges](const bytes& request) { return start_merge(merges, request); });
  net::rsocket::handlers how;
  how.request_response = dispatch(std::move(responses));
  how.request_stream = dispatch(std::move(streams));
  return how;
}

}  // namespace weir::node::internal
