-- Redisson 4.7, RFairLock: RedissonFairLock.acquireFailedAsync. A waiter leaves the queue, and the times
-- of the waiters behind it become earlier.
-- KEYS: 1 the queue, 2 the timeouts. ARGV: 1 holder, 2 how long it was willing to wait, in ms.
local queue, timeouts = KEYS[1], KEYS[2]
local holder, wait_ms = ARGV[1], tonumber(ARGV[2])

local behind = false
for _, waiter in ipairs(redis.call('lrange', queue, 0, -1)) do
  if behind then redis.call('zincrby', timeouts, -wait_ms, waiter) end
  if waiter == holder then behind = true end
end
redis.call('zrem', timeouts, holder)
redis.call('lrem', queue, 0, holder)
