-- Redisson 4.7, a writer of RReadWriteLock: RedissonWriteLock.tryLockInnerAsync.
-- KEYS: 1 the lock, a hash of 'mode' and of holder -> holds. ARGV: 1 lease in ms, 2 writer.
-- Answers nil: taken; a number: held by others, for so many ms (pttl).
local lock = KEYS[1]
local lease_ms, writer = ARGV[1], ARGV[2]

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call('hset', lock, 'mode', 'write')
  redis.call('hset', lock, writer, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
if mode == 'write' and redis.call('hexists', lock, writer) == 1 then
  -- A second hold's lease is added to what is left of the first's.
  redis.call('hincrby', lock, writer, 1)
  redis.call('pexpire', lock, redis.call('pttl', lock) + tonumber(lease_ms))
  return nil
end
return redis.call('pttl', lock)
