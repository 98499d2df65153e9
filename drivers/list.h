/* list.h: every lock of the program, one line each. The list, help, the conformance suite and the
 * generated tables all read it. */
LB_LOCK(lock_null)
LB_LOCK(lock_sim)
LB_LOCK(lock_mem_mutex)
LB_LOCK(lock_file_flock)
LB_LOCK(lock_redis_setnx)
LB_LOCK(lock_memcached_add)
LB_LOCK(lock_zk_lock)
LB_LOCK(lock_etcd_mutex)
LB_LOCK(lock_sqlite_immediate)
LB_LOCK(lock_pg_advisory)
LB_LOCK(lock_mysql_getlock)
LB_LOCK(lock_unsafe_none)
