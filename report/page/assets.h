/* assets: the page's style, the chart code's bundle and the licences of what is in it, as the build
 * found them.
 *
 * The bundle is empty when there was no node at build time; the page then says so and has its
 * tables. */
#ifndef REPORT_PAGE_ASSETS_H
#define REPORT_PAGE_ASSETS_H

#include <stddef.h>

/* NUL-terminated; asset_check is the code of a check's page, which has nobody else's in it. */
extern const char asset_style[], asset_bundle[], asset_check[], asset_licences[];

#endif
