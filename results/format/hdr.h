/* hdr: histograms as HdrHistogram V2 text.
 *
 * HdrHistogram's own tools (Java, JavaScript, C) write and read the same text: "HISTFAAA..." is
 * base64 of a deflated V2 payload. Source of the format: HdrHistogram's
 * encodeIntoCompressedByteBuffer, V2. */
#ifndef RESULTS_FORMAT_HDR_H
#define RESULTS_FORMAT_HDR_H

#include "bench/base/err.h"
#include "results/format/hist.h"

/* Returns the V2 compressed base64 text of a histogram; malloced, NUL-terminated, freed by the
 * caller. Values beyond the range are not in it, because the format has no room for them. NULL with
 * err when out of memory. */
char *hdr_encode(const struct hist *h, struct lb_err *err);

/* Reads a V2 text; the caller frees the histogram with hist_free. The text may come from anywhere:
 * returns NULL with err (LB_EXIT_USAGE) if it is not sound, or of a kind that `struct hist` cannot
 * hold (a lowest value other than 1, shifted or scaled values). Memory is bounded by the range in
 * the text's header: 8 bytes a slot, which is 48 MB at the very most and 0.3 MB for histograms of
 * lockbench. While the text is read, the inflated counts take no more than 1,032 times the
 * length of the text, nor more than 56 MB. min and max are slot bounds, sum is estimated from
 * slot middles. */
struct hist *hdr_decode(const char *text, struct lb_err *err);

#endif
