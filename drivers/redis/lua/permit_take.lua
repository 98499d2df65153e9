-- Redisson 4.7, RPermitExpirableSemaphore: RedissonPermitExpirableSemaphore.tryAcquireAsync.
-- KEYS: 1 the semaphore, a counter of the permits that are left, 2 the leases, a sorted set of the
-- moments when each permit's lease ends, in ms since 1970, 3 the channel.
-- ARGV: 1 permits, 2 when the lease will end, 3 the client's clock, in ms, 4 the moment that stands
-- for never, 5 PUBLISH or SPUBLISH, 6 the permits' ids, 16 bytes each.
-- Answers 'OK': taken; ':moment': not so many are left, and the next lease ends then; nil: not so
-- many are left, and no lease ends.
local semaphore, leases, channel = KEYS[1], KEYS[2], KEYS[3]
local permits, end_ms, now_ms = ARGV[1], ARGV[2], ARGV[3]
local never_ms, publish, ids = ARGV[4], ARGV[5], ARGV[6]

-- Permits whose lease has ended by the client's clock go back.
local ended = redis.call('zrangebyscore', leases, 0, now_ms, 'limit', 0, permits)
if #ended > 0 then
  redis.call('zrem', leases, unpack(ended))
  local left = redis.call('incrby', semaphore, #ended)
  if left > 0 then redis.call(publish, channel, left) end
end

local left = redis.call('get', semaphore)
if left and tonumber(left) >= tonumber(permits) then
  redis.call('decrby', semaphore, permits)
  for i = 1, tonumber(permits) do
    redis.call('zadd', leases, end_ms, string.sub(ids, 16 * i - 15, 16 * i))
  end
  local ttl_ms = redis.call('pttl', semaphore)
  if ttl_ms > 0 then redis.call('pexpire', leases, ttl_ms) end
  return 'OK'
end
local next = redis.call('zrange', leases, 0, 0, 'WITHSCORES')
if next[1] and next[2] ~= never_ms then return ':' .. next[2] end
return nil
