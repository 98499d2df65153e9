-- A guarded value beside a lock (drivers/store.h); no other client's protocol.
-- KEYS: 1 a hash of 'token' and 'value'. ARGV: 1 token, 2 value.
-- Answers the value as written; nil: a greater token is there. Lua's numbers are exact up to 2^53.
local guarded = KEYS[1]
local token, value = ARGV[1], ARGV[2]

if tonumber(redis.call('hget', guarded, 'token') or 0) > tonumber(token) then return nil end
redis.call('hset', guarded, 'token', token, 'value', value)
return value
