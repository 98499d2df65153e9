/* window: see window.h. */
#include "bench/capacity/window.h"

#include <math.h>

#define WINDOW_MIN_S 5.0
#define LIMITS 20           /* a window lasts so many limits, or ... */
#define RELAXATIONS 8.0     /* ... so many relaxation times, whichever is longer */
#define RELAXATIONS_MIN 3.0 /* a shorter window shows nothing of a steady state */
#define WARM_LIMITS 5       /* a warm-up lasts so many limits, */
#define WARM_RELAXATIONS 2.0
#define WARM_PART 0.25 /* and at most this part of the window */
/* A window should have so many requests that this number may be over the limit. */
#define SAMPLES 5.0
#define PROBES 12    /* the budget has room for so many probes, */
#define PROBES_MIN 4 /* and for so many if the quantile needs many samples */
/* The budget of a slow lock has room for so many windows with SAMPLES. */
#define PROBES_SLOW 30
/* The scatter of very long windows, and the scatter if the relaxation time is as long as the window,
 * times the share allowed. The relaxation time counts up to SCATTER_PART of the window, which has no
 * room for longer clusters. */
#define SCATTER_MIN 2.5
#define SCATTER 0.3
#define SCATTER_PART 0.25
/* If the relaxation time is longer than this part of the window, the queue still grows at its end. */
#define UNSETTLED 0.6
#define BUDGET_MIN_S 150.0
#define BUDGET_MAX_S 600.0

/* The relaxation time of the queue at a rate; infinite at the capacity and above. */
static double relaxation_s(double rate_per_s, double capacity_per_s) {
    double root = sqrt(rate_per_s / capacity_per_s);
    return root < 1 ? 1 / capacity_per_s / ((1 - root) * (1 - root)) : INFINITY;
}

double window_settled_rate(double capacity_per_s, double span_s) {
    double root = 1 - sqrt(RELAXATIONS_MIN / (capacity_per_s * span_s));
    return root > 0 ? root * root * capacity_per_s : 0;
}

/* The relaxation time at the rate at which a queue with constant service times, served in order of
 * arrival, begins to break the promise. At that rate the share of waits beyond w falls like exp(-2
 * (1 - rate/capacity) w capacity). 0 = not known. */
static double edge_relaxation_s(const struct window_ask *ask) {
    if (!(ask->capacity_per_s > 0)) return 0;
    double idle = log(1 / ask->allowed) / (2 * ask->limit_s * ask->capacity_per_s);
    return idle < 1 ? relaxation_s((1 - idle) * ask->capacity_per_s, ask->capacity_per_s) : 0;
}

struct window window_of(const struct window_ask *ask, double rate_per_s) {
    double relaxed_s = edge_relaxation_s(ask);
    double samples_s = rate_per_s > 0 ? SAMPLES / ask->allowed / rate_per_s : 0;
    double wanted_s = fmax(LIMITS * ask->limit_s, RELAXATIONS * relaxed_s);
    double duration_s = fmin(wanted_s, ask->budget_s / PROBES / (1 + WARM_PART));
    duration_s = fmax(duration_s, fmin(samples_s, ask->budget_s / PROBES_MIN));
    duration_s = fmax(duration_s, WINDOW_MIN_S);
    double warmup_s = fmax(WARM_LIMITS * ask->limit_s, WARM_RELAXATIONS * relaxed_s);
    warmup_s = fmax(ask->warmup_s, fmin(warmup_s, WARM_PART * duration_s));
    return (struct window){.warmup_s = warmup_s, .duration_s = duration_s};
}

double window_scatter(const struct window_ask *ask, double rate_per_s) {
    double part = edge_relaxation_s(ask) / window_of(ask, rate_per_s).duration_s;
    if (part > UNSETTLED) part = SCATTER_PART * UNSETTLED / part;
    return fmax(SCATTER_MIN, SCATTER * fmin(SCATTER_PART, part) / ask->allowed);
}

double window_budget_s(double limit_s, double allowed, double capacity_per_s) {
    double limits_s = PROBES * (1 + WARM_PART) * LIMITS * limit_s;
    double samples_s = capacity_per_s > 0 ? PROBES_SLOW * SAMPLES / allowed / capacity_per_s : 0;
    return fmax(BUDGET_MIN_S, fmin(BUDGET_MAX_S, fmax(limits_s, samples_s)));
}
