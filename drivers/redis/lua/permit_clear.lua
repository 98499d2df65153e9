-- Redisson 4.7, RPermitExpirableSemaphore: RedissonPermitExpirableSemaphore.deleteAsync.
-- KEYS: 1 the semaphore, 2 the leases.
redis.call('del', KEYS[1], KEYS[2])
