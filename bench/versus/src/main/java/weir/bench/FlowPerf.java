package weir.bench;

import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.FlowableSubscriber;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import org.reactivestreams.Subscription;

/**
 * The rows of RxJava's OperatorMergePerf and OperatorObserveOnPerf on RxJava 3. One call of a method is one operation: it
 * assembles the flow, subscribes, waits for the end, and checks the number and the sum of what came.
 *
 * <p>observeOnHidden is the true hop between threads: range and observeOn fuse otherwise, and the consuming thread counts by
 * itself.
 */
@BenchmarkMode(Mode.Throughput)
@State(Scope.Thread)
public class FlowPerf {
  @Param({"1"})
  public int size;

  private List<Flowable<Integer>> ones;

  @Setup
  public void setup() {
    ones = new ArrayList<>();
    for (int i = 0; i < Math.min(size, 1000); i++) {
      ones.add(Flowable.just(i));
    }
  }

  private static final class Consumer implements FlowableSubscriber<Integer> {
    private final CountDownLatch latch = new CountDownLatch(1);
    private final Blackhole hole;
    private long count;
    private long sum;
    private Throwable failure;

    Consumer(Blackhole hole) {
      this.hole = hole;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Integer item) {
      hole.consume(item);
      count++;
      sum += item;
    }

    @Override
    public void onError(Throwable why) {
      failure = why;
      latch.countDown();
    }

    @Override
    public void onComplete() {
      latch.countDown();
    }

    void await(boolean spin, long expectedCount, long expectedSum) throws InterruptedException {
      if (spin) {
        while (latch.getCount() != 0) {
          Thread.onSpinWait();
        }
      } else {
        latch.await();
      }
      if (failure != null || count != expectedCount || sum != expectedSum) {
        throw new IllegalStateException("what came out is not what went in", failure);
      }
    }
  }

  private static long sumBelow(long n) {
    return n * (n - 1) / 2;
  }

  private void run(Flowable<Integer> flow, Blackhole hole, long count, long sum) throws InterruptedException {
    Consumer consumer = new Consumer(hole);
    flow.subscribe(consumer);
    consumer.await(size == 1, count, sum);
  }

  @Benchmark
  public void merge1SyncStreamOfN(Blackhole hole) throws InterruptedException {
    run(Flowable.merge(Flowable.just(1).map(i -> Flowable.range(0, size))), hole, size, sumBelow(size));
  }

  @Benchmark
  public void mergeNSyncStreamsOf1(Blackhole hole) throws InterruptedException {
    run(Flowable.merge(ones), hole, size, sumBelow(size));
  }

  @Benchmark
  public void mergeNSyncStreamsOfN(Blackhole hole) throws InterruptedException {
    run(Flowable.merge(Flowable.range(0, size).map(i -> Flowable.range(0, size))), hole, (long) size * size,
        size * sumBelow(size));
  }

  @Benchmark
  public void oneStreamOfNthatMergesIn1(Blackhole hole) throws InterruptedException {
    run(Flowable.merge(Flowable.range(0, size).map(Flowable::just)), hole, size, sumBelow(size));
  }

  @Benchmark
  public void mergeTwoAsyncStreamsOfN(Blackhole hole) throws InterruptedException {
    Flowable<Integer> one = Flowable.range(0, size).subscribeOn(Schedulers.computation());
    run(Flowable.merge(one, one), hole, 2L * size, 2 * sumBelow(size));
  }

  @Benchmark
  public void mergeNAsyncStreamsOfN(Blackhole hole) throws InterruptedException {
    run(Flowable.merge(Flowable.range(0, size).map(
            i -> Flowable.range(0, size).subscribeOn(Schedulers.computation()))),
        hole, (long) size * size, size * sumBelow(size));
  }

  @Benchmark
  public void observeOn(Blackhole hole) throws InterruptedException {
    run(Flowable.range(0, size).observeOn(Schedulers.computation()), hole, size, sumBelow(size));
  }

  @Benchmark
  public void observeOnHidden(Blackhole hole) throws InterruptedException {
    run(Flowable.range(0, size).hide().observeOn(Schedulers.computation()), hole, size, sumBelow(size));
  }
}
