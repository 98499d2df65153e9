-- Redisson 4.7, a reader of RReadWriteLock: RedissonReadLock.unlockInnerAsync.
-- KEYS: 1 the lock, 2 its channel, 3 the reader's timeout keys, without ':' and their number,
-- 4 what all holders' timeout keys begin with, 5 the unlock's latch.
-- ARGV: 1 message, 2 PUBLISH or SPUBLISH, 3 reader, 4 how long the latch stays, in ms.
-- Answers nil: not held by the reader; 0: still held by this reader; 1: freed; 2: there was no lock; 3:
-- other clients still hold it, but this reader does not. The only difference to the real script: that one
-- answers 1 instead of 2, and 0 instead of 3.
local lock, channel, timeout, all_timeouts, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local message, publish, reader, latch_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local done = redis.call('get', latch)
if done then return tonumber(done) end

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call(publish, channel, message)
  redis.call('set', latch, 1, 'px', latch_ms)
  return 2
end
if redis.call('hexists', lock, reader) == 0 then return nil end
local holds = redis.call('hincrby', lock, reader, -1)
if holds == 0 then redis.call('hdel', lock, reader) end
redis.call('del', timeout .. ':' .. (holds + 1))

-- Other clients still hold the lock: it now ends with the longest of their leases.
if redis.call('hlen', lock) > 1 then
  local longest_ms = -3
  for _, holder in ipairs(redis.call('hkeys', lock)) do
    for i = tonumber(redis.call('hget', lock, holder)) or 0, 1, -1 do
      local key = all_timeouts .. ':' .. holder .. ':rwlock_timeout:' .. i
      longest_ms = math.max(longest_ms, redis.call('pttl', key))
    end
  end
  if longest_ms > 0 then redis.call('pexpire', lock, longest_ms) end
  if longest_ms > 0 or mode == 'write' then
    redis.call('set', latch, 0, 'px', latch_ms)
    if holds > 0 then return 0 end
    return 3
  end
end
redis.call('del', lock)
redis.call(publish, channel, message)
redis.call('set', latch, 1, 'px', latch_ms)
return 1
