-- The extension that redis-py's Lock, redsync, bsm/redislock and node-redlock have in common.
-- KEYS: 1 the lock. ARGV: 1 the holder's token, 2 lease in ms.
-- Answers 1: extended; 0: was not held with this token.
local lock = KEYS[1]
local token, lease_ms = ARGV[1], ARGV[2]

if redis.call('get', lock) == token then return redis.call('pexpire', lock, lease_ms) end
return 0
