/* test_packages: what compose/install and report/bundle.sh say and do where something is missing. Nothing is
 * installed: each test has a PATH of its own, with stubs that note their calls in the place of installers. A script of a
 * topology asks its server for its version.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* A PATH of the usual small tools, and of stubs that end with 1 and leave a file "called-NAME". */
#define BEGIN                                                                                      \
    "set -u; cd $(mktemp -d); mkdir bin; "                                                         \
    "for tool in sh env cat sed cut sort tr id grep dirname basename find head ls date touch rm "  \
    "mkdir; do ln -s $(command -v $tool) bin/; done; "                                             \
    "stub() { printf '#!/bin/sh\necho \"$*\" >>%s/called-%s\nexit 1\n' $PWD $1 >bin/$1;"           \
    " chmod +x bin/$1; }; "                                                                        \
    "try() { env -i PATH=$PWD/bin HOME=$PWD \"$@\" >said 2>&1; echo \"exit $?\" >>said; cat said; }; "

TEST(without_a_compiler_it_says_so_and_stops) {
    struct cli cli = cli_shell("bash", BEGIN "stub dnf; try $ROOT/compose/install run; ls");
    assert_has(cli.out, "exit 1");
    assert_has(cli.out, "lockbench: to install it: dnf install ");
    assert_has(cli.out, " gcc ");
    assert_has(cli.out, " jansson-devel ");
    assert_has(cli.out, "lockbench: install these yourself: ");
    assert_has(cli.out, "ZooKeeper's jars");
    assert_has(cli.out, "so this ends here");
    assert_lacks(cli.out, "apt-get");
    assert_lacks(cli.out, "called-");
}

TEST(a_system_of_unknown_packages_is_told_programs_and_libraries) {
    struct cli cli = cli_shell("bash", BEGIN "try $ROOT/compose/install run");
    assert_has(cli.out, "exit 1");
    assert_has(cli.out, "a C compiler");
    assert_has(cli.out, "library jansson");
    assert_lacks(cli.out, "libjansson-dev");
    assert_lacks(cli.out, "apt-get");
}

TEST(without_cmocka_tests_stop_and_a_run_goes_on) {
    struct cli cli = cli_shell(
        "bash",
        BEGIN "for name in cc make protoc-c node npm openssl; do ln -s /bin/true bin/$name; done; "
              "printf '#!/bin/sh\n[ \"$2\" != cmocka ]\n' >bin/pkg-config; "
              "chmod +x bin/pkg-config; "
              "try $ROOT/compose/install run; echo; try $ROOT/compose/install quick");
    char *run = cli.out, *quick = strstr(cli.out, "\n\n");
    assert_non_null(quick);
    assert_has(quick, "exit 1");
    assert_has(quick, "library cmocka");
    *quick = '\0';
    assert_has(run, "exit 0");
    assert_lacks(run, "so this ends here");
}

TEST(install_no_calls_nothing) {
    struct cli cli =
        cli_shell("bash", BEGIN "for name in apt-get apt-cache sudo setsid; do stub $name; done; "
                                "ln -s /bin/true bin/dpkg-query; "
                                "try INSTALL=no $ROOT/compose/install run; ls");
    assert_has(cli.out, "INSTALL=no, so nothing is installed");
    assert_has(cli.out, "to install it: apt-get install ");
    assert_lacks(cli.out, "called-");
}

/* Of what is needed to build, of MPI, and of every server. */
TEST(each_package_has_its_name_elsewhere) {
    struct cli cli = cli_shell(
        "bash",
        "cd $ROOT/compose; for script in local/*; do ./$script info; done | "
        "sed -n 's/^\\(act_\\)*install=//p' | tr ' ' '\\n' | "
        "cat - <(sed -n 's/^\\(build\\|tool\\|hosts\\) *\\([^ ]*\\) .*/\\2/p' packages) | sort -u | while read -r name; do "
        "grep -q \"^${name%%|*} \" names || echo \"no line: $name\"; done");
    assert_string_equal(cli.out, "");
}

