/* checks: every check of the conformance suite, with the function that is its script: the
 * prototypes and the table are made from this list. The columns are those of struct conform_check
 * (conform.h): name, kinds, caps, claims, needs, who, script. Checks that kill a server come
 * last. */
CONFORM_CHECK("taken and freed, again and again", EXCLUDES | CONFORM_KIND(LB_NO_PRIMITIVE), 0, 0,
              BASIC, CONFORM_ALL, conform_again)
CONFORM_CHECK("says what it is, answers a ping", CONFORM_ANY, 0, 0, BASIC, CONFORM_ALL,
              conform_describe)
CONFORM_CHECK("counts its commands, as many as it says", CONFORM_ANY, 0, 0, 0, REAL,
              conform_commands)
CONFORM_CHECK("opens no more files than it says", CONFORM_ANY, 0, 0, 0, REAL, conform_descriptors)
CONFORM_CHECK("busy while another holds it", EXCLUDES, TRY, 0, BASIC, REAL, conform_busy)
CONFORM_CHECK("keys are independent", EXCLUDES, TRY, 0, 0, REAL, conform_keys)
CONFORM_CHECK("names that differ in one byte or bit are two locks", EXCLUDES, TRY, 0, 0, REAL,
              conform_near_keys)
CONFORM_CHECK("names that differ in case are two locks", EXCLUDES, TRY, 0, 0, REAL, conform_case)
CONFORM_CHECK("a timed wait ends in time and leaves nothing", EXCLUDES, TRY | WAIT, 0, BASIC, REAL,
              conform_timed)
CONFORM_CHECK("a try returns at once, a timed wait by its deadline", EXCLUDES, TRY | WAIT, 0, 0,
              REAL, conform_prompt)
CONFORM_CHECK("a waiter gets what is freed", EXCLUDES, WAIT, 0, BASIC, REAL, conform_handover)
CONFORM_CHECK("the cut-off ends a wait", EXCLUDES, WAIT, 0, 0, REAL, conform_cutoff)
CONFORM_CHECK("eight clients exclude each other", EXCLUDES, WAIT, 0, BASIC, CONFORM_CONTROLS,
              conform_exclude)
CONFORM_CHECK("eight clients that give up leave it whole", EXCLUDES, TRY | WAIT, 0, 0, REAL,
              conform_give_up)
CONFORM_CHECK("64 clients all get it", EXCLUDES, WAIT, 0, 0, REAL, conform_crowd)
CONFORM_CHECK("first come, first served", EXCLUDES, WAIT | LB_CAP_FAIR, 0, 0, REAL, conform_fair)
CONFORM_CHECK("clients that share a session exclude each other", EXCLUDES, WAIT | LB_CAP_SHARE, 0,
              0, REAL, conform_share)
CONFORM_CHECK("held until it was released as often as taken", EXCLUDES,
              TRY | WAIT | LB_CAP_REENTRANT, 0, 0, REAL, conform_reentry)
CONFORM_CHECK("readers hold together, writers alone", EXCLUDES, TRY | LB_CAP_SHARED, 0, BASIC, REAL,
              conform_shared)
CONFORM_CHECK("readers and writers wait for each other", EXCLUDES, TRY | WAIT | LB_CAP_SHARED, 0, 0,
              REAL, conform_shared_wait)
CONFORM_CHECK("a reader that comes while a writer waits never overlaps it", EXCLUDES,
              TRY | WAIT | LB_CAP_SHARED, 0, 0, REAL, conform_shared_late)
CONFORM_CHECK("eight readers and writers never overlap", EXCLUDES, WAIT | LB_CAP_SHARED, 0, 0, REAL,
              conform_shared_mix)
CONFORM_CHECK("a reader's lease is its own", EXCLUDES, TRY | WAIT | LB_CAP_SHARED | LEASE, 0, 0,
              REAL, conform_reader_lease)
CONFORM_CHECK("a reader's session is its own", EXCLUDES,
              TRY | WAIT | LB_CAP_SHARED | LB_CAP_SESSION, 0, 0, REAL, conform_reader_session)
CONFORM_CHECK("as many permits as there are", SEMAPHORE, TRY | WAIT, 0, BASIC, REAL,
              conform_permits_counted)
CONFORM_CHECK("eight clients keep to the bound", SEMAPHORE, TRY | WAIT, 0, 0, REAL,
              conform_permits_contended)
CONFORM_CHECK("several permits at once, or none", SEMAPHORE, TRY | WAIT | LB_CAP_PERMITS, 0, 0,
              REAL, conform_permits_several)
CONFORM_CHECK("armed twice is armed once", SEMAPHORE, TRY, 0, CONFORM_ARMS, REAL, conform_arm_twice)
CONFORM_CHECK("a write makes a version", OPTIMISTIC, 0, 0, BASIC, REAL, conform_version)
CONFORM_CHECK("a write after another's is refused", OPTIMISTIC, 0, 0, BASIC, REAL, conform_conflict)
CONFORM_CHECK("a statement makes the next version", ATOMIC, 0, 0, BASIC, REAL, conform_atomic)
CONFORM_CHECK("eight writers lose no update", OPTIMISTIC | ATOMIC, 0, 0, 0, CONFORM_CONTROLS,
              conform_versions_unique)
