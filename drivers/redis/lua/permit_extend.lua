-- Redisson 4.7, RPermitExpirableSemaphore:
-- RedissonPermitExpirableSemaphore.updateLeaseTimeAsync, for several permits.
-- KEYS: 1 the semaphore, a counter, 2 the leases, 3 the channel.
-- ARGV: 1 permits, 2 when the lease will end, 3 the client's clock, in ms, 4 PUBLISH or SPUBLISH,
-- 5 the permits' ids, 16 bytes each.
-- Answers how many were extended: those that were still held.
local semaphore, leases, channel = KEYS[1], KEYS[2], KEYS[3]
local permits, end_ms, now_ms, publish, ids = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- Permits whose lease has ended by the client's clock go back.
local ended = redis.call('zrangebyscore', leases, 0, now_ms, 'limit', 0, -1)
if #ended > 0 then
  redis.call('zrem', leases, unpack(ended))
  local left = redis.call('incrby', semaphore, #ended)
  if left > 0 then redis.call(publish, channel, left) end
end

local extended = 0
for i = 1, tonumber(permits) do
  local id = string.sub(ids, 16 * i - 15, 16 * i)
  if redis.call('zscore', leases, id) then
    redis.call('zadd', leases, end_ms, id)
    extended = extended + 1
  end
end
return extended
