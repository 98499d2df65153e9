-- Redisson 4.7, RPermitExpirableSemaphore: RedissonPermitExpirableSemaphore.tryReleaseAsync of one
-- permit. A permit whose lease has ended is given back, but counts as not held.
-- KEYS: 1 the semaphore, a counter, 2 the channel, 3 the leases.
-- ARGV: 1 the permit's id, 2 the client's clock, in ms, 3 PUBLISH or SPUBLISH.
-- Answers 1: given back; 0: was not held.
local semaphore, channel, leases = KEYS[1], KEYS[2], KEYS[3]
local id, now_ms, publish = ARGV[1], ARGV[2], ARGV[3]

local end_ms = redis.call('zscore', leases, id)
if redis.call('zrem', leases, id) == 0 then return 0 end
redis.call(publish, channel, redis.call('incrby', semaphore, 1))
if tonumber(end_ms) <= tonumber(now_ms) then return 0 end
return 1