#define MAKE_ELSEWHERE                                                                                                                                     \
    "cd $(mktemp -d); (cd $ROOT; tar -cf - bench/probe bench/tests/fuzz/fuzz.mk drivers/expected.awk drivers/scenario.def report/report.mk) | tar -xf -; " \
    "try() { make -f $ROOT/Makefile \"$@\" 2>&1; echo \"exit $?\"; }; "

/* `make run INSTALL=no` hands it to the script. */
TEST(make_takes_install_no) {
    struct cli cli = cli_shell(
        "bash", MAKE_ELSEWHERE
        "mkdir compose; printf '#!/bin/sh\necho \"INSTALL is $INSTALL\"; exit 1\n' >compose/install; "
        "chmod +x compose/install; try run INSTALL=no");
    assert_has(cli.out, "INSTALL is no");
}

/* pkg-config that finds nothing is `false` here. */
TEST(make_says_which_library_it_needs_and_what_it_leaves_out) {
    struct cli cli =
        cli_shell("bash", MAKE_ELSEWHERE "try PKG_CONFIG=false .build/release/flags; echo; "
                                         "try -n PKG_CONFIG=false lockbench");
    char *left_out = strstr(cli.out, "\n\n");
    assert_non_null(left_out);
    assert_has(left_out, "left out");
    assert_has(left_out, " redis postgres mariadb sqlite etcd");
    *left_out = '\0';
    assert_has(cli.out, "lockbench needs jansson zlib, which pkg-config does not find here");
    assert_has(cli.out, "exit 2");
}

TEST(another_compiler_compiles_all_again) {
    struct cli cli =
        cli_shell("bash", MAKE_ELSEWHERE "try CC='ccache cc' .build/release/flags; "
                                         "cp .build/release/flags before; "
                                         "try CC=cc .build/release/flags; "
                                         "cmp before .build/release/flags && echo same; "
                                         "try CC=clang .build/release/flags; "
                                         "cmp -s before .build/release/flags || echo other");
    assert_has(cli.out, "same");
    assert_has(cli.out, "other");
}

/* Of the program and of the libraries that are loaded into servers. With pkg-config that finds nothing no other file is
 * needed. */
TEST(the_usual_variables_reach_the_compiler_and_the_linker) {
    struct cli cli = cli_shell(
        "bash", MAKE_ELSEWHERE
        "mkdir -p bench/cli bench/servers; touch bench/cli/main.c bench/servers/clock_shim.c; "
        "count() { grep -c -e 'gnu11.* -Dpre -Oall .*-c -o .build/release/bench/cli/main.o' "
        "-e 'gnu11.* -Oall -Llink -o .build/release/lockbench ' "
        "-e 'gnu11.* -Dpre -Oall .*-Llink -o .build/release/clock_shim.so'; }; "
        "CPPFLAGS=-Dpre CFLAGS=-Oall LDFLAGS=-Llink try -n V=1 PKG_CONFIG=false lockbench | count; "
        "try -n V=1 PKG_CONFIG=false CPPFLAGS=-Dpre CFLAGS=-Oall LDFLAGS=-Llink lockbench | count");
    assert_string_equal(cli.out, "3\n3\n");
}

