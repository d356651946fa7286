package weir.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.MpscArrayQueue;
import org.jctools.queues.SpmcArrayQueue;
import org.jctools.queues.SpscArrayQueue;

/**
 * References from one thread to another through JCTools' queues, measured as bench/queue/hand_over.cc and round_trip.cc
 * measure: the same loads, the same check of count and sum, times read by the threads themselves.
 *
 * <p>HandOver LOAD WAY RING: LOAD is 1P1C, 2P1C, 1P2C or roundtrip, WAY is one or drain. Warms up, prints "ready", and
 * then for every line "MILLISECONDS" on its standard input measures about so long and prints a line: items per second,
 * or nanoseconds for a round trip. Its threads are called weir-0, weir-1, ..., so that somebody else can pin them. One
 * queue class per process, so that no call site has seen another.
 */
public final class HandOver {
  private static final int DRAIN_MAX = 256;
  private static final int TARGETS = 1024;
  private static final Long[] ITEMS = new Long[TARGETS];

  static {
    for (int i = 0; i < TARGETS; i++) {
      ITEMS[i] = Long.valueOf(i);
    }
  }

  private static Long item(long number) {
    return ITEMS[(int) number & (TARGETS - 1)];
  }

  private final int producers;
  private final int consumers;
  private final boolean drain;
  private final int ring;

  private HandOver(int producers, int consumers, boolean drain, int ring) {
    this.producers = producers;
    this.consumers = consumers;
    this.drain = drain;
    this.ring = ring;
  }

  /** What a consumer has taken so far. */
  private static final class Tally implements MessagePassingQueue.Consumer<Long> {
    long count;
    long sum;

    @Override
    public void accept(Long item) {
      count++;
      sum += item;
    }
  }

  private static long expectedSum(long count) {
    long sum = 0;
    for (long i = 0; i < count; i++) {
      sum += i % TARGETS;
    }
    return sum;
  }

  /** A pause, and now and then the processor for somebody else; the same as in measure.h. */
  private static int pause(int times, int yieldEvery) {
    if (++times % yieldEvery == 0) {
      Thread.yield();
    } else {
      Thread.onSpinWait();
    }
    return times;
  }

  private static void produce(MessagePassingQueue<Long> queue, long from, long to, int yieldEvery) {
    int times = 0;
    for (long number = from; number < to; number++) {
      Long item = item(number);
      while (!queue.offer(item)) {
        times = pause(times, yieldEvery);
      }
    }
  }

  private static boolean takeSome(MessagePassingQueue<Long> queue, boolean drain, Tally into) {
    if (drain) {
      return queue.drain(into, DRAIN_MAX) != 0;
    }
    Long item = queue.relaxedPoll();
    if (item == null) {
      return false;
    }
    into.accept(item);
    return true;
  }

  private static Tally takeAll(
      MessagePassingQueue<Long> queue, boolean drain, AtomicInteger producersLeft, int yieldEvery) {
    Tally taken = new Tally();
    int times = 0;
    boolean lastLook = false;
    for (;;) {
      if (takeSome(queue, drain, taken)) {
        continue;
      }
      if (lastLook) {
        return taken;
      }
      lastLook = producersLeft.get() == 0;
      if (!lastLook) {
        times = pause(times, yieldEvery);
      }
    }
  }

  private MessagePassingQueue<Long> makeQueue() {
    if (producers > 1) {
      return new MpscArrayQueue<>(ring);
    }
    return consumers > 1 ? new SpmcArrayQueue<>(ring) : new SpscArrayQueue<>(ring);
  }

  /** Runs the works, one thread each, and returns the seconds from the first start to the last end. */
  private static double time(Runnable... works) throws InterruptedException {
    AtomicInteger missing = new AtomicInteger(works.length);
    CountDownLatch ended = new CountDownLatch(works.length);
    long[] began = new long[works.length];
    long[] end = new long[works.length];
    Team.run(works.length, i -> {
      missing.decrementAndGet();
      int times = 0;
      while (missing.get() != 0) {
        times = pause(times, 8);
      }
      began[i] = System.nanoTime();
      works[i].run();
      end[i] = System.nanoTime();
      ended.countDown();
    });
    ended.await();
    long first = began[0];
    long last = end[0];
    for (int i = 1; i < works.length; i++) {
      first = Math.min(first, began[i]);
      last = Math.max(last, end[i]);
    }
    return (last - first) / 1e9;
  }

