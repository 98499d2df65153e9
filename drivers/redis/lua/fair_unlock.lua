-- Redisson 4.7, RFairLock: RedissonFairLock.unlockInnerAsync.
-- KEYS: 1 the lock, 2 the queue, 3 the timeouts, 4 the channels' name without the waiter's, 5 the
-- unlock's latch.
-- ARGV: 1 message, 2 lease in ms, 3 holder, 4 the client's clock, in ms, 5 PUBLISH or SPUBLISH,
-- 6 how long the latch stays, in ms.
-- Answers nil: held by another; 0: still held, for it was taken more than once; 1: freed; 2: there was
-- no lock. The only difference to the real script: that one answers 1 instead of 2.
local lock, queue, timeouts, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local message, lease_ms, holder = ARGV[1], ARGV[2], ARGV[3]
local now_ms, publish, latch_ms = tonumber(ARGV[4]), ARGV[5], ARGV[6]

local done = redis.call('get', latch)
if done then return tonumber(done) end

-- Removes the waiters at the head of the queue whose time has passed: they count as dead.
while true do
  local head = redis.call('lindex', queue, 0)
  if not head then break end
  local alive_until = redis.call('zscore', timeouts, head)
  if alive_until and tonumber(alive_until) > now_ms then break end
  redis.call('zrem', timeouts, head)
  redis.call('lpop', queue)
end

local function tell_head()
  local head = redis.call('lindex', queue, 0)
  if head then redis.call(publish, channel .. ':' .. head, message) end
end

if redis.call('exists', lock) == 0 then
  tell_head()
  redis.call('set', latch, 1, 'px', latch_ms)
  return 2
end
if redis.call('hexists', lock, holder) == 0 then return nil end
if redis.call('hincrby', lock, holder, -1) > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', latch, 0, 'px', latch_ms)
  return 0
end
redis.call('del', lock)
tell_head()
redis.call('set', latch, 1, 'px', latch_ms)
return 1
