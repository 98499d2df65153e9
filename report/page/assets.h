/* assets: the page's style, the chart code's bundle and the licences of what is in it, as the build
 * found them.
 *
 * The bundle is empty if there was no node at build time. Then the page says so, and has only its
 * tables. */
#ifndef REPORT_PAGE_ASSETS_H
#define REPORT_PAGE_ASSETS_H

#include <stddef.h>

/* NUL-terminated. */
extern const char asset_style[], asset_bundle[], asset_licences[];

#endif
