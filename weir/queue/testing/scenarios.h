#pragma once

// Small cases of every queue, and of every way of sleeping at one, for the model checker. What they demand is what the queues
// promise: each item comes once, whole and in order; the answers are strict; no wake is lost; what was done before an end is
// visible to who sees the end.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <weir/queue/event_count.h>
#include <weir/queue/mailbox.h>
#include <weir/queue/mpsc_ring.h>
#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>
#include <weir/queue/spmc_ring.h>
#include <weir/queue/spsc_chain.h>
#include <weir/queue/spsc_ring.h>
#include <weir/queue/testing/model.h>

namespace weir::queue::testing::scenarios {

template <std::size_t Capacity>
using spsc = spsc_ring<model_item, Capacity, modelled>;
template <std::size_t Capacity>
using mpsc = mpsc_ring<model_item, Capacity, modelled>;
template <std::size_t Capacity>
using spmc = spmc_ring<model_item, Capacity, modelled>;

// So that positions pass 2^64 with the second item.
constexpr start_position near_the_end{std::numeric_limits<std::uint64_t>::max()};

struct named_scenario {
  const char* name;
  model::scenario run;
  bool is_long = false;  // minutes, not seconds

  /// For GoogleTest, which otherwise shows the octets.
  friend void PrintTo(const named_scenario& shown, std::ostream* out) { *out << shown.name; }
};

/// Which numbers came, each at most once.
class received {
 public:
  void add(int number) {
    model::expect(number >= 0 && number < 16, "an item that was moved away, or never made");
    const unsigned bit = 1U << number;
    model::expect((seen_ & bit) == 0, "an item came twice");
    seen_ |= bit;
  }
  /// In the order in which its producer sent them: `number` is the place in that order.
  void add_in_order(int number) {
    model::expect(number == next_, "an item is out of order");
    ++next_;
  }
  [[nodiscard]] unsigned seen() const noexcept { return seen_; }
  [[nodiscard]] int in_order() const noexcept { return next_; }

 private:
  unsigned seen_ = 0;
  int next_ = 0;
};

template <class Queue>
void push_waiting(Queue& queue, int number) {
  modelled::spin wait;
  model_item item(number);
  while (queue.try_push(std::move(item)) != push_outcome::pushed) wait.pause();
}

/// Pops until the end and calls `see(number)` for each item.
template <class Queue, class See>
void pop_to_the_end(Queue& queue, See&& see) {
  modelled::spin wait;
  model_item item(0);
  for (;;) {
    const pop_outcome outcome = queue.try_pop(item);
    if (outcome == pop_outcome::ended) return;
    if (outcome == pop_outcome::popped) {
      see(item.value());
    } else {
      wait.pause();
    }
  }
}

// --- one producer, one consumer ------------------------------------------------------------------------------------

template <class Queue>
void in_order_to_the_end(model::execution& run, Queue& queue, int total) {
  received seen;
  model_cell<int> last_words(0);
  run.threads(
      [&] {
        for (int i = 0; i < total; ++i) push_waiting(queue, i);
        last_words.set(1);
        queue.close();
      },
      [&] {
        pop_to_the_end(queue, [&](int number) { seen.add_in_order(number); });
        model::expect(last_words.get() == 1, "what was done before close() is visible at the end");
      });
  model::expect(seen.in_order() == total, "every item came");
}

template <class Queue>
void in_spans(model::execution& run, Queue& queue) {
  received seen;
  run.threads(
      [&] {
        modelled::spin wait;
        for (int sent = 0; sent < 3;) {
          const auto places = queue.prepare(2);
          std::size_t used = 0;
          for (auto& place : places) {
            if (sent == 3) break;
            std::construct_at(&place, sent++);
            ++used;
          }
          queue.commit(used);
          if (used == 0) wait.pause();
        }
      },
      [&] {
        modelled::spin wait;
        while (seen.in_order() < 3) {
          const auto items = queue.readable(2);
          for (const auto& item : items) seen.add_in_order(item.value());
          queue.release(items.size());
          if (items.empty()) wait.pause();
        }
      });
  model::expect(seen.in_order() == 3, "every item came");
}

/// Who asks for the end, and not for items, gets them all the same.
template <class Queue>
void until_it_has_ended(model::execution& run, Queue& queue) {
  received seen;
  run.threads(
      [&] {
        push_waiting(queue, 0);
        queue.close();
      },
      [&] {
        modelled::spin wait;
        while (!queue.ended()) {
          if (queue.consume(1, [&](auto&& item) { seen.add_in_order(item.value()); }) == 0) wait.pause();
        }
      });
  model::expect(seen.in_order() == 1, "the item came before the end");
}

template <class Queue>
void cancelled(model::execution& run, Queue& queue) {
  model_cell<int> last_words(0);
  run.threads(
      [&] {
        modelled::spin wait;
        for (int i = 0; i < 2; ++i) {
          model_item item(i);
          push_outcome outcome = push_outcome::full;
          while ((outcome = queue.try_push(std::move(item))) == push_outcome::full) wait.pause();
          if (outcome == push_outcome::cancelled) {
            model::expect(item.value() == i, "a refused item is left alone");
            model::expect(last_words.get() == 1, "what was done before cancel() is visible to who is refused");
            return;
          }
        }
      },
      [&] {
        model_item item(0);
        (void)queue.try_pop(item);
        last_words.set(1);
        queue.cancel();
      });
}

/// So wide that the places in a chain's object are one only.
struct wide_item {
  explicit wide_item(int number) : item(number) {}
  [[nodiscard]] int value() const noexcept { return item.value(); }

