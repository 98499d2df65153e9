/* Redisson's RLock as a client of lockbench's lock `exec` (../README.md). NOT TESTED: no test of lockbench runs this
 * program, since Debian has no Redisson.
 * usage: java -cp 'redisson-all.jar:/usr/share/java/*' RedissonLock.java    (libjackson2-databind-java has the JSON)
 *
 * A lock of Redisson that is taken without a lease gets the lease of the watchdog, which renews the lock every third of
 * that lease; here the watchdog's lease is the workload's. The program asks the server when the lease ends. `renew`
 * answers whether the lock is still held. The lock belongs to the thread that acquired it; here all requests run one
 * after the other on the main thread.
 */
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

public class RedissonLock {
    static final ObjectMapper json = new ObjectMapper();
    static final Map<String, RLock> held = new HashMap<>();
    static RedissonClient client;

    static ObjectNode outcome(String word) {
        return json.createObjectNode().put("outcome", word);
    }

    /* Decodes %XX in the account of a URL. URLDecoder alone would turn a plus sign into a blank. */
    static String decode(String text) throws Exception {
        return URLDecoder.decode(text.replace("+", "%2B"), "UTF-8");
    }

    static ObjectNode open(JsonNode asked) throws Exception {
        String[] url = System.getenv("LOCKBENCH_URL").split("://", 2);
        int at = url[1].lastIndexOf('@');
        Config config = new Config();
        config.setLockWatchdogTimeout(asked.get("lease").longValue());
        SingleServerConfig server = config.useSingleServer()
            .setAddress(url[0] + "://" + url[1].substring(at + 1))
            .setTimeout(4000)
            .setRetryAttempts(0);
        if (at >= 0) {
            String[] account = url[1].substring(0, at).split(":", 2);
            if (!account[0].isEmpty()) server.setUsername(decode(account[0]));
            if (account.length > 1) server.setPassword(decode(account[1]));
        }
        client = Redisson.create(config);
        return outcome("ok").put("version", "Redisson " + Redisson.class.getPackage().getImplementationVersion());
    }

    /* The answer "ok" with the time from `began` to the end of the lease; the server says how much of the lease is left. */
    static ObjectNode holds(RLock lock, long began) {
        long sent = System.nanoTime();
        long left = lock.remainTimeToLive();
        if (left < 0 || !lock.isHeldByCurrentThread()) return outcome("lost");
        return outcome("ok").put("lease", (sent - began) / 1e6 + left);
    }

    static ObjectNode take(JsonNode asked, boolean once) throws Exception {
        long began = System.nanoTime();
        String key = asked.get("key").textValue();
        RLock lock = client.getLock(key);
        boolean got = true;
        if (once) {
            got = lock.tryLock();
        } else if (asked.get("deadline").isNull()) {
            lock.lock();
        } else { // rounded up: not before the deadline
            got = lock.tryLock((long) Math.ceil(asked.get("deadline").doubleValue()), TimeUnit.MILLISECONDS);
        }
        if (!got) return outcome(once ? "busy" : "timeout");
        held.put(key, lock);
        ObjectNode answer = holds(lock, began);
        return answer.has("lease") ? answer : outcome("unknown").put("why", "it ended at once");
    }

    static ObjectNode release(JsonNode asked) {
        RLock lock = held.remove(asked.get("key").textValue());
        if (lock == null) return outcome("lost");
        try {
            lock.unlock();
            return outcome("ok");
        } catch (IllegalMonitorStateException notHeld) {
            return outcome("lost");
        }
    }

    static ObjectNode renew(JsonNode asked) {
        RLock lock = held.get(asked.get("key").textValue());
        return lock == null ? outcome("lost") : holds(lock, System.nanoTime());
    }

    static ObjectNode residue(JsonNode asked) {
        String prefix = asked.get("prefix").textValue();
        List<String> left = new ArrayList<>();
        if (asked.has("count")) {
            for (int i = 0; i < asked.get("count").intValue(); i++) {
                if (client.getKeys().countExists(prefix + i) > 0) left.add(prefix + i);
            }
        } else {
            for (String name : client.getKeys().getKeysByPattern(prefix + "*")) left.add(name);
        }
        ObjectNode answer = outcome("ok").put("count", left.size());
        return left.isEmpty() ? answer : answer.put("example", "key " + left.get(0));
    }

    static ObjectNode answer(JsonNode asked) throws Exception {
        switch (asked.get("do").textValue()) {
        case "open":
            return open(asked);
        case "try":
            return take(asked, true);
        case "acquire":
            return take(asked, false);
        case "release":
            return release(asked);
        case "renew":
            return renew(asked);
        case "ping":
            client.getBucket("lockbench").isExists();
            return outcome("ok");
        case "residue":
            return residue(asked);
        default:
            return outcome("refused").put("why", "not known");
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = in.readLine()) != null;) {
            JsonNode asked = json.readTree(line);
            if (asked.get("do").textValue().equals("close")) break;
            ObjectNode words;
            try {
                words = answer(asked);
            } catch (Exception error) {
                words = outcome("unknown").put("why", error.toString());
            }
            System.out.println(words);
            System.out.flush();
        }
        if (client != null) client.shutdown();
        System.exit(0);
    }
}
