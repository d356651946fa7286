#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/any_flow.h>
#include <weir/merge/protocol.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/store/batch.h>
#include <weir/store/query.h>

namespace weir::merge::internal {

/// Turns the reply to one fetch into verified batches. Blocks must come exactly as they were asked for: bundles, then
/// statements, then objects, each in the order of the request. Objects are handed on whenever limits::fetch_held_bytes
/// of them have come together, the statements last, so that a writer that keeps the order never stores a statement
/// before its objects.
///   Bounds   the bundles and statements of one request and limits::fetch_held_bytes, plus one payload.
///   Threads  confined; hashes and signatures are checked inside pull.
class fetcher {
 public:
  using value_type = store::verified_batch;

  ///   reply  of the peer to `asked`
  ///   peer   for error messages
  fetcher(net::rsocket::reply reply, fetch_request asked, std::shared_ptr<const store::query> query, std::string peer);

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    for (;;) {
      for (; demand > 0 && !ready_.empty(); --demand) {
        store::verified_batch next = std::move(ready_.front());
        ready_.pop_front();
        emit(std::move(next));
      }
      if (ready_.empty() && finished_) return flow::step::done;
      if (demand == 0) return flow::step::more;

      std::optional<error> wrong;
      std::size_t one = 1;
      const flow::step s = reply_.pull(
          one,
          [&](net::rsocket::payload&& part) {
            if (auto taken = take(part.data); !taken) wrong = std::move(taken).error();
          },
          cx);
      if (wrong) return cx.fail(*std::move(wrong));
      if (s == flow::step::done) {
        if (auto whole = finish(); !whole) return cx.fail(std::move(whole).error());
        finished_ = true;
      } else if (s != flow::step::more && (s != flow::step::pending || ready_.empty() || demand == 0)) {
        return s;
      }
    }
  }

 private:
  result<void> take(bytes_view sections);
  result<void> take_block(store::block block);
  result<void> check_statements();
  result<void> hand_on_objects();
  result<void> finish();
  [[nodiscard]] error not_asked_for(const store::block& block) const;

  net::rsocket::reply reply_;
  fetch_request asked_;
  std::shared_ptr<const store::query> query_;
  std::string peer_;

  std::size_t taken_ = 0;  // blocks so far: the position in the request
  std::size_t statement_bytes_ = 0, object_bytes_ = 0;
  store::unverified_batch blocks_;  // bundles and statements until they are checked, then objects
  std::optional<store::verified_batch> statements_;
  std::deque<store::verified_batch> ready_;
  bool finished_ = false;
};

}  // namespace weir::merge::internal
