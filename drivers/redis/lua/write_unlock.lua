-- Redisson 4.7, a writer of RReadWriteLock: RedissonWriteLock.unlockInnerAsync.
-- KEYS: 1 the lock, 2 its channel, 3 the unlock's latch.
-- ARGV: 1 message, 2 PUBLISH or SPUBLISH, 3 writer, 4 how long the latch stays, in ms, 5 lease
-- in ms.
-- Answers nil: not held by the writer; 0: still held, for it was taken more than once; 1: freed, or
-- the writer continues as a reader; 2: there was no lock. The only difference to the real script: that
-- one answers 1 instead of 2.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local message, publish, writer, latch_ms, lease_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local done = redis.call('get', latch)
if done then return tonumber(done) end

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call(publish, channel, message)
  redis.call('set', latch, 1, 'px', latch_ms)
  return 2
end
if mode ~= 'write' or redis.call('hexists', lock, writer) == 0 then return nil end
if redis.call('hincrby', lock, writer, -1) > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', latch, 0, 'px', latch_ms)
  return 0
end
redis.call('hdel', lock, writer)
if redis.call('hlen', lock) == 1 then
  redis.call('del', lock)
  redis.call(publish, channel, message)
else
  redis.call('hset', lock, 'mode', 'read')
end
redis.call('set', latch, 1, 'px', latch_ms)
return 1
