-- Continues fair_try.lua for a caller that does not wait (EVAL_NULL_BOOLEAN): it joins no queue.
-- Answers nil: taken; 1: not.
return 1
