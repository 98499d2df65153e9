-- Redisson 4.7, RLock and RFencedLock: RedissonLock.unlockInnerAsync.
-- KEYS: 1 the lock, 2 its channel, 3 the unlock's latch.
-- ARGV: 1 message, 2 lease in ms, 3 holder, 4 how long the latch stays, in ms, 5 PUBLISH or
-- SPUBLISH.
-- Answers nil: not held by the holder; 0: still held, for it was taken more than once; 1: freed.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local message, lease_ms, holder, latch_ms, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local done = redis.call('get', latch)
if done then return tonumber(done) end

if redis.call('hexists', lock, holder) == 0 then return nil end
if redis.call('hincrby', lock, holder, -1) > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', latch, 0, 'px', latch_ms)
  return 0
end
redis.call('del', lock)
redis.call(publish, channel, message)
redis.call('set', latch, 1, 'px', latch_ms)
return 1
