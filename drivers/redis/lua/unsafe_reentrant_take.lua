-- Wrong on purpose: lets its owner in again without counting. No real client's, but often written.
-- KEYS: 1 the lock. ARGV: 1 the holder's token, 2 lease in ms.
-- Answers 1: taken; 0: held by another.
local lock = KEYS[1]
local token, lease_ms = ARGV[1], ARGV[2]

if redis.call('setnx', lock, token) == 1 or redis.call('get', lock) == token then
  redis.call('pexpire', lock, lease_ms)
  return 1
end
return 0
