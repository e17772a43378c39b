/* The limits of the recording, from variables of the environment. */

/* Usual values. A function at the limit of the rate costs about one percent of the time of its
 * thread. */
#define USUAL_DEPTH 128
#define USUAL_RATE 100000

static struct {
    /* Maximum number of recorded calls that contain each other. */
    unsigned depth;
    /* Maximum number of calls of a function per second and thread. */
    uint32_t rate;
    /* Minimum duration of a call, in ticks of the clock; 0 without one. */
    tumit1_date minimum;
    /* Patterns of names, separated by `;`. Those with `!` exclude. */
    const char *patterns;
} options;

static uint64_t number_in_environment(const char *name, uint64_t usual) {
    const char *text = getenv(name);
    char *end;
    unsigned long long number;
    if (text == NULL || *text == '\0') {
        return usual;
    }
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || *text == '-') {
        fprintf(stderr, "tumit: %s=%s is not a whole number; the default %llu is used\n", name, text,
                (unsigned long long)usual);
        return usual;
    }
    return number;
}

static uint64_t nanoseconds_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Converts a duration to ticks. Measures the clock for a millisecond. */
static tumit1_date ticks_of(uint64_t nanoseconds) {
    const uint64_t start = nanoseconds_now(CLOCK_MONOTONIC);
    const tumit1_date first = tumit1_now();
    uint64_t elapsed;
    do {
        elapsed = nanoseconds_now(CLOCK_MONOTONIC) - start;
    } while (elapsed < 1000000);
    return (tumit1_date)((double)nanoseconds * (double)(tumit1_now() - first) / (double)elapsed);
}

static void read_options(void) {
    const uint64_t depth = number_in_environment("TUMIT_FUNCTIONS_DEPTH", USUAL_DEPTH);
    const uint64_t rate = number_in_environment("TUMIT_FUNCTIONS_RATE", USUAL_RATE);
    const uint64_t minimum = number_in_environment("TUMIT_FUNCTIONS_MINIMUM", 0);
    const char *patterns = getenv("TUMIT_FUNCTIONS");
    options.depth = depth < UINT_MAX ? (unsigned)depth : UINT_MAX;
    options.rate = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    options.minimum = minimum == 0 ? 0 : ticks_of(minimum);
    options.patterns = patterns != NULL && *patterns != '\0' ? patterns : NULL;
}

/* Whether a name matches a pattern, in which `*` stands for any text and `?` for a character. */
static int matches(const char *pattern, const char *pattern_end, const char *name) {
    const char *star = NULL, *star_name = NULL;
    while (*name != '\0') {
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            star_name = name;
        } else if (pattern < pattern_end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++star_name;
        } else {
            return 0;
        }
    }
    while (pattern < pattern_end && *pattern == '*') {
        pattern++;
    }
    return pattern == pattern_end;
}

/* Whether the patterns select a name. The last pattern that matches decides. Without a match, a
 * name is selected if the first pattern excludes. */
static int is_selected(const char *name) {
    const char *pattern = options.patterns;
    int is_chosen = *pattern == '!';
    while (*pattern != '\0') {
        const char *end = strchr(pattern, ';');
        const int excludes = *pattern == '!';
        if (end == NULL) {
            end = pattern + strlen(pattern);
        }
        if (end > pattern + excludes && matches(pattern + excludes, end, name)) {
            is_chosen = !excludes;
        }
        pattern = *end == ';' ? end + 1 : end;
    }
    return is_chosen;
}
