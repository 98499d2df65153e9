-- Redisson 4.7, a reader of RReadWriteLock: RedissonReadLock.tryLockInnerAsync.
-- KEYS: 1 the lock, a hash of 'mode' and of holder -> holds, 2 the reader's timeout keys, without
-- ':' and their number. ARGV: 1 lease in ms, 2 reader, 3 the same client as a writer.
-- Answers nil: taken; a number: held by a writer, for so many ms (pttl).
local lock, timeout = KEYS[1], KEYS[2]
local lease_ms, reader, writer = ARGV[1], ARGV[2], ARGV[3]

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call('hset', lock, 'mode', 'read')
  redis.call('hset', lock, reader, 1)
  redis.call('set', timeout .. ':1', 1, 'px', lease_ms)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
if mode == 'read' or (mode == 'write' and redis.call('hexists', lock, writer) == 1) then
  local holds = redis.call('hincrby', lock, reader, 1)
  redis.call('set', timeout .. ':' .. holds, 1, 'px', lease_ms)
  redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease_ms)))
  return nil
end
return redis.call('pttl', lock)
