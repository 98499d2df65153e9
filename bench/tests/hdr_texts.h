/* hdr_texts: HDR_<count> is a sound histogram of so many values, all of them about 1 us: the member
 * "hdr" of a latency with that count, for tests that write a run.json themselves. Their percentiles need not agree with it. */
#ifndef BENCH_TESTS_HDR_TEXTS_H
#define BENCH_TESTS_HDR_TEXTS_H

#define HDR_9 "HISTFAAAACR42pNpmSzMwMDAzAABTFCaESjkZrBjAYP9B4jAZ3YhAF5jBVk="
#define HDR_10 "HISTFAAAACR42pNpmSzMwMDAzAABTFCaESjkZrBjAYP9B4jAZ3YRAF5lBVs="
#define HDR_200 "HISTFAAAACZ42pNpmSzMwMDAwgABTFCakYGB2c1gxwIG+w8Qgc/sE5gBZOAF2w=="
#define HDR_500 "HISTFAAAACZ42pNpmSzMwMDAwgABTFCakYGB2c1gxwIG+w8Qgc/sL9gBZZQGNw=="
#define HDR_900 "HISTFAAAACZ42pNpmSzMwMDAwgABTFCakYGB2c1gxwIG+w8Qgc/sHXwAZNsF3g=="
#define HDR_5000 "HISTFAAAACZ42pNpmSzMwMDAwgABTFCakYGB2c1gxwIG+w8Qgc/sE/wAZSsGJg=="

#endif
