-- Redisson 4.7, RSemaphore: RedissonSemaphore.releaseAsync.
-- KEYS: 1 the semaphore, a counter of the permits that are left, 2 its channel.
-- ARGV: 1 permits, 2 PUBLISH or SPUBLISH.
local semaphore, channel = KEYS[1], KEYS[2]
local permits, publish = ARGV[1], ARGV[2]

local left = redis.call('incrby', semaphore, permits)
redis.call(publish, channel, left)
