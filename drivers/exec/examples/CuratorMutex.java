/* Curator's InterProcessMutex as a client of lockbench's lock `exec-session` (../README.md).
 * Debian: libcurator-recipes-java, default-jdk-headless. usage: java -cp '/usr/share/java/*' CuratorMutex.java,
 * or compiled before, for more than a few clients: compile_curator.sh.
 *
 * A grant lives as long as the ZooKeeper session, so it has no lease. Curator does not end a lock when its connection
 * is in doubt (SUSPENDED) or its session is over (LOST). Its documentation advises to listen for both states; this
 * program does so. The mutex belongs to the thread that acquired it; here all requests run one after the other on the
 * main thread.
 */
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;

public class CuratorMutex {
    static final String ROOT = "/lockbench-curator";
    static final ObjectMapper json = new ObjectMapper();
    static final Map<String, InterProcessMutex> held = new HashMap<>();
    static CuratorFramework client;
    static volatile boolean lost, closing;

    static synchronized void say(ObjectNode words) {
        System.out.println(words);
        System.out.flush();
    }

    static ObjectNode outcome(String word) {
        return json.createObjectNode().put("outcome", word);
    }

    static String name(String key) throws Exception {
        return "k" + URLEncoder.encode(key, "UTF-8").replace("*", "%2A");
    }

    /* Decodes %XX in the account of a URL. URLDecoder alone would turn a plus sign into a blank. */
    static String decode(String text) throws Exception {
        return URLDecoder.decode(text.replace("+", "%2B"), "UTF-8");
    }

    static void watch(ConnectionState state) {
        boolean over = state == ConnectionState.SUSPENDED || state == ConnectionState.LOST;
        if (!over || lost || closing) return;
        lost = true;
        say(json.createObjectNode().put("event", "lost"));
    }

    static ObjectNode open(JsonNode asked) throws Exception {
        String hosts = System.getenv("LOCKBENCH_URL").split("://", 2)[1];
        int at = hosts.lastIndexOf('@');
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
            .connectString(hosts.substring(at + 1))
            .sessionTimeoutMs(asked.get("lease").intValue())
            .connectionTimeoutMs(4000)
            .retryPolicy(new RetryOneTime(100));
        if (at >= 0) builder.authorization("digest", decode(hosts.substring(0, at)).getBytes("UTF-8"));
        client = builder.build();
        client.getConnectionStateListenable().addListener((same, state) -> watch(state));
        client.start();
        if (!client.blockUntilConnected(4, TimeUnit.SECONDS)) return outcome("broken").put("why", "not connected");
        client.createContainers(ROOT);
        // The servers look for ended sessions once a tick, which is 2 s unless they are told otherwise.
        return outcome("ok")
            .put("version", "Curator " + CuratorFramework.class.getPackage().getImplementationVersion())
            .put("lease", client.getZookeeperClient().getZooKeeper().getSessionTimeout() + 2000);
    }

    static ObjectNode take(JsonNode asked, boolean once) throws Exception {
        String key = asked.get("key").textValue();
        InterProcessMutex mutex = new InterProcessMutex(client, ROOT + "/" + name(key));
        boolean got = true;
        if (once) {
            got = mutex.acquire(0, TimeUnit.MILLISECONDS);
        } else if (asked.get("deadline").isNull()) {
            mutex.acquire();
        } else { // rounded up: not before the deadline
            got = mutex.acquire((long) Math.ceil(asked.get("deadline").doubleValue()), TimeUnit.MILLISECONDS);
        }
        if (got) held.put(key, mutex);
        return outcome(got ? "ok" : once ? "busy" : "timeout");
    }

    static ObjectNode release(JsonNode asked) throws Exception {
        InterProcessMutex mutex = held.remove(asked.get("key").textValue());
        if (mutex == null || lost) return outcome("lost");
        mutex.release();
        return outcome(lost ? "lost" : "ok");
    }

    static ObjectNode residue(JsonNode asked) throws Exception {
        List<String> left = new ArrayList<>();
        for (String node : client.getChildren().forPath(ROOT)) {
            if (!node.startsWith(name(asked.get("prefix").textValue()))) continue;
            for (String child : client.getChildren().forPath(ROOT + "/" + node)) left.add(node + "/" + child);
        }
        ObjectNode answer = outcome("ok").put("count", left.size());
        return left.isEmpty() ? answer : answer.put("example", "znode " + ROOT + "/" + left.get(0));
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
        case "ping":
            client.checkExists().forPath("/");
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
            try {
                say(answer(asked));
            } catch (Exception error) {
                say(outcome("unknown").put("why", error.toString()));
            }
        }
        closing = true;
        if (client != null) client.close();
        System.exit(0);
    }
}
