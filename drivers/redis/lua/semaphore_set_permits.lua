-- Redisson 4.7, RSemaphore and RPermitExpirableSemaphore: trySetPermitsAsync.
-- KEYS: 1 the semaphore, a counter of the permits that are left, 2 its channel.
-- ARGV: 1 permits, 2 PUBLISH or SPUBLISH.
-- Answers 1: set; 0: was there already.
local semaphore, channel = KEYS[1], KEYS[2]
local permits, publish = ARGV[1], ARGV[2]

if redis.call('get', semaphore) then return 0 end
redis.call('set', semaphore, permits)
redis.call(publish, channel, permits)
return 1
