/* story_verbs: what the lines of a story do (story.h): the calls of our clients, and the words for servers, wires and keys. A line that
 * can't be done fails the trial. */
#ifndef DRIVERS_TESTS_STORY_VERBS_H
#define DRIVERS_TESTS_STORY_VERBS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/conform/conform_trial.h"

#define STORY_ANSWER_MAX 8192
#define STORY_MOST 8 /* clients, keys */

/* The case that is played. */
struct story_scene {
    struct trial *trial;
    struct actor *actors[STORY_MOST];
    char names[STORY_MOST][24];
    bool has_key[STORY_MOST];
    int actor_count, key_count;
    int told;    /* losses, before a fiber woke that had slept through `away` */
    bool stated; /* the line says what the answer is, or where it goes */
    struct trial_key keys[STORY_MOST];
    char key_names[STORY_MOST][24];
};
extern struct story_scene scene;

#define FAIL(...) trial_fail(scene.trial, __VA_ARGS__)
#define ANSWER(...) snprintf(answer, STORY_ANSWER_MAX, __VA_ARGS__)

/* Cuts off the first word, and returns what follows it. */
char *story_cut(char *text);
/* The text with $NAME and ${NAME} as they are in the environment; valid until the next but one call. */
const char *story_expanded(const char *text);
/* The deadline for what takes as long as a failover. */
int64_t story_long_soon(void);

/* Makes another key, which is in the environment; text "": with a name of its own. */
void story_key(const char *name, const char *text);
/* The index of a client, which is made when it is named first. */
int story_client(const char *name);

/* Does a line that begins with this word. False if there is no such word. */
bool story_word(const char *word, char *rest, char *answer);
/* What a client's call gives, or what is known of the client. */
void story_call(int client, const char *verb, char *rest, char *answer);

/* In story_programs.c. What the shell prints, its lines with blanks between. Blocks our loop meanwhile. */
void story_shell(const char *command, char *answer);
/* Tells a program, which is started with the command if it does not run, or asks it. */
void story_program(const char *command, char *words, char *answer);
void story_end_programs(void);

#endif
