/* chubby: the sequencer of etcd-chubby: what a holder shows to the server that guards the resource,
 * and how that server checks it.
 *
 * "name:mode:generation", mode "exclusive" or "shared". The generation is the grant's fencing
 * token. */
#ifndef DRIVERS_ETCD_CHUBBY_H
#define DRIVERS_ETCD_CHUBBY_H

#include "drivers/etcd/session.h"

#define CHUBBY_SEQUENCER_MAX (LB_KEY_MAX + 32)

/* Writes the sequencer of a grant, NUL-terminated; its length. */
size_t chubby_sequencer(const struct lb_request *request, const struct lb_grant *grant,
                        char out[CHUBBY_SEQUENCER_MAX]);

/* Asks etcd whether the grant of a sequencer still lasts; for guarded servers, on a session of any etcd lock.
 * LB_OK: it lasts; LB_LOST: it has ended, or never was; LB_REFUSED: the text is no sequencer; LB_BROKEN,
 * LB_UNKNOWN: etcd could not be asked. */
enum lb_outcome chubby_check(struct lb_session *session, const char *sequencer);

#endif
