/* A cluster of a hundred processors, and the jobs that reserve them: read from a file, or generated
 * from a seed.
 *
 * Jobs are served in the order of submission; a job that does not fit is overtaken by jobs that do.
 * The trace contains the state at each sample: a processor that changed jobs several times between
 * two samples has changed once. */

#define TUMIT_EXTERN /* sampler.c has the recorder */
#include "machine_trace.h"
#include "sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SWITCHES = 4, NODES = 5, PROCESSORS = 5, SLOTS = SWITCHES * NODES * PROCESSORS };
enum { LONGEST = 999999999 }; /* in samples: also catches what was negative */

struct job {
    uint32_t submitted, runs; /* in samples */
    uint32_t ends;            /* 0: it waits */
    uint16_t processors;
    char user[32], name[32];
};

static const char cluster[] = "Cluster";
static struct job *jobs;
static size_t known; /* jobs that have been read or made */
static size_t seen;  /* of these, the number that have been submitted */
static size_t begun; /* of these, the first that have all got their processors */
static uint32_t owner[SLOTS]; /* the number of its job, from 1; 0: free */
static bool made_up;
static uint64_t seed;

static struct job *add(void) {
    if ((known & (known - 1)) == 0) {
        jobs = (struct job *)grow(jobs, known == 0 ? 1 : 2 * known, sizeof *jobs);
    }
    memset(&jobs[known], 0, sizeof *jobs);
    return &jobs[known++];
}

void jobs_from_file(const char *path) {
    FILE *file = fopen(path, "r");
    char line[256];
    unsigned number = 0;
    if (file == NULL) {
        fail(path);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned submitted, runs, processors;
        char user[32], name[32], more;
        struct job *job;
        int fields;
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') {
            continue;
        }
        fields = strchr(line, '\n') == NULL && !feof(file)
                     ? 0
                     : sscanf(line, "%9u %9u %9u %31s %31s %c", &submitted, &runs, &processors, user, name, &more);
        if (fields != 5 || submitted > LONGEST || runs == 0 || runs > LONGEST || processors == 0 || processors > SLOTS ||
            (known > 0 && submitted < jobs[known - 1].submitted)) {
            fprintf(stderr,
                    "machine-sampler: %s:%u: expected `SUBMITTED RUNS PROCESSORS USER NAME`: samples (not before the line above), "
                    "samples from 1, 1 to %d, two words of up to 31 letters\n",
                    path, number, SLOTS);
            exit(2);
        }
        job = add();
        job->submitted = submitted;
        job->runs = runs;
        job->processors = (uint16_t)processors;
        memcpy(job->user, user, sizeof user);
        memcpy(job->name, name, sizeof name);
    }
    if (ferror(file)) {
        fail(path);
    }
    fclose(file);
}

void jobs_from_seed(uint64_t given) {
    made_up = true;
    seed = given;
}

/* The next number of a series from the seed, below `limit` (upper bits of a linear congruential
   generator). */
static uint32_t draw(uint32_t limit) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % limit);
}

/* Each user has a habit: the size and duration of the jobs. */
static void make_up(uint32_t now) {
    static const struct {
        const char *user, *name;
        uint16_t processors;
        uint32_t runs;
    } habits[] = {{"ada", "weather", 40, 12},  {"blaise", "folding", 15, 20}, {"carl", "parameters", 2, 6},
                  {"emmy", "turbulence", 25, 9}, {"grace", "compile", 5, 3},    {"sofja", "rings", 10, 15}};
    uint32_t new = draw(2); /* half a job per sample: nearly as much as the cluster can do */
    while (new-- > 0) {
        uint32_t who = draw(sizeof habits / sizeof habits[0]);
        struct job *job = add();
        job->submitted = now;
        job->runs = habits[who].runs / 2 + 1 + draw(habits[who].runs);
        job->processors = (uint16_t)(habits[who].processors / 2 + 1 + draw(habits[who].processors));
        snprintf(job->user, sizeof job->user, "%s", habits[who].user);
        snprintf(job->name, sizeof job->name, "%s", habits[who].name);
    }
}

static void record(unsigned slot) {
    uint16_t processor = (uint16_t)(slot % PROCESSORS), node = (uint16_t)(slot / PROCESSORS % NODES);
    uint16_t switch_ = (uint16_t)(slot / (PROCESSORS * NODES));
    if (owner[slot] == 0) {
        machine_free(cluster, switch_, node, processor);
    } else {
        const struct job *job = &jobs[owner[slot] - 1];
        machine_reserved(cluster, switch_, node, processor, job->user, owner[slot], job->name);
    }
    counts.states++;
}

void sample_jobs(uint32_t now) {
    uint32_t before[SLOTS];
    uint16_t reserved = 0, left;
    uint32_t waiting = 0;
    unsigned slot;
    size_t i;
    memcpy(before, owner, sizeof owner);
    for (slot = 0; slot < SLOTS; slot++) {
        if (owner[slot] != 0 && jobs[owner[slot] - 1].ends <= now) {
            owner[slot] = 0;
        }
        reserved = (uint16_t)(reserved + (owner[slot] != 0));
    }
    if (made_up) {
        make_up(now);
    }
    for (; seen < known && jobs[seen].submitted <= now; seen++) {
        machine_submitted(cluster, jobs[seen].user, (uint32_t)seen + 1, jobs[seen].processors);
        counts.events++;
    }
    while (begun < seen && jobs[begun].ends != 0) {
        begun++;
    }
    for (i = begun; i < seen; i++) {
        struct job *job = &jobs[i];
        if (job->ends != 0) {
            continue;
        }
        if (job->processors > SLOTS - reserved) {
            waiting++;
            continue;
        }
        job->ends = now + job->runs;
        reserved = (uint16_t)(reserved + job->processors);
        for (slot = 0, left = job->processors; left > 0; slot++) {
            if (owner[slot] == 0) {
                owner[slot] = (uint32_t)i + 1;
                left--;
            }
        }
    }
    for (slot = 0; slot < SLOTS; slot++) {
        if (now == 0 || owner[slot] != before[slot]) {
            record(slot);
        }
    }
    machine_queue(cluster, reserved, waiting);
    counts.variables += 2;
    if (now == 0) {
        counts.containers += 1 + SWITCHES + SWITCHES * NODES + SLOTS;
    }
}
