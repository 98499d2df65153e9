-- Redisson 3.8 and before, RLock: RedissonLock.unlockInnerAsync.
-- KEYS: 1 the lock, 2 its channel. ARGV: 1 message, 2 lease in ms, 3 holder.
-- Answers nil: held by another; 0: still held, for it was taken more than once; 1: freed, or gone
-- already: the mistake.
local lock, channel = KEYS[1], KEYS[2]
local message, lease_ms, holder = ARGV[1], ARGV[2], ARGV[3]

if redis.call('exists', lock) == 0 then
  redis.call('publish', channel, message)
  return 1
end
if redis.call('hexists', lock, holder) == 0 then return nil end
if redis.call('hincrby', lock, holder, -1) > 0 then
  redis.call('pexpire', lock, lease_ms)
  return 0
end
redis.call('del', lock)
redis.call('publish', channel, message)
return 1
