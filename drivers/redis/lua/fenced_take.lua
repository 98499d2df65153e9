-- Redisson 4.7, RFencedLock: RedissonFencedLock.tryLockInnerAsync.
-- KEYS: 1 the lock, a hash of holder -> holds, 2 the counter of tokens.
-- ARGV: 1 lease in ms, 2 holder.
-- Answers {-1, token}: taken; {pttl, -1}: held by another, for so many ms.
local lock, counter = KEYS[1], KEYS[2]
local lease_ms, holder = ARGV[1], ARGV[2]

if redis.call('exists', lock) == 0 or redis.call('hexists', lock, holder) == 1 then
  local token = redis.call('incr', counter)
  redis.call('hincrby', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return {-1, token}
end
return {redis.call('pttl', lock), -1}
