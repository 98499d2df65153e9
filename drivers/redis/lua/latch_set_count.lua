-- Redisson 4.7, RCountDownLatch: RedissonCountDownLatch.trySetCountAsync.
-- KEYS: 1 the latch, a counter, 2 its channel. ARGV: 1 message, 2 PUBLISH or SPUBLISH, 3 count.
-- Answers 1: set; 0: was there already.
local latch, channel = KEYS[1], KEYS[2]
local message, publish, count = ARGV[1], ARGV[2], ARGV[3]

if redis.call('exists', latch) == 1 then return 0 end
redis.call('set', latch, count)
redis.call(publish, channel, message)
return 1
