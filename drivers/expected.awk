# Makes the table lb_stated (scenario.h) from drivers/scenario.def and each drivers/*/expected.txt. Any word that it does
# not know is an error: one line with its place, and exit code 1.
# usage: awk -f drivers/expected.awk drivers/scenario.def drivers/*/expected.txt
#
# A paragraph of expected.txt has the rows of the locks that its first line names; a backend's name stands for its locks
# that have no paragraph of their own. "LOCK as OTHER:" begins with the rows of an earlier paragraph of the file; a row
# with the verdict "unstated" takes one away. A line "with SECTION.KEY=VALUE ..." has the settings that the scenario of
# the row above needs for these locks.
function fail(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
    failed = 1
    exit 1
}
BEGIN {
    verdicts["safe"] = "SAFE"; verdicts["expired"] = "EXPIRED"
    verdicts["stuck"] = "STUCK"; verdicts["violated"] = "VIOLATED"
}
/^SCENARIO\(/ && FILENAME ~ /\.def$/ {
    split($0, part, /[(,"]/) # SCENARIO, the constant, a space, the name, the rest
    order[++scenarios] = part[4]
    constants[part[4]] = part[2]
    next
}
FILENAME ~ /\.def$/ || /^#/ || /^$/ { next }
!/^ / {
    if ($0 !~ /^[a-z0-9 -]+:$/) fail("not a line of names that ends with a colon")
    sub(/:$/, "")
    groups++
    last = ""
    file[groups] = FILENAME
    for (i = 1; i <= NF && $i != "as"; i++) {
        if ($i in group_of) fail($i " has rows already")
        group_of[$i] = groups
        names[++count] = $i
    }
    if (i > NF) next
    if (i != NF - 1 || !($NF in group_of) || file[group_of[$NF]] != FILENAME)
        fail("after \"as\" comes the name of one paragraph above")
    for (s in constants) {
        if ((group_of[$NF], s) in cell) {
            cell[groups, s] = cell[group_of[$NF], s]
            sets[groups, s] = sets[group_of[$NF], s]
        }
    }
    next
}
$1 == "with" {
    if (last == "") fail("no row above it has a verdict")
    if (NF > 4) fail("more than three settings")
    for (i = 2; i <= NF; i++) {
        if ($i !~ /^[a-z]+\.[a-z_]+=[^" ]+$/) fail("not a setting: " $i)
        sets[groups, last] = sets[groups, last] (i > 2 ? ", " : "") "\"" $i "\""
    }
    next
}
{
    if (!groups) fail("a row before the first name")
    if (!($1 in constants)) fail("no scenario is named " $1)
    if ((groups, $1) in seen) fail($1 " has a row above")
    seen[groups, $1] = 1
    sets[groups, $1] = ""
    if ($2 == "unstated" && NF == 2) { delete cell[groups, $1]; last = ""; next }
    if (!($2 in verdicts)) fail("no verdict is named " $2)
    if (NF < 3) fail("the reason is missing")
    last = $1
    why = $0
    sub(/^ *[^ ]+ +[^ ]+ +/, "", why)
    gsub(/["\\]/, "\\\\&", why)
    cell[groups, last] = "LB_EXPECT_" verdicts[$2] ", \"" why "\""
}
END {
    if (failed) exit 1
    print "/* Made by drivers/expected.awk; do not edit. */"
    print "#include <stddef.h>\n\n#include \"drivers/scenario.h\"\n"
    print "const struct lb_stated lb_stated[] = {"
    for (n = 1; n <= count; n++) {
        g = group_of[names[n]]
        printf "    {.name = \"%s\",\n     .cell = {\n", names[n]
        for (i = 1; i <= scenarios; i++) {
            s = order[i]
            if ((g, s) in cell)
                printf "         [%s] = {%s, {%s}},\n", constants[s], cell[g, s], sets[g, s] == "" ? "NULL" : sets[g, s]
        }
        print "     }},"
    }
    print "    {.name = NULL},\n};"
}
