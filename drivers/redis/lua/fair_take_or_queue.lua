-- Continues fair_try.lua, with its locals, for a caller that waits (EVAL_LONG).
-- Answers nil: taken; otherwise the longest wait in ms. For a waiter that is already in the queue, this is
-- the time that the holder's lease has left. For a new waiter, it is the time of the waiter before it, or
-- the holder's if there is none.
if redis.call('zscore', timeouts, holder) then
  return math.max(0, redis.call('pttl', lock))
end
local left_ms
local last = redis.call('lindex', queue, -1)
if last and last ~= holder then
  left_ms = tonumber(redis.call('zscore', timeouts, last)) - now_ms
else
  left_ms = redis.call('pttl', lock)
end
if redis.call('zadd', timeouts, left_ms + wait_ms + now_ms, holder) == 1 then
  redis.call('rpush', queue, holder)
end
return left_ms
