#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/group.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

struct group_options {
  /// Items that wait in one group. When a group has as many, upstream waits.
  std::size_t queue_items_max = limits::group_items;
  /// Groups that there are at once. One more is a failure: who brings groups together must be able to have them all open.
  std::size_t groups_max = limits::groups_open;
};

namespace detail {

template <flow Source, class Function, class Hash>
class keyed_trunk final
    : public trunk<std::remove_cvref_t<std::invoke_result_t<Function&, const value_of<Source>&>>, value_of<Source>> {
  using T = value_of<Source>;

 public:
  using key = std::remove_cvref_t<std::invoke_result_t<Function&, const T&>>;

  keyed_trunk(Source source, Function function, Hash hash, group_options options)
      : options_(options),
        room_(options.queue_items_max),
        function_(std::move(function)),
        by_key_(0, std::move(hash)),
        source_(std::move(source)) {
    assert(options.queue_items_max > 0 && options.groups_max > 0);
  }

 private:
  using base = trunk<key, T>;
  using branch = typename base::branch;

  step pull_upstream(std::size_t& count, context& cx) override {
    return source_->pull(
        count, [this](T&& item) { place(std::move(item)); }, cx);
  }
  void drop_upstream() noexcept override { source_.reset(); }

  // A bound from below, made exact when it is used up: no branch can have less room than that.
  std::size_t room() noexcept override {
    if (room_ == 0) room_ = this->least_free(options_.queue_items_max);
    return room_;
  }

  void forget(branch& gone) noexcept override { by_key_.erase(gone.key()); }

  void place(T&& item) {
    if (this->broke()) return;
    --room_;
    key of = function_(std::as_const(item));
    auto found = by_key_.find(of);
    if (found == by_key_.end()) {
      if (this->outer_left()) return;  // nobody will be given the group
      if (this->open_count() == options_.groups_max) {
        this->break_off(weir::fail(errc::too_large, "more than " + std::to_string(options_.groups_max) +
                                                        " groups at once: raise groups_max, or leave groups"));
        return;
      }
      found = by_key_.emplace(of, nullptr).first;
      found->second = &this->open(std::move(of));
    }
    this->put(*found->second, std::move(item));
  }

  group_options options_;
  std::size_t room_;
  Function function_;
  std::unordered_map<key, branch*, Hash> by_key_;
  std::optional<Source> source_;  // last, so that it goes first
};

}  // namespace detail

/// Gives a flow for each key, a group, with the items that have it: `group_by(flow, function)`, or
/// `flow | group_by(function)`. `function(const item&)` gives the key, which is hashed and copied.
///
///     flow | group_by(by_country) | flat_map([](auto group) { return ... std::move(group) ...; })
///
///   Order    groups as their first items came; the items of a group as they came.
///   Ends     as upstream does, groups after their items. With the failure too_large when an item needs a group more than
///            groups_max; an exception from the function, or upstream, is a failure of code `threw`, told to all.
///   Groups   are pulled by their consumers, and whoever is pulled and has nothing pulls upstream for all: so every group must
///            be consumed. Where a queue is full upstream waits, and with it everybody who has nothing, until somebody
///            takes from that group or destroys it. So flat_map must have room for all: its concurrent_max is at least
///            groups_max, as it is by default.
///            When a group is destroyed its items are; another item of its key opens a new group. When the outer flow is
///            destroyed the groups go on, and items of new keys are dropped.
///   Memory   queue_items_max items for each group at most, allocated as they come, and one block for the whole.
///   Threads  confined: the outer flow and all groups are pulled and destroyed on one thread. Upstream may wake from any.
template <flow Source, class Function,
          class Hash = std::hash<std::remove_cvref_t<std::invoke_result_t<Function&, const value_of<Source>&>>>>
auto group_by(Source source, Function function, group_options options = {}, Hash hash = {}) {
  using trunk = detail::keyed_trunk<Source, Function, Hash>;
  return detail::groups_of<typename trunk::key, value_of<Source>>(
      new trunk(std::move(source), std::move(function), std::move(hash), options));
}
template <class Function>
  requires(!flow<Function>)
auto group_by(Function function, group_options options = {}) {
  return detail::make_closure([function = std::move(function), options]<flow Source>(Source source) mutable {
    return group_by(std::move(source), std::move(function), options);
  });
}

}  // namespace weir::flow
