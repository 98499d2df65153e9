-- Redisson 4.7, RPermitExpirableSemaphore: RedissonPermitExpirableSemaphore.tryReleaseAsync of
-- several permits.
-- KEYS: 1 the semaphore, a counter, 2 the channel, 3 the leases.
-- ARGV: 1 the permits' ids, 16 bytes each, 2 the client's clock, in ms, 3 PUBLISH or SPUBLISH,
-- 4 permits.
-- Answers how many went back of those that were still held.
local semaphore, channel, leases = KEYS[1], KEYS[2], KEYS[3]
local ids, now_ms, publish, permits = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Permits whose lease has ended by the client's clock go back.
local ended = redis.call('zrangebyscore', leases, 0, now_ms, 'limit', 0, -1)
if #ended > 0 then
  redis.call('zrem', leases, unpack(ended))
  local left = redis.call('incrby', semaphore, #ended)
  if left > 0 then redis.call(publish, channel, left) end
end

local given = 0
for i = 1, tonumber(permits) do
  given = given + redis.call('zrem', leases, string.sub(ids, 16 * i - 15, 16 * i))
end
if given > 0 then
  redis.call('incrby', semaphore, given)
  redis.call(publish, channel, given)
end
return given
