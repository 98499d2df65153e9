-- Redisson 4.7, a reader of RReadWriteLock: ReadLockTask.renew, for one lock. The real one renews
-- the timeout keys of all readers, also of dead ones, and may shorten the lease of another reader; this
-- script renews only the reader's own.
-- KEYS: 1 the lock, 2 the reader's timeout keys, without ':' and their number.
-- ARGV: 1 lease in ms, 2 reader.
-- Answers 1: extended; 0: not held by the reader.
local lock, timeout = KEYS[1], KEYS[2]
local lease_ms, reader = ARGV[1], ARGV[2]

local holds = redis.call('hget', lock, reader)
if not holds then return 0 end
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), tonumber(lease_ms)))
for i = 1, tonumber(holds) do
  redis.call('pexpire', timeout .. ':' .. i, lease_ms)
end
return 1
