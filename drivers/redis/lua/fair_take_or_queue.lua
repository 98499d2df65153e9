-- Continues fair_try.lua, with its locals, for a caller that waits (EVAL_LONG).
-- Answers nil: taken; else how many ms to wait at most: if the waiter is in the queue already, the
-- holder's time, else the time of the waiter before it, or of the holder if there is none.
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
