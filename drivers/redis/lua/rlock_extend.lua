-- Redisson 4.7, RLock and a writer of RReadWriteLock: LockTask.renew, for one lock. The real
-- watchdog renews up to 100 locks in one call.
-- KEYS: 1 the lock. ARGV: 1 lease in ms, 2 holder.
-- Answers 1: extended; 0: not held by the holder.
local lock = KEYS[1]
local lease_ms, holder = ARGV[1], ARGV[2]

if redis.call('hexists', lock, holder) == 0 then return 0 end
redis.call('pexpire', lock, lease_ms)
return 1
