/* ZkForeign: the real clients of ZooKeeper's locks, for tests: Curator's recipes. Told what to do by lines on stdin, each for one named actor, which has a thread of its own (Curator's
 * locks belong to threads):
 *
 *   ACTOR acquire KIND PATH WAIT_MS [N]      ACTOR release
 *
 * KIND: mutex, read, write, multi (PATH,PATH), semaphore (N: bound), semaphore2 (two permits).
 * Answers, when it is done: "ACTOR acquired", "ACTOR busy" (the wait ended), "ACTOR released", "ACTOR failed ...".
 * Several acquires of an actor nest. WAIT_MS below 0 waits for ever. All on one connection.
 *
 * usage: java -cp ... ZkForeign.java HOST:PORT
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

public class ZkForeign {
    interface Held {
        void release() throws Exception;
    }

    static CuratorFramework client;
    static final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
    static final Map<String, InterProcessReadWriteLock> readWrites = new ConcurrentHashMap<>();

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static Held take(InterProcessLock lock, long waitMs) throws Exception {
        if (waitMs < 0) {
            lock.acquire();
        } else if (!lock.acquire(waitMs, TimeUnit.MILLISECONDS)) {
            return null;
        }
        return lock::release;
    }

    static Held takePermits(String path, int bound, int permits, long waitMs) throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, bound);
        Collection<Lease> leases = waitMs < 0 ? semaphore.acquire(permits)
                                              : semaphore.acquire(permits, waitMs, TimeUnit.MILLISECONDS);
        return leases == null ? null : () -> semaphore.returnAll(leases);
    }

    static Held acquire(String[] words) throws Exception {
        String kind = words[2], path = words[3];
        long waitMs = Long.parseLong(words[4]);
        int bound = words.length > 5 ? Integer.parseInt(words[5]) : 1;
        switch (kind) {
            case "mutex":
                return take(mutexes.computeIfAbsent(path, p -> new InterProcessMutex(client, p)), waitMs);
            case "read":
                return take(readWrite(path).readLock(), waitMs);
            case "write":
                return take(readWrite(path).writeLock(), waitMs);
            case "semaphore":
                return takePermits(path, bound, 1, waitMs);
            case "semaphore2":
                return takePermits(path, bound, 2, waitMs);
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    static InterProcessReadWriteLock readWrite(String path) {
        return readWrites.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
    }

    static void act(String[] words, Deque<Held> holding) {
        String actor = words[0];
        try {
            if (words[1].equals("release")) {
                holding.pop().release();
                say(actor + " released");
                return;
            }
            Held held = acquire(words);
            if (held != null) holding.push(held);
            say(actor + (held != null ? " acquired" : " busy"));
        } catch (Throwable e) {
            say(actor + " failed " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        client = CuratorFrameworkFactory.newClient(args[0], 10000, 10000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        Map<String, ExecutorService> threads = new HashMap<>();
        Map<String, Deque<Held>> held = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        say("ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            Deque<Held> mine = held.computeIfAbsent(words[0], name -> new ArrayDeque<>());
            threads.computeIfAbsent(words[0], name -> Executors.newSingleThreadExecutor())
                    .submit(() -> act(words, mine));
        }
        System.exit(0);
    }
}
