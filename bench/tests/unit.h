/* unit: cmocka with the headers that it wants before it, and those that nearly every test uses. */
#ifndef BENCH_TESTS_UNIT_H
#define BENCH_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#endif
