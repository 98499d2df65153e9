/* story: locks of ours beside clients that are not ours, told in files: drivers/tests/stories/NAME.story. A file's head, before
 * the first case, goes for all its cases.
 *
 *     == a promise                         a case begins
 *     with LOCK [on TOPOLOGY] [tls] [NAME=VALUE]
 *                                          the lock, once for each such line; NAME is in the environment, an option if it is in
 *                                          small letters
 *     needs COMMAND | PACKAGE              the case is skipped if the shell's command fails
 *     define NAME TEXT                     NAME is in the environment
 *     tool WORD COMMAND                    WORD ARGUMENTS is the shell's COMMAND ARGUMENTS; the answer is its output
 *     program WORD COMMAND                 the same for a program that gets lines, and answers each with a line
 *     before COMMAND                       the shell's, when a case begins
 *
 *     sh COMMAND -> ANSWER                 or a tool, or a program
 *     sh COMMAND => NAME                   the answer is in the environment from now on
 *     soon LINE -> ANSWER                  the line again and again, until it gives that
 *     WORD says -> ANSWER; WORD tell LINE  the next line of a program; a line to which no answer is read here
 *     WORD is silent; WORD dies            it has written nothing; it is killed
 *     sessions 2s                          the lease of sessions from now on
 *     told -> N                            losses told after an `away`, before who slept then wakes
 *     cutoff now; cutoff never             the end of the run, for clients' waits
 *     sleep 50ms; server kill 0, restart 0, stop 0, go 0, promote 1; server leader -> 0
 *     fact NAME -> VALUE                   of the server; guarantee -> how much of it may be lost
 *     connects 1s                          how long opening a session may take
 *     wire cut after 1; wire heal          of clients whose names begin with "far": all connections end after a byte of answers
 *     wire struck -> 1                     that has happened
 *     key NAME [TEXT]                      another key; K is there from the beginning
 *     CLIENT has lease=60s held=1 shared=1 permits=2 bound=3 client=4 key=L
 *     CLIENT acquire | try | wait 50ms | release | renew 9s | settle | ping -> OUTCOME
 *     CLIENT begin [50ms | ever]; CLIENT free; CLIENT waits; CLIENT end -> OUTCOME (free: begins a release)
 *     CLIENT token | commands | wakeups | error -> ANSWER
 *     CLIENT close; CLIENT open -> ok or why not; CLIENT arm; CLIENT disarm; CLIENT ends -> when its lease ends, in ns
 *     CLIENT losses -> N                   how often it was told that its session is over
 *     CLIENT at -> PORT                    the server's that it talks to; redial: the same, in a new session
 *     CLIENT on OTHER                      its acquires and releases are of the other's session
 *     CLIENT breaks [reading]              its connection does
 *     CLIENT away 8s 2 -> OUTCOME          an acquire; the process stands still when its second request is on its way
 *     CLIENT wait_in_vain -> OUTCOME       many waits of less than 2 us
 *     CLIENT holds LINE                    acquires, does what the line says, and releases; the answer is the line's
 *     CLIENT somehow                       acquires, and opens its session again as often as it breaks
 *
 * An ANSWER is a text, in which $NAME is what the environment has (WALL: the time of day in ms); a sum of numbers; LOW to
 * HIGH; "> N"; or a regular expression between slashes. PORT, PORT0 to PORT8, PORTS, PEERS0 (a second one), SECRET, URL and CA are
 * those of the servers, PLACE the folder of a backend without a server, DIR another one; K_NUMBER and K_INDEX are those of the key.
 * Whoever makes a call and is no tool is a client of ours. Servers and programs stay for the cases that follow; not after a case
 * that failed. */
#ifndef DRIVERS_TESTS_STORY_H
#define DRIVERS_TESTS_STORY_H

/* A program of the stories in these files (spaces between names). */
int story_main(const char *names);

#define STORIES(names)                                                                             \
    int main(void) {                                                                               \
        return story_main(names);                                                                  \
    }

#endif
