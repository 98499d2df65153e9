-- Redisson 4.7, RCountDownLatch: RedissonCountDownLatch.deleteAsync.
-- KEYS: 1 the latch, a counter, 2 its channel. ARGV: 1 message, 2 PUBLISH or SPUBLISH.
-- Answers 1: deleted; 0: was not there.
local latch, channel = KEYS[1], KEYS[2]
local message, publish = ARGV[1], ARGV[2]

if redis.call('del', latch) == 0 then return 0 end
redis.call(publish, channel, message)
return 1
