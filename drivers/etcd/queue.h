/* queue: a client's place in an etcd queue: one key "name/<lease>" per contender, in the order of
 * their create revisions, as the Go client's concurrency package makes it. A name that begins
 * another's ("a" and "a/b") shares its queue with it: the real client's behaviour, kept.
 *
 * Source of the protocol: etcd's client/concurrency/mutex.go and key.go (3.4 to 3.6). */
#ifndef DRIVERS_ETCD_QUEUE_H
#define DRIVERS_ETCD_QUEUE_H

#include "drivers/etcd/session.h"

/* What a client knows about its place in the queue; a lock's grant->data. */
struct etcd_place {
    int64_t lease;    /* the key's lease; 0 = nothing was sent */
    int64_t revision; /* the key's create revision, greater for each later key: the fencing token */
    size_t key_len;
    char key[ETCD_KEY_MAX];
};

/* Puts our key at the end of the queue, in one transaction that also returns the first key. LB_OK,
 * with *ret_first set if the first key is ours; LB_BROKEN: certainly no key was put; LB_UNKNOWN: call
 * etcd_place_settle; LB_REFUSED. */
enum lb_outcome etcd_place_join(struct lb_session *session, const struct lb_request *request,
                                struct etcd_place *place, bool *ret_first);

/* Waits until the key is deleted. LB_OK: the key is deleted, or may be: look again; LB_TIMEOUT;
 * LB_REFUSED; LB_UNKNOWN: the lease has ended, or the cut-off came. seen: a key that was read; the watch
 * begins at the revision; borrowed until the first request, so it may be part of an answer. */
enum lb_outcome etcd_wait_deleted(struct lb_session *session, const Etcdserverpb__KeyValue *seen,
                                  int64_t revision, int64_t deadline_ns);

/* Waits until no key of the queue is older than ours. LB_OK; LB_TIMEOUT; LB_LOST: our key is gone,
 * and the lease; LB_UNKNOWN: the server does not answer. After anything but LB_OK and LB_LOST the
 * key is still there. */
enum lb_outcome etcd_place_wait(struct lb_session *session, const struct lb_request *request,
                                const struct etcd_place *place);

/* Finds the create revision of our key by its name alone. LB_OK; LB_LOST: there is no such key; or the
 * outcome of a request that was not answered. */
enum lb_outcome etcd_place_find(struct lb_session *session, const struct etcd_place *place,
                                int64_t *ret_revision);

/* Whether our key exists behind an older one. LB_OK, or the outcome of a request that was not
 * answered. */
enum lb_outcome etcd_place_behind(struct lb_session *session, const struct lb_request *request,
                                  const struct etcd_place *place, bool *ret_behind);

/* Checks that our key still exists with its create revision; it may have ended with its lease
 * (etcd#11456). LB_OK, LB_LOST, or the outcome of a request that was not answered. */
enum lb_outcome etcd_place_confirm(struct lb_session *session, const struct etcd_place *place);

/* Deletes the key, and tries again after a lost connection. LB_OK; LB_LOST: the key was not there any
 * more; LB_BROKEN: no request could be sent; LB_UNKNOWN. */
enum lb_outcome etcd_place_leave(struct lb_session *session, const struct etcd_place *place);

/* After an acquire that ended with outcome instead of a grant: deletes the key. Returns the outcome
 * for the core. */
enum lb_outcome etcd_place_give_up(struct lb_session *session, const struct etcd_place *place,
                                   enum lb_outcome outcome);

/* Revokes the lease of the key of grant->data. LB_OK = certainly nothing is held or queued: a request that is
 * still on its way fails without the lease. */
lb_settle_fn etcd_place_settle;

lb_names_fn etcd_names; /* adds the name of the key that each contender makes */

#define ETCD_INCOMPATIBLE                                                                            \
    "etcd-key and the locks of npm's etcd3 and Python's etcd3: one key of the bare name, without a " \
    "queue; they and this one can be held at once"

#endif