CONFORM_CHECK("a release by one who does not hold is refused", EXCLUDES, TRY, 0, 0, REAL,
              conform_stranger)
CONFORM_CHECK("an earlier grant's word frees no later grant", EXCLUDES, TRY, 0, 0, REAL,
              conform_old_word)
CONFORM_CHECK("tokens grow", EXCLUDES, LB_CAP_FENCE, 0, BASIC, REAL, conform_fence)
CONFORM_CHECK("the end of a session frees", EXCLUDES, LB_CAP_SESSION | WAIT, 0, 0, REAL,
              conform_session)
CONFORM_CHECK("a lease ends, not too early", EXCLUDES, LEASE | WAIT | TRY, 0, 0, REAL,
              conform_lease_ends)
CONFORM_CHECK("a lease lasts until its stated end", EXCLUDES, LEASE | WAIT | TRY, 0, 0, REAL,
              conform_lease_lasts)
CONFORM_CHECK("renewal keeps", EXCLUDES, LEASE | LB_CAP_RENEW | TRY, 0, 0, REAL, conform_renewal)
CONFORM_CHECK("renewal of what is lost says so", EXCLUDES, LEASE | LB_CAP_RENEW | WAIT, 0, 0, REAL,
              conform_late_renewal)
CONFORM_CHECK("names of odd bytes work or are refused", CONFORM_ANY, TRY, 0, 0, REAL,
              conform_odd_names)
CONFORM_CHECK("long names work or are refused", CONFORM_ANY, TRY, 0, 0, REAL, conform_long_names)
CONFORM_CHECK("nothing is left on the server", EXCLUDES, TRY | WAIT, 0, CONFORM_RESIDUE | BASIC,
              REAL, conform_residue)
CONFORM_CHECK("no more is on the server than before", EXCLUDES, TRY | WAIT, 0, CONFORM_COUNTS, REAL,
              conform_count)
CONFORM_CHECK("what was armed is gone when disarmed", OPTIMISTIC | ATOMIC, TRY, 0,
              CONFORM_RESIDUE | CONFORM_ARMS | BASIC, REAL, conform_armed_residue)
CONFORM_CHECK("killed clients stop nobody", EXCLUDES, TRY | WAIT, LB_CLAIM_CRASH_RELEASE,
              CONFORM_CHILDREN, REAL, conform_killed_clients)
CONFORM_CHECK("a lease counts from before the request", EXCLUDES, LEASE | WAIT, 0, FAR, REAL,
              conform_lease_counts)
CONFORM_CHECK("an acquire without an answer is in doubt, then settled", EXCLUDES, WAIT, 0, FAR,
              REAL, conform_lost_acquire)
CONFORM_CHECK("a release cut off is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
              conform_cut_release)
CONFORM_CHECK("a renewal without an answer is in doubt, and extends nothing", EXCLUDES,
              LEASE | LB_CAP_RENEW | WAIT, 0, FAR, REAL, conform_lost_renewal)
CONFORM_CHECK("a write cut off is in doubt", OPTIMISTIC | ATOMIC, 0, 0, FAR, REAL,
              conform_cut_write)
CONFORM_CHECK("each message of an acquire may be late", EXCLUDES, TRY | WAIT, 0, PATIENT, REAL,
              conform_late_acquire)
CONFORM_CHECK("each message of a wait may be late", EXCLUDES, TRY | WAIT, 0, PATIENT, REAL,
              conform_late_wait)
CONFORM_CHECK("each message of a wait that times out may be late", EXCLUDES, TRY | WAIT, 0, PATIENT,
              REAL, conform_late_timeout)
CONFORM_CHECK("each message of a release may be late", EXCLUDES, TRY | WAIT, 0, PATIENT, REAL,
              conform_late_release)
CONFORM_CHECK("each message of a renewal may be late", EXCLUDES, TRY | WAIT | LB_CAP_RENEW, 0,
              PATIENT, REAL, conform_late_renew)
CONFORM_CHECK("a lease may end while a message is late", EXCLUDES, TRY | WAIT | LEASE, 0, PATIENT,
              REAL, conform_late_lease)
CONFORM_CHECK("a vanished holder's lock is freed", EXCLUDES, WAIT, LB_CLAIM_CRASH_RELEASE, FAR,
              REAL, conform_crash)
CONFORM_CHECK("a session that ends tells its holder", EXCLUDES, LB_CAP_SESSION, 0,
              FAR | CONFORM_TELLS, REAL, conform_told)
CONFORM_CHECK("a killed server ends every wait, and serves again", EXCLUDES, WAIT, 0, CONFORM_OWNED,
              REAL, conform_killed_server)