  private double handOver(long count) throws InterruptedException {
    MessagePassingQueue<Long> queue = makeQueue();
    AtomicInteger producersLeft = new AtomicInteger(producers);
    int yieldEvery = producers + consumers > 2 ? 8 : 64;
    Tally[] taken = new Tally[consumers];
    Runnable[] works = new Runnable[producers + consumers];
    for (int i = 0; i < producers; i++) {
      long from = count * i / producers;
      long to = count * (i + 1) / producers;
      works[i] = () -> {
        produce(queue, from, to, yieldEvery);
        producersLeft.decrementAndGet();
      };
    }
    for (int i = 0; i < consumers; i++) {
      int place = i;
      works[producers + i] = () -> taken[place] = takeAll(queue, drain, producersLeft, yieldEvery);
    }
    double seconds = time(works);
    long all = 0;
    long sum = 0;
    for (Tally some : taken) {
      all += some.count;
      sum += some.sum;
    }
    if (all != count || sum != expectedSum(count)) {
      throw new IllegalStateException("what came out is not what went in");
    }
    return seconds;
  }

  private static Long spinForItem(SpscArrayQueue<Long> queue) {
    for (int times = 1; ; times++) {
      Long item = queue.relaxedPoll();
      if (item != null) {
        return item;
      }
      if (times % 65536 == 0) {
        Thread.yield();
      }
    }
  }

  private double roundTrips(long count) throws InterruptedException {
    SpscArrayQueue<Long> there = new SpscArrayQueue<>(ring);
    SpscArrayQueue<Long> back = new SpscArrayQueue<>(ring);
    long[] sum = new long[1];
    double seconds = time(
        () -> {
          long total = 0;
          for (long number = 0; number < count; number++) {
            if (!there.offer(item(number))) {
              throw new IllegalStateException("an empty queue refused an item");
            }
            total += spinForItem(back);
          }
          sum[0] = total;
        },
        () -> {
          for (long number = 0; number < count; number++) {
            if (!back.offer(spinForItem(there))) {
              throw new IllegalStateException("an empty queue refused an item");
            }
          }
        });
    if (sum[0] != expectedSum(count)) {
      throw new IllegalStateException("what came back is not what went out");
    }
    return seconds;
  }

  private double run(long count) throws InterruptedException {
    return producers == 0 ? roundTrips(count) : handOver(count);
  }

  /** Growing counts until one takes about as long as asked; returns count per second. */
  private double rate(double seconds, long countMin) throws InterruptedException {
    long count = countMin;
    for (;;) {
      double took = run(count);
      if (took >= seconds * 0.6) {
        return count / took;
      }
      count = (long) (count * Math.min(16, Math.max(1.5, seconds / took)));
    }
  }

  public static void main(String[] arguments) throws Exception {
    String load = arguments[0];
    HandOver cell = load.equals("roundtrip")
        ? new HandOver(0, 0, false, Integer.parseInt(arguments[2]))
        : new HandOver(load.charAt(0) - '0', load.charAt(2) - '0', arguments[1].equals("drain"),
            Integer.parseInt(arguments[2]));
    Team.start(load.equals("roundtrip") ? 2 : cell.producers + cell.consumers);
    long countMin = Math.max(1 << 12, 4L * cell.ring);
    // Compiled, and compiled again once its loops have been seen.
    for (int i = 0; i < 10; i++) {
      cell.rate(0.1, countMin);
    }
    System.out.println("ready");
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      double rate = cell.rate(Double.parseDouble(line) / 1e3, countMin);
      System.out.println(load.equals("roundtrip") ? 1e9 / rate : rate);
    }
    System.exit(0);
  }
}
