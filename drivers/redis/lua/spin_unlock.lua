-- Redisson 4.7, RSpinLock: RedissonSpinLock.unlockInnerAsync. Like rlock_unlock, without a message.
-- KEYS: 1 the lock, 2 (not used), 3 the unlock's latch.
-- ARGV: 1 (not used), 2 lease in ms, 3 holder, 4 how long the latch stays, in ms.
-- Answers nil: not held by the holder; 0: still held, for it was taken more than once; 1: freed.
local lock, latch = KEYS[1], KEYS[3]
local lease_ms, holder, latch_ms = ARGV[2], ARGV[3], ARGV[4]

local done = redis.call('get', latch)
if done then return tonumber(done) end

if redis.call('hexists', lock, holder) == 0 then return nil end
if redis.call('hincrby', lock, holder, -1) > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', latch, 0, 'px', latch_ms)
  return 0
end
redis.call('del', lock)
redis.call('set', latch, 1, 'px', latch_ms)
return 1