  model_item item;
  std::array<std::byte, 128> padding{};
};
using chain = spsc_chain<wide_item, modelled>;
static_assert(chain::inline_items == 1);

inline void chunks_go_round(model::execution& run) {
  // With chunks of one item, the third item needs a chunk, and may get the one of the second back.
  chain queue({.chunk_items = 1}, near_the_end);
  received seen;
  run.threads(
      [&] {
        for (int i = 0; i < 4; ++i) {
          const push_outcome outcome = queue.try_push(wide_item(i));
          model::expect(outcome == push_outcome::pushed, "a chain without a bound has room");
        }
        queue.close();
      },
      [&] {
        modelled::spin wait;
        wide_item item(0);
        for (;;) {
          const pop_outcome outcome = queue.try_pop(item);
          if (outcome == pop_outcome::ended) break;
          if (outcome == pop_outcome::popped) {
            seen.add_in_order(item.value());
          } else {
            wait.pause();
          }
        }
      });
  model::expect(seen.in_order() == 4, "every item came");
}

inline void a_bounded_chain(model::execution& run) {
  chain queue({.items_max = 1, .chunk_items = 1});
  received seen;
  run.threads(
      [&] {
        modelled::spin wait;
        for (int i = 0; i < 3; ++i) {
          while (queue.try_push(wide_item(i)) != push_outcome::pushed) wait.pause();
          model::expect(queue.size() <= 1, "never more than items_max");
        }
      },
      [&] {
        modelled::spin wait;
        while (seen.in_order() < 3) {
          if (queue.consume(2, [&](wide_item&& item) { seen.add_in_order(item.value()); }) == 0) wait.pause();
        }
      });
}

inline std::vector<named_scenario> one_to_one() {
  return {
      {"a ring of one place",
       [](auto& run) {
         spsc<1> ring(near_the_end);
         in_order_to_the_end(run, ring, 3);
       }},
      {"a ring of two places",
       [](auto& run) {
         spsc<2> ring(near_the_end);
         in_order_to_the_end(run, ring, 4);
       }},
      {"a ring in spans",
       [](auto& run) {
         spsc<2> ring(near_the_end);
         in_spans(run, ring);
       }},
      {"a ring that is cancelled",
       [](auto& run) {
         spsc<1> ring;
         cancelled(run, ring);
       }},
      {"a ring until it has ended",
       [](auto& run) {
         spsc<1> ring;
         until_it_has_ended(run, ring);
       }},
      {"a chain until it has ended",
       [](auto& run) {
         spsc_chain<model_item, modelled> queue;
         until_it_has_ended(run, queue);
       }},
      {"a chain whose chunks go round", chunks_go_round},
      {"a bounded chain", a_bounded_chain},
      {"a chain in spans",
       [](auto& run) {
         chain queue({.chunk_items = 2});
         in_spans(run, queue);
       }},
  };
}

// --- several producers -----------------------------------------------------------------------------------------------

template <std::size_t Capacity>
void two_send(model::execution& run, int first, int second) {
  mpsc<Capacity> ring(near_the_end);
  std::array<received, 2> seen;
  run.threads(
      [&] {
        for (int i = 0; i < first; ++i) push_waiting(ring, i);
      },
      [&] {
        for (int i = 0; i < second; ++i) push_waiting(ring, 8 + i);
      },
      [&] {
        modelled::spin wait;
        model_item item(0);
        for (int got = 0; got < first + second;) {
          const pop_outcome outcome = ring.try_pop(item);
          model::expect(outcome != pop_outcome::ended, "nobody has closed");
          if (outcome == pop_outcome::popped) {
            seen[static_cast<std::size_t>(item.value() / 8)].add_in_order(item.value() % 8);
            ++got;
          } else {
            wait.pause();
          }
        }
      });
}

/// One producer sees that both places are free; the other may rely on that without a look of its own.
inline void a_look_for_two(model::execution& run) {
  mpsc<2> ring(near_the_end);
  push_waiting(ring, 0);
  push_waiting(ring, 1);
  run.threads([&] { push_waiting(ring, 2); }, [&] { push_waiting(ring, 3); },
              [&] { model::expect(ring.consume(2, [](model_item&&) {}) == 2, "both were in"); });
}

/// Whoever sees the end sees what came before it, whatever it asks.
template <class Asks>
void asked_for_the_end(model::execution& run, Asks&& asks) {
  mpsc<2> ring;
  model_cell<int> last_words(0);
  run.threads(
      [&] {
        last_words.set(1);
        ring.close();
      },
      [&] {
        if (asks(ring)) model::expect(last_words.get() == 1, "what was done before close() is visible");
      });
}

inline void runs_of_two(model::execution& run) {
  mpsc<4> ring(near_the_end);
  std::vector<int> came;
  run.threads(
      [&] {
        auto places = ring.reserve(2);
        model::expect(places.size() == 2, "there is room for two");
        places.emplace(0);
        places.emplace(1);
      },
      [&] {
        auto places = ring.reserve(2);
        int number = 8;
        for (model_item& place : places.spans()) std::construct_at(&place, number++);
        places.publish(2);
      },
      [&] {
        modelled::spin wait;
        while (came.size() < 4) {
          const auto items = ring.readable(4);
          for (const model_item& item : items) came.push_back(item.value());
          ring.release(items.size());
          if (items.empty()) wait.pause();
        }
      });
  model::expect(came == std::vector<int>{0, 1, 8, 9} || came == std::vector<int>{8, 9, 0, 1}, "a run stays together");
}

inline void places_given_up(model::execution& run) {
  mpsc<2> ring(near_the_end);
  int first = -1;
  run.threads(
      [&] {
        auto places = ring.reserve(2);
        if (places) places.emplace(0);  // the second place, if there was one, is passed over
      },
      [&] { push_waiting(ring, 8); },
      [&] {
        modelled::spin wait;
        for (int got = 0; got < 2;) {
          got += static_cast<int>(ring.consume(2, [&](model_item&& item) {
            if (first < 0) first = item.value();
          }));
          if (!ring.has_items()) wait.pause();
        }
      });
  model::expect(first == 0 || first == 8, "both came");
  model::expect(ring.size() == 0 || ring.size() == 1, "at most the hole is left");
}

/// Who closes while others push: exactly those items come that were answered `pushed`.
inline void closed_meanwhile(model::execution& run) {
  mpsc<2> ring(near_the_end);
  model_cell<int> last_words(0);
  unsigned sent = 0;
  received seen;
  run.threads(
      [&] {
        for (int i = 0; i < 2; ++i) {
          model_item item(i);
          const push_outcome outcome = ring.try_push(std::move(item));
          if (outcome == push_outcome::pushed) sent |= 1U << i;
          if (outcome == push_outcome::closed) {
            model::expect(item.value() == i, "a refused item is left alone");
            model::expect(last_words.get() == 1, "what was done before close() is visible to who is refused");
          }
        }
      },
      [&] {
        last_words.set(1);
        ring.close();
      },
      [&] {
        pop_to_the_end(ring, [&](int number) { seen.add(number); });
        model::expect(last_words.get() == 1, "what was done before close() is visible at the end");
      });
  model::expect(seen.seen() == sent, "what was pushed came, and nothing else");
}

/// The relaxed pop, and what anybody may ask meanwhile.
inline void relaxed_and_asked(model::execution& run) {
  mpsc<2> ring(near_the_end);
  run.threads([&] { push_waiting(ring, 0); },
              [&] {
                modelled::spin wait;
                model_item item(1);
                while (ring.try_relaxed_pop(item) != pop_outcome::popped) wait.pause();
                model::expect(item.value() == 0, "the item");
              },
              [&] { model::expect(ring.size() <= 1, "one item at most"); });
}

inline void a_place_on_its_way(model::execution& run) {
  mpsc<2> ring;
  run.threads(
      [&] {
        auto place = ring.reserve(1);
        place.emplace(0);
      },
      [&] {
        model_item item(1);
        switch (ring.try_pop(item)) {
          case pop_outcome::popped:
            model::expect(item.value() == 0, "the item");
            break;
          case pop_outcome::empty:
          case pop_outcome::in_flight:
            model::expect(item.value() == 1, "nothing");
            break;
          case pop_outcome::ended:
            model::expect(false, "nobody has closed");
        }
      });
}

inline std::vector<named_scenario> many_to_one() {
  return {
      {"two producers, one place", [](auto& run) { two_send<1>(run, 1, 1); }},
      {"two producers, two places", [](auto& run) { two_send<2>(run, 2, 1); }},
      {"two producers, two items each", [](auto& run) { two_send<2>(run, 2, 2); }, true},
      {"a look for two", a_look_for_two},
      {"asked whether it is closed",
       [](auto& run) { asked_for_the_end(run, [](auto& ring) { return ring.closed(); }); }},
      {"asked whether it has ended",
       [](auto& run) { asked_for_the_end(run, [](auto& ring) { return ring.ended(); }); }},
      {"runs of two", runs_of_two},
      {"places given up", places_given_up},
      {"closed while pushing", closed_meanwhile},
      {"a place on its way", a_place_on_its_way},
      {"a relaxed pop", relaxed_and_asked},
      {"one producer as good as spsc",
       [](auto& run) {
         mpsc<2> ring(near_the_end);
         in_order_to_the_end(run, ring, 3);
       }},
      {"many to one, cancelled",
       [](auto& run) {
         mpsc<1> ring;
         cancelled(run, ring);
       }},
  };
}

// --- several consumers -----------------------------------------------------------------------------------------------

/// Two consumers and a producer on a full ring; nobody waits, and what is left in the end is taken then.
template <std::size_t Capacity>
void two_take(model::execution& run, int more) {
  spmc<Capacity> ring(near_the_end);
  constexpr int first = static_cast<int>(Capacity);
  for (int i = 0; i < first; ++i) push_waiting(ring, i);
  std::array<received, 3> seen;
  int sent = first;
  const auto take = [&](received& mine) {
    int last = -1;
    model_item item(0);
    while (ring.try_pop(item) == pop_outcome::popped) {
      model::expect(item.value() > last, "one consumer's items come in order");
      last = item.value();
      mine.add(last);
    }
  };
  run.threads(
      [&] {
        for (int i = 0; i < more; ++i) {
          if (ring.try_push(model_item(sent)) == push_outcome::pushed) ++sent;
        }
      },
      [&] { take(seen[0]); }, [&] { take(seen[1]); });
  take(seen[2]);
  const unsigned all = seen[0].seen() + seen[1].seen() + seen[2].seen();
  model::expect(all == (1U << sent) - 1, "every item went to one");
}

inline void to_the_end_of_two(model::execution& run) {
  spmc<2> ring(near_the_end);
  std::array<received, 2> seen;
  run.threads(
      [&] {
        push_waiting(ring, 0);
        ring.close();
      },
      [&] { pop_to_the_end(ring, [&](int number) { seen[0].add(number); }); },
      [&] { pop_to_the_end(ring, [&](int number) { seen[1].add(number); }); });
  model::expect(seen[0].seen() + seen[1].seen() == 1, "the item went to one");
}

/// One consumer has items in hand while the other claims the rest.
inline void in_hand(model::execution& run) {
  spmc<2> ring(near_the_end);
  std::array<received, 2> seen;
  push_waiting(ring, 0);
  push_waiting(ring, 1);
  run.threads(
      [&] {
        spmc<2>::consumer mine(ring, 2);
        model_item item(0);
        while (mine.try_pop(item) == pop_outcome::popped) seen[0].add(item.value());
      },
      [&] {
        model_item item(0);
        while (ring.try_pop(item) == pop_outcome::popped) seen[1].add(item.value());
      },
      [&] { (void)ring.try_relaxed_push(model_item(2)); });
  const unsigned left = static_cast<unsigned>(ring.size());
  const unsigned all = seen[0].seen() + seen[1].seen();
  model::expect(all == 7 || all == 3, "every item went to one");
  model::expect(left <= 1, "at most the last is left");
}

inline void asked_for_more(model::execution& run) {
  spmc<2> ring(near_the_end);
  received seen;
  model_cell<int> last_words(0);
  push_waiting(ring, 0);
  run.threads(
      [&] {
        push_waiting(ring, 1);
        last_words.set(1);
        ring.close();
      },
      [&] {
        modelled::spin wait;
        while (!ring.ended()) {
          if (ring.consume(1, [&](model_item&& item) noexcept { seen.add_in_order(item.value()); }) == 0) wait.pause();
        }
        model::expect(last_words.get() == 1, "what was done before close() is visible at the end");
        model::expect(!ring.has_items(), "everything was taken");
      },
      [&] { model::expect(ring.size() <= 2, "never more than the capacity"); });
  model::expect(seen.in_order() == 2, "every item came");
}

inline void in_batches(model::execution& run, bool more) {
  spmc<2> ring(near_the_end);
  std::array<received, 2> seen;
  const auto take_twice = [&](received& mine) {
    for (int i = 0; i < 2; ++i) {
      for (const model_item& item : ring.claim(2)) mine.add(item.value());
    }
  };
  run.threads(
      [&] {
        for (int i = 0; i < 2; ++i) push_waiting(ring, i);
        if (!more) return;
        const auto places = ring.prepare(2);
        for (std::size_t i = 0; i < places.size(); ++i) std::construct_at(&places[i], 2 + static_cast<int>(i));
        ring.commit(places.size());
      },
      [&] { take_twice(seen[0]); }, [&] { take_twice(seen[1]); });
  model::expect((seen[0].seen() & seen[1].seen()) == 0, "no item went to both");
}

/// A place whose item is claimed and not moved out yet is not "full" (JCTools issue 21).
inline void a_claimed_place_is_not_full(model::execution& run) {
  spmc<1> ring(near_the_end);
  modelled::atomic<int> claimed{0};
  push_waiting(ring, 0);
  run.threads(
      [&] {
        if (claimed.load(std::memory_order_acquire) == 0) return;
        const push_outcome outcome = ring.try_push(model_item(1));
        model::expect(outcome == push_outcome::pushed, "nothing was to be had, so it was not full");
      },
      [&] {
        const auto batch = ring.claim(1);
        model::expect(batch.size() == 1, "there was an item");
        claimed.store(1, std::memory_order_release);
      });
}

inline void a_relaxed_push_never_waits(model::execution& run) {
  spmc<1> ring;
  push_waiting(ring, 0);
  int pushed = 0;
  int taken = 0;
  run.threads([&] { pushed = ring.try_relaxed_push(model_item(1)) == push_outcome::pushed ? 1 : 0; },
              [&] {
                const auto batch = ring.claim(1);
                taken = static_cast<int>(batch.size());
              });
  model::expect(taken == 1, "the first item was to be had");
  model::expect(static_cast<int>(ring.size()) == pushed, "what was pushed is in");
}

inline std::vector<named_scenario> one_to_many() {
  return {
      {"two consumers, one place", [](auto& run) { two_take<1>(run, 1); }},
      {"two consumers, two places", [](auto& run) { two_take<2>(run, 1); }},
      {"two consumers to the end", to_the_end_of_two},
      {"asked for more", asked_for_more},
      {"in hand", in_hand},
      {"two consumers in batches", [](auto& run) { in_batches(run, false); }},
      {"two consumers in batches, more come", [](auto& run) { in_batches(run, true); }, true},
      {"two consumers, two places, two more", [](auto& run) { two_take<2>(run, 2); }, true},
      {"a claimed place is not full", a_claimed_place_is_not_full},
      {"a relaxed push never waits", a_relaxed_push_never_waits},
      {"one consumer as good as spsc",
       [](auto& run) {
         spmc<2> ring(near_the_end);
         in_order_to_the_end(run, ring, 4);
       }},
      {"one to many, cancelled",
       [](auto& run) {
         spmc<1> ring;
         cancelled(run, ring);
       }},
  };
}

// --- sleeping ----------------------------------------------------------------------------------------------------------

using park_word = basic_parking<modelled>;
using bed = basic_park_point<modelled>;
using modelled_word = modelled::atomic<int>;

/// A sleeper waits for a number that publishers count up to, and frees what it slept on at once: no wake is lost, none comes
/// after withdraw().
inline void parked(model::execution& run, int publishers, int each) {
  park_word word;
  std::array<modelled_word, 2> published{};
  const auto publish = [&](std::size_t mine) {
    for (int i = 1; i <= each; ++i) {
      published[mine].store(i, std::memory_order_relaxed);
      word.notify();
    }
  };
  const auto sleep = [&] {
    auto here = std::make_unique<bed>();
    const auto all_there = [&] {
      for (std::size_t i = 0; i < static_cast<std::size_t>(publishers); ++i) {
        if (published[i].load(std::memory_order_relaxed) != each) return false;
      }
      return true;
    };
    while (!all_there()) {
      if (word.park(here->action(), all_there)) here->wait();
    }
    word.withdraw();
  };
  if (publishers == 1) {
    run.threads(sleep, [&] { publish(0); });
  } else {
    run.threads(
        sleep, [&] { publish(0); }, [&] { publish(1); });
  }
}

inline void a_wake_shows_what_came_before(model::execution& run) {
  bed here;
  model_cell<int> news(0);
  run.threads(
      [&] {
        here.wait();
        model::expect(news.get() == 1, "the news is there");
      },
      [&] {
        news.set(1);
        here.wake();
      });
}

inline void a_late_wake_is_kept_for_the_next(model::execution& run) {
  bed here;
  model_cell<int> news(0);
  run.threads(
      [&] {
        const bool in_time = here.wait_until({});
        if (!in_time) here.wait();
        model::expect(news.get() == 1, "one wake, one return");
      },
      [&] {
        news.set(1);
        here.wake();
      });
}

inline void two_await_one_event(model::execution& run) {
  basic_event_count<modelled> events;
  modelled_word state{0};
  model_cell<int> news(0);
  const auto sleep = [&] {
    events.await([&] { return state.load(std::memory_order_acquire) == 1; });
    model::expect(news.get() == 1, "the news is there");
  };
  run.threads(sleep, sleep, [&] {
    news.set(1);
    state.store(1, std::memory_order_release);
    events.notify_all();
  });
}

/// The condition itself orders nothing, so only the event count keeps the wake from getting lost.
inline void one_awaits_two_events(model::execution& run) {
  basic_event_count<modelled> events;
  std::array<modelled_word, 2> state{};
  const auto publish = [&](std::size_t mine) {
    state[mine].store(1, std::memory_order_relaxed);
    events.notify_all();
  };
  run.threads(
      [&] {
        events.await([&] {
          return state[0].load(std::memory_order_relaxed) == 1 && state[1].load(std::memory_order_relaxed) == 1;
        });
      },
      [&] { publish(0); }, [&] { publish(1); });
}

/// Both sides wait: the producer for the place of the first item, the consumer for the second item.
inline void through_a_mailbox(model::execution& run) {
  mailbox<model_item, 1, modelled> box(near_the_end);
  received seen;
  model::expect(box.try_push(model_item(0)) == push_outcome::pushed, "it is empty");
  run.threads([&] { model::expect(box.push(model_item(1)) == push_outcome::pushed, "it is open"); },
              [&] {
                model_item item(0);
                for (int i = 0; i < 2; ++i) {
                  model::expect(box.pop(item) == pop_outcome::popped, "it is open");
                  seen.add_in_order(item.value());
                }
              });
}

inline void through_a_mailbox_to_the_end(model::execution& run) {
  mailbox<model_item, 1, modelled> box(near_the_end);
  received seen;
  run.threads(
      [&] {
        for (int i = 0; i < 2; ++i) model::expect(box.push(model_item(i)) == push_outcome::pushed, "it is open");
        box.close();
      },
      [&] {
        model_item item(0);
        while (box.pop(item) == pop_outcome::popped) seen.add_in_order(item.value());
      });
  model::expect(seen.in_order() == 2, "every item came");
}

inline void two_wait_for_one_place(model::execution& run) {
  mailbox<model_item, 1, modelled> box;
  received seen;
  model::expect(box.push(model_item(0)) == push_outcome::pushed, "it is empty");
  run.threads([&] { model::expect(box.push(model_item(1)) == push_outcome::pushed, "it is open"); },
              [&] { model::expect(box.push(model_item(2)) == push_outcome::pushed, "it is open"); },
              [&] {
                model_item item(0);
                for (int i = 0; i < 3; ++i) {
                  model::expect(box.pop(item) == pop_outcome::popped, "it is open");
                  seen.add(item.value());
                }
              });
  model::expect(seen.seen() == 7, "every item came");
}

inline void a_mailbox_closed_and_cancelled_while_all_wait(model::execution& run) {
  mailbox<model_item, 1, modelled> full;
  mailbox<model_item, 1, modelled> empty;
  model::expect(full.push(model_item(0)) == push_outcome::pushed, "it is empty");
  run.threads(
      [&] {
        const push_outcome outcome = full.push(model_item(1));
        model::expect(outcome == push_outcome::cancelled, "nobody takes the first");
        empty.close();
      },
      [&] { full.cancel(); },
      [&] {
        model_item item(0);
        model::expect(empty.pop(item) == pop_outcome::ended, "nobody puts any in");
      });
}

inline void popped_or_not_in_time(model::execution& run) {
  mailbox<model_item, 2, modelled> box;
  run.threads([&] { model::expect(box.try_push(model_item(0)) == push_outcome::pushed, "it is empty"); },
              [&] {
                model_item item(1);
                const pop_outcome first = box.pop_until(item, {});
                model::expect(first == pop_outcome::popped || first == pop_outcome::empty, "it is open");
                if (first == pop_outcome::empty) model::expect(box.pop(item) == pop_outcome::popped, "it comes");
                model::expect(item.value() == 0, "the item");
              });
}

inline void two_sides_of_a_ring_park(model::execution& run) {
  spsc<1> ring(near_the_end);
  park_word items;
  park_word room;
  received seen;
  run.threads(
      [&] {
        bed here;
        for (int i = 0; i < 2;) {
          if (ring.try_push(model_item(i)) == push_outcome::pushed) {
            ++i;
            items.notify();
          } else if (room.park(here.action(), [&] { return ring.free_places(1) != 0; })) {
            here.wait();
          }
        }
        room.withdraw();
      },
      [&] {
        bed here;
        while (seen.in_order() < 2) {
          if (ring.consume(2, [&](model_item&& item) { seen.add_in_order(item.value()); }) != 0) {
            room.notify();
          } else if (items.park(here.action(), [&] { return ring.has_items(); })) {
            here.wait();
          }
        }
        items.withdraw();
      });
}

inline std::vector<named_scenario> sleeping() {
  return {
      {"one publisher", [](auto& run) { parked(run, 1, 2); }},
      {"two publishers", [](auto& run) { parked(run, 2, 1); }},
      {"a wake shows what came before", a_wake_shows_what_came_before},
      {"a late wake is kept for the next", a_late_wake_is_kept_for_the_next},
      {"two await one event", two_await_one_event},
      {"one awaits two events", one_awaits_two_events},
      {"two sides of a ring park", two_sides_of_a_ring_park},
      {"through a mailbox", through_a_mailbox},
      {"through a mailbox to the end", through_a_mailbox_to_the_end, true},
      {"two wait for one place", two_wait_for_one_place, true},
      {"a mailbox that ends while all wait", a_mailbox_closed_and_cancelled_while_all_wait},
      {"popped, or not in time", popped_or_not_in_time},
  };
}

/// The name with an underline for everything but letters and digits.
inline std::string as_test_name(const char* name) {
  std::string out = name;
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return out;
}

inline std::vector<named_scenario> all() {
  std::vector<named_scenario> every;
  for (auto& group : {one_to_one(), many_to_one(), one_to_many(), sleeping()}) {
    every.insert(every.end(), group.begin(), group.end());
  }
  return every;
}

}  // namespace weir::queue::testing::scenarios
