-- Redisson 4.7, RSemaphore: RedissonSemaphore.tryAcquireAsync0.
-- KEYS: 1 the semaphore, a counter of the permits that are left. ARGV: 1 permits.
-- Answers 1: taken; 0: not so many are left.
local semaphore = KEYS[1]
local permits = ARGV[1]

local left = redis.call('get', semaphore)
if left and tonumber(left) >= tonumber(permits) then
  redis.call('decrby', semaphore, permits)
  return 1
end
return 0
