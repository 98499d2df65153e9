/* assets: see assets.h. The assembler takes the files in as they are; report.mk says what they are
 * made from. */
#include "report/page/assets.h"

/* A symbol needs type and size if a program finds it in a shared object. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n.type " #name ", @object\n" #name ":\n.incbin \"" file "\"\n"      \
            ".byte 0\n.size " #name ", . - " #name "\n.popsection\n")

EMBED(asset_style, "report/page/page.css");
EMBED(asset_bundle, REPORT_MADE "/bundle.js");
EMBED(asset_licences, REPORT_MADE "/licences.txt");