/* dpkg-buildpackage is a stub here. Of two commits of one day the later one has the higher version. */
TEST(the_debian_package_has_a_version_for_each_second_and_suggests_what_lockbench_starts) {
    struct cli cli = cli_shell(
        "bash",
        "cd $(mktemp -d); mkdir -p bin bench/cli results/format results/stats; "
        "cp -R $ROOT/compose .; cp $ROOT/bench/cli/cli.h bench/cli; "
        "touch results/a.md results/reference.c; unset DEBFULLNAME DEBEMAIL; "
        "printf '#!/bin/sh\ncat debian/changelog debian/control; "
        "touch ../lockbench_.deb\n' >bin/dpkg-buildpackage; chmod +x bin/dpkg-buildpackage; "
        "for time in '2026-01-02 1767312000' '2026-01-02 1767312001' 2026-01-03; do "
        "echo 0123456789abcdef0123456789abcdef01234567 $time >bench/commit; "
        "PATH=$PWD/bin:$PATH compose/deb; done; "
        "DEBFULLNAME='Ann A/B & Co' DEBEMAIL=ann@example.org PATH=$PWD/bin:$PATH compose/deb");
    assert_has(cli.out, "+20260102000000.0123456789ab)");
    assert_has(cli.out, "+20260102000001.0123456789ab)");
    assert_has(cli.out, "+20260103000000.0123456789ab)");
    assert_has(cli.out, " openssl, ");
    assert_has(cli.out, " redis-server, ");
    assert_has(cli.out, "Maintainer: lockbench <lockbench@localhost>\n");
    assert_has(cli.out, "Maintainer: Ann A/B & Co <ann@example.org>\n");
    assert_has(cli.out, " -- Ann A/B & Co <ann@example.org>  Sat, 03 Jan 2026");
}

TEST(a_failed_npm_is_not_waited_for_again) {
    struct cli cli =
        cli_shell("bash", BEGIN "stub npm; ln -s /bin/true bin/node; mkdir report; "
                                "cp $ROOT/report/bundle.sh $ROOT/report/package*.json report; "
                                "try sh report/bundle.sh out; try sh report/bundle.sh out; "
                                "echo calls: $(grep -c . called-npm); rm out/npm-failed; "
                                "try sh report/bundle.sh out; echo calls: $(grep -c . called-npm)");
    assert_has(cli.out, "fetching the charts' code with npm");
    assert_has(cli.out, "npm ci failed within the last hour");
    assert_has(cli.out, "exit 0");
    assert_has(cli.out, "calls: 1\n");
    assert_has(cli.out, "calls: 2\n");
}

/* Killed hard it can't take away its policy-rc.d, which still holds for the apt that works on, and for nobody else; and
 * the next installation says what that apt has enabled. The script's copy has its files below the test's folder, and an
 * apt-get that waits. */
TEST(a_killed_install_starts_no_service) {
    struct cli cli = cli_shell(
        "bash", "cd $(mktemp -d); mkdir bin systemd; "
                "sed \"s#^policy=.*#policy=$PWD/policy#; s#/run/lockbench-install#$PWD/lock#; "
                "s#/etc/systemd/system#$PWD/systemd#; "
                "s#^clusters=.*#clusters=$PWD/clusters#\" $ROOT/compose/apt-quietly >quietly; "
                "printf '#!/bin/sh\n>%s/begun\nuntil [ -e %s/killed ]; do sleep 0.02; done\n"
                "%s/policy\necho for its apt $? >%s/said.new\nmv %s/said.new %s/said\n' "
                "$PWD $PWD $PWD $PWD $PWD $PWD >bin/apt-get; "
                "for name in apt-cache dpkg-query; do ln -s /bin/true bin/$name; done; "
                "chmod +x bin/apt-get; export PATH=$PWD/bin:$PATH; "
                "sh quietly some-package & maker=$!; "
                "until [ -e begun ]; do sleep 0.02; done; "
                "kill -9 $maker; wait $maker 2>/dev/null; "
                "./policy; echo for others $?; >killed; "
                "until [ -e said ]; do sleep 0.02; done; cat said; "
                "ln -s /nowhere systemd/some.service; sh quietly some-package 2>&1; "
                "echo then; sh quietly some-package 2>&1; ls lock* policy 2>&1 | grep -c policy:");
    assert_has(cli.out, "for others 0\n");
    assert_has(cli.out, "for its apt 101\n");
    assert_has(cli.out, "an installation was killed; enabled since then: some.service (systemctl");
    assert_lacks(strstr(cli.out, "then\n"), "was killed");
}

TEST_MAIN(cli_setup, cli_teardown)
