-- The release of redis.io's "Distributed Locks with Redis", as redis-py's Lock, redsync,
-- bsm/redislock and node-redlock have it: delete the key if it still holds our token.
-- KEYS: 1 the lock. ARGV: 1 the holder's token.
-- Answers 1: freed; 0: was not held with this token.
local lock = KEYS[1]
local token = ARGV[1]

if redis.call('get', lock) == token then return redis.call('del', lock) end
return 0
