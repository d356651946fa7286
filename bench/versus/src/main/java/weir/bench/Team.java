package weir.bench;

import java.util.concurrent.SynchronousQueue;
import java.util.function.IntConsumer;

/** Threads that stay, so that whoever pinned them once has pinned them for all runs. */
final class Team {
  private static SynchronousQueue<Runnable>[] inboxes;

  private Team() {}

  @SuppressWarnings({"unchecked", "rawtypes"})
  static void start(int threads) {
    inboxes = new SynchronousQueue[threads];
    for (int i = 0; i < threads; i++) {
      SynchronousQueue<Runnable> inbox = new SynchronousQueue<>();
      inboxes[i] = inbox;
      String name = "weir-" + i;
      Thread thread = new Thread(() -> serve(inbox, name));
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Gives every one of the first threads its number to work on; returns before they are done. */
  static void run(int threads, IntConsumer work) throws InterruptedException {
    for (int i = 0; i < threads; i++) {
      int number = i;
      inboxes[i].put(() -> work.accept(number));
    }
  }

  private static void serve(SynchronousQueue<Runnable> inbox, String name) {
    // By the thread itself: then the system learns of the name too.
    Thread.currentThread().setName(name);
    try {
      for (;;) {
        inbox.take().run();
      }
    } catch (Throwable failed) {
      failed.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }
}
