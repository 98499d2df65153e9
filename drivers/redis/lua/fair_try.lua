-- Redisson 4.7, RFairLock: RedissonFairLock.tryLockInnerAsync: the common beginning of its two scripts;
-- fair_take.lua and fair_take_or_queue.lua continue it. Answers nil if it took the lock.
-- KEYS: 1 the lock, a hash of holder -> holds, 2 the queue, a list of waiters, 3 the timeouts, a sorted
-- set with the time, in ms since 1970, after which each waiter counts as dead.
-- ARGV: 1 lease in ms, 2 holder, 3 how long it is willing to wait, in ms, 4 the client's clock,
-- in ms.
local lock, queue, timeouts = KEYS[1], KEYS[2], KEYS[3]
local lease_ms, holder, wait_ms, now_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Removes the waiters at the head of the queue whose time has passed: they count as dead.
while true do
  local head = redis.call('lindex', queue, 0)
  if not head then break end
  local alive_until = redis.call('zscore', timeouts, head)
  if alive_until and tonumber(alive_until) > now_ms then break end
  redis.call('zrem', timeouts, head)
  redis.call('lpop', queue)
end

-- Takes the lock if it is free and this client is the first waiter, or nobody waits. The times of the
-- other waiters become earlier.
if redis.call('exists', lock) == 0
    and (redis.call('exists', queue) == 0 or redis.call('lindex', queue, 0) == holder) then
  redis.call('lpop', queue)
  redis.call('zrem', timeouts, holder)
  for _, waiter in ipairs(redis.call('zrange', timeouts, 0, -1)) do
    redis.call('zincrby', timeouts, -wait_ms, waiter)
  end
  redis.call('hset', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
if redis.call('hexists', lock, holder) == 1 then
  redis.call('hincrby', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
