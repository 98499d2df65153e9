-- Redisson 4.7, RCountDownLatch: RedissonCountDownLatch.countDownAsync.
-- KEYS: 1 the latch, a counter, 2 its channel. ARGV: 1 message, 2 PUBLISH or SPUBLISH.
local latch, channel = KEYS[1], KEYS[2]
local message, publish = ARGV[1], ARGV[2]

local left = redis.call('decr', latch)
if left <= 0 then redis.call('del', latch) end
if left == 0 then redis.call(publish, channel, message) end
