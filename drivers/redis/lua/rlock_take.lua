-- Redisson 4.7, RLock: RedissonLock.tryLockInnerAsync.
-- KEYS: 1 the lock, a hash of holder -> holds. ARGV: 1 lease in ms, 2 holder.
-- Answers nil: taken; a number: held by another, for so many ms (pttl).
local lock = KEYS[1]
local lease_ms, holder = ARGV[1], ARGV[2]

if redis.call('exists', lock) == 0 or redis.call('hexists', lock, holder) == 1 then
  redis.call('hincrby', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
return redis.call('pttl', lock)
