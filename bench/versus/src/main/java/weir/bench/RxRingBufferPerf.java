package weir.bench;

import java.util.LinkedList;
import org.jctools.queues.SpmcArrayQueue;
import org.jctools.queues.SpscArrayQueue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import rx.exceptions.MissingBackpressureException;
import rx.internal.util.RxRingBuffer;

/**
 * The eight rows of RxJava's benchmark of that name, on what RxJava and JCTools offer for them. One thread; one call of
 * a method is one operation; 1024 places. Every item that comes out is compared with what went in.
 *
 * <p>Names are QUEUE_KIND_ROW, from which bench/queue/rows makes its cells.
 */
@BenchmarkMode(Mode.Throughput)
@State(Scope.Thread)
public class RxRingBufferPerf {
  private static final int CAPACITY = 1024;
  private static final Object ITEM = "a";

  private final RxRingBuffer spscRing = RxRingBuffer.getSpscInstance();
  private final RxRingBuffer spmcRing = RxRingBuffer.getSpmcInstance();
  private final SpscArrayQueue<Object> spscArray = new SpscArrayQueue<>(CAPACITY);
  private final SpmcArrayQueue<Object> spmcArray = new SpmcArrayQueue<>(CAPACITY);
  private final MonitorList monitorList = new MonitorList();

  /** A list behind a monitor: what RxJava had before its ring, and quick where a ring must be made for one item. */
  private static final class MonitorList {
    private final LinkedList<Object> list = new LinkedList<>();

    synchronized boolean offer(Object item) {
      if (list.size() == CAPACITY) {
        return false;
      }
      return list.offer(item);
    }

    synchronized Object poll() {
      return list.poll();
    }
  }

  private static void check(Object got, Blackhole hole) {
    if (got != ITEM) {
      throw new IllegalStateException("the queue lost or changed an item");
    }
    hole.consume(got);
  }

  private static void refused(boolean taken) {
    if (!taken) {
      throw new IllegalStateException("the queue refused an item");
    }
  }

  // Each queue has its own loops, so that a call site sees one class only.

  private static void use(RxRingBuffer ring, int count, Blackhole hole) throws MissingBackpressureException {
    for (int i = 0; i < count; i++) {
      ring.onNext(ITEM);
    }
    for (int i = 0; i < count; i++) {
      check(ring.poll(), hole);
    }
  }

  private static void use(SpscArrayQueue<Object> queue, int count, Blackhole hole) {
    for (int i = 0; i < count; i++) {
      refused(queue.offer(ITEM));
    }
    for (int i = 0; i < count; i++) {
      check(queue.poll(), hole);
    }
  }

  private static void use(SpmcArrayQueue<Object> queue, int count, Blackhole hole) {
    for (int i = 0; i < count; i++) {
      refused(queue.offer(ITEM));
    }
    for (int i = 0; i < count; i++) {
      check(queue.poll(), hole);
    }
  }

  private static void use(MonitorList queue, int count, Blackhole hole) {
    for (int i = 0; i < count; i++) {
      refused(queue.offer(ITEM));
    }
    for (int i = 0; i < count; i++) {
      check(queue.poll(), hole);
    }
  }

  @Benchmark
  public void RxRingBuffer_spsc_AddRemove1(Blackhole hole) throws MissingBackpressureException {
    spscRing.onNext(ITEM);
    check(spscRing.poll(), hole);
  }

  @Benchmark
  public void RxRingBuffer_spsc_AddRemove1000(Blackhole hole) throws MissingBackpressureException {
    use(spscRing, 1000, hole);
  }

  @Benchmark
  public void RxRingBuffer_spsc_CreateUseAndDestroy1(Blackhole hole) throws MissingBackpressureException {
    RxRingBuffer ring = RxRingBuffer.getSpscInstance();
    ring.onNext(ITEM);
    check(ring.poll(), hole);
    ring.release();
  }

  @Benchmark
  public void RxRingBuffer_spsc_CreateUseAndDestroy1000(Blackhole hole) throws MissingBackpressureException {
    RxRingBuffer ring = RxRingBuffer.getSpscInstance();
    use(ring, 1000, hole);
    ring.release();
  }

  @Benchmark
  public void RxRingBuffer_spmc_AddRemove1(Blackhole hole) throws MissingBackpressureException {
    spmcRing.onNext(ITEM);
    check(spmcRing.poll(), hole);
  }

  @Benchmark
  public void RxRingBuffer_spmc_AddRemove1000(Blackhole hole) throws MissingBackpressureException {
    use(spmcRing, 1000, hole);
  }

  @Benchmark
  public void RxRingBuffer_spmc_CreateUseAndDestroy1(Blackhole hole) throws MissingBackpressureException {
    RxRingBuffer ring = RxRingBuffer.getSpmcInstance();
    ring.onNext(ITEM);
    check(ring.poll(), hole);
    ring.release();
  }

  @Benchmark
  public void RxRingBuffer_spmc_CreateUseAndDestroy1000(Blackhole hole) throws MissingBackpressureException {
    RxRingBuffer ring = RxRingBuffer.getSpmcInstance();
    use(ring, 1000, hole);
    ring.release();
  }

  @Benchmark
  public void JCTools_spsc_AddRemove1(Blackhole hole) {
    refused(spscArray.offer(ITEM));
    check(spscArray.poll(), hole);
  }

  @Benchmark
  public void JCTools_spsc_AddRemove1000(Blackhole hole) {
    use(spscArray, 1000, hole);
  }

  @Benchmark
  public void JCTools_spsc_CreateUseAndDestroy1(Blackhole hole) {
    use(new SpscArrayQueue<>(CAPACITY), 1, hole);
  }

  @Benchmark
  public void JCTools_spsc_CreateUseAndDestroy1000(Blackhole hole) {
    use(new SpscArrayQueue<>(CAPACITY), 1000, hole);
  }

  @Benchmark
  public void JCTools_spmc_AddRemove1(Blackhole hole) {
    refused(spmcArray.offer(ITEM));
    check(spmcArray.poll(), hole);
  }

  @Benchmark
  public void JCTools_spmc_AddRemove1000(Blackhole hole) {
    use(spmcArray, 1000, hole);
  }

  @Benchmark
  public void JCTools_spmc_CreateUseAndDestroy1(Blackhole hole) {
    use(new SpmcArrayQueue<>(CAPACITY), 1, hole);
  }

  @Benchmark
  public void JCTools_spmc_CreateUseAndDestroy1000(Blackhole hole) {
    use(new SpmcArrayQueue<>(CAPACITY), 1000, hole);
  }

  @Benchmark
  public void MonitorList_any_AddRemove1(Blackhole hole) {
    refused(monitorList.offer(ITEM));
    check(monitorList.poll(), hole);
  }

  @Benchmark
  public void MonitorList_any_AddRemove1000(Blackhole hole) {
    use(monitorList, 1000, hole);
  }

  @Benchmark
  public void MonitorList_any_CreateUseAndDestroy1(Blackhole hole) {
    MonitorList list = new MonitorList();
    refused(list.offer(ITEM));
    check(list.poll(), hole);
  }

  @Benchmark
  public void MonitorList_any_CreateUseAndDestroy1000(Blackhole hole) {
    use(new MonitorList(), 1000, hole);
  }
}
