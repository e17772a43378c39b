/* Samples of a Linux machine from /proc. Its counters grow from the start of the machine, and a
 * rate is the difference of two samples. So the first sample is kept, but not recorded. Values that
 * a system does not provide are left out. */

#define TUMIT_EXTERN /* sampler.c has the recorder */
#include "machine_trace.h"
#include "sampler.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_PROCESSORS = 1024, MOST_DISKS = 64 };

/* ---- The machine ---- */

static void sample_load(void) {
    FILE *file = fopen("/proc/loadavg", "r");
    double minute;
    unsigned running, threads;
    if (file == NULL) {
        fail("/proc/loadavg");
    }
    if (fscanf(file, "%lf %*f %*f %u/%u", &minute, &running, &threads) == 3) {
        machine_load(minute, running, threads);
        counts.variables += 2;
    }
    fclose(file);
}

static void sample_memory(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128], name[32];
    unsigned long value, total = 0, available = 0, cached = 0, swap = 0, swap_free = 0;
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%31[^:]: %lu", name, &value) != 2) {
            continue;
        }
        if (strcmp(name, "MemTotal") == 0) {
            total = value;
        } else if (strcmp(name, "MemAvailable") == 0) {
            available = value;
        } else if (strcmp(name, "Cached") == 0) {
            cached = value;
        } else if (strcmp(name, "SwapTotal") == 0) {
            swap = value;
        } else if (strcmp(name, "SwapFree") == 0) {
            swap_free = value;
        }
    }
    fclose(file);
    machine_memory(total - available, cached, swap - swap_free);
    counts.variables += 3;
}

/* The increase of a counter; 0 if it decreased, because some counters of the kernel may do so
   slightly. */
static uint64_t since(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static void sample_processors(void) {
    static struct { uint64_t all, idle, stalled; bool known, shown; } table[MOST_PROCESSORS];
    FILE *file = fopen("/proc/stat", "r");
    char line[512];
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned cpu;
        unsigned long long time[8], all = 0; /* user, nice, system, idle, waits for disks, interrupts (2), stolen */
        int i;
        if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &time[0], &time[1], &time[2], &time[3], &time[4],
                   &time[5], &time[6], &time[7]) != 9 || cpu >= MOST_PROCESSORS) {
            continue;
        }
        for (i = 0; i < 8; i++) {
            all += time[i];
        }
        if (table[cpu].known) {
            double ticks = (double)since(all, table[cpu].all), busy, stalled;
            if (ticks == 0) {
                continue; /* the kernel's ticks are long: this sample becomes a part of the next */
            }
            stalled = 100.0 * (double)since(time[4], table[cpu].stalled) / ticks;
            busy = 100.0 - stalled - 100.0 * (double)since(time[3], table[cpu].idle) / ticks;
            machine_processor((uint16_t)cpu, busy > 0 ? busy : 0, stalled);
            counts.variables += 2;
            counts.containers += !table[cpu].shown;
            table[cpu].shown = true;
        }
        table[cpu].known = true;
        table[cpu].all = all;
        table[cpu].idle = time[3];
        table[cpu].stalled = time[4];
    }
    fclose(file);
}

/* Whole disks with any activity so far. The kernel counts in sectors of 512 bytes for all disks. */
static void sample_disks(double seconds) {
    static struct { char name[32]; uint64_t read, written; bool shown; } table[MOST_DISKS];
    static unsigned known;
    FILE *file = fopen("/proc/diskstats", "r");
    char line[512];
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char name[32], path[64];
        unsigned long long read, written;
        unsigned i;
        if (sscanf(line, "%*u %*u %31s %*u %*u %llu %*u %*u %*u %llu", name, &read, &written) != 3 || read + written == 0) {
            continue;
        }
        for (i = 0; i < known && strcmp(name, table[i].name) != 0; i++) {
        }
        if (i < known) {
            machine_disk(name, (double)since(read, table[i].read) / 2.0 / seconds,
                         (double)since(written, table[i].written) / 2.0 / seconds);
            counts.variables += 2;
            counts.containers += !table[i].shown;
            table[i].shown = true;
        } else {
            snprintf(path, sizeof path, "/sys/block/%s", name);
            if (known == MOST_DISKS || access(path, F_OK) != 0) {
                continue; /* a part of a disk */
            }
            snprintf(table[known++].name, sizeof name, "%s", name);
        }
        table[i].read = read;
        table[i].written = written;
    }
    fclose(file);
}

void sample_machine(double seconds) {
    static bool shown;
    sample_processors();
    if (seconds > 0) {
        counts.containers += !shown;
        shown = true;
        sample_load();
        sample_memory();
    }
    sample_disks(seconds);
}

/* ---- Its processes ---- */

struct process {
    uint32_t pid;
    uint64_t born;     /* in ticks since the machine was started */
    uint64_t ticks;    /* of processors, used so far */
    uint64_t used;     /* of these, since the last sample */
    uint64_t resident; /* KiB */
    char letter;
    char name[32];
    bool watched;
    bool taken; /* counted among the busiest of this sample */
};

/* All processes in the order of their ids: now, and at the last sample. */
struct listing {
    struct process *all;
    size_t count, room;
};

/* Returns false if the process has ended in the meantime. */
static bool read_process(uint32_t pid, struct process *process) {
    char path[32], text[1024], *name, *rest;
    unsigned long long user, system, born;
    long pages;
    size_t length;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    /* The format is `1234 (name) S …`; a name may contain any character, including brackets. */
    name = strchr(text, '(');
    rest = strrchr(text, ')');
    if (name == NULL || rest == NULL) {
        return false;
    }
    *rest++ = '\0';
    memset(process, 0, sizeof *process);
    if (sscanf(rest, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %ld", &process->letter,
               &user, &system, &born, &pages) != 5) {
        return false;
    }
    process->pid = pid;
    process->born = born;
    process->ticks = user + system;
    process->resident = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024 : 0;
    snprintf(process->name, sizeof process->name, "%s", name + 1);
    return true;
}

static int by_pid(const void *a, const void *b) {
    uint32_t first = ((const struct process *)a)->pid, second = ((const struct process *)b)->pid;
    return (first > second) - (first < second);
}

static void read_processes(struct listing *list) {
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    if (folder == NULL) {
        fail("/proc");
    }
    list->count = 0;
    while ((entry = readdir(folder)) != NULL) {
        unsigned long pid = strtoul(entry->d_name, NULL, 10);
        if (pid == 0) {
            continue;
        }
        if (list->count == list->room) {
            list->room = list->room == 0 ? 256 : 2 * list->room;
            list->all = (struct process *)grow(list->all, list->room, sizeof *list->all);
        }
        list->count += read_process((uint32_t)pid, &list->all[list->count]);
    }
    closedir(folder);
    qsort(list->all, list->count, sizeof *list->all, by_pid);
}

static enum machine_condition condition(char letter) {
    switch (letter) {
    case 'R': return machine_condition_running;
    case 'D': return machine_condition_disk;
    case 'T': case 't': return machine_condition_stopped;
    case 'Z': case 'X': return machine_condition_ended;
    case 'I': return machine_condition_idle;
    default: return machine_condition_sleeping;
    }
}

/* Records a sample of a watched process; `letter_before` is 0 for a new one. */
static void record(const struct process *process, char letter_before, double seconds) {
    double share = 100.0 * (double)process->used / (double)sysconf(_SC_CLK_TCK) / seconds;
    machine_used(process->pid, process->born, share, process->resident);
    counts.variables += 2;
    if (letter_before == '\0' || condition(process->letter) != condition(letter_before)) {
        machine_turned(process->pid, process->born, condition(process->letter));
        counts.states++;
    }
}

/* Finds a process of the last sample in this one: NULL if it is gone. */
static struct process *find(const struct listing *list, const struct process *process) {
    struct process *found = NULL;
    if (list->count > 0) {
        found = (struct process *)bsearch(process, list->all, list->count, sizeof *process, by_pid);
    }
    return found != NULL && found->born == process->born ? found : NULL;
}

/* The busiest process with activity that is not `taken`; NULL if there is none. */
static struct process *busiest(const struct listing *list) {
    struct process *best = NULL;
    size_t i;
    for (i = 0; i < list->count; i++) {
        struct process *process = &list->all[i];
        if (!process->taken && process->used > 0 && (best == NULL || process->used > best->used)) {
            best = process;
        }
    }
    return best;
}

void sample_processes(double seconds, unsigned top) {
    static struct listing now, before;
    struct listing swap = before;
    size_t i;
    before = now;
    now = swap;
    read_processes(&now);
    if (seconds == 0) {
        return;
    }
    for (i = 0; i < before.count; i++) {
        const struct process *old = &before.all[i];
        struct process *process = find(&now, old);
        if (process == NULL) {
            if (old->watched) {
                machine_gone(old->pid, old->born);
            }
            continue;
        }
        process->used = since(process->ticks, old->ticks);
        process->watched = old->watched;
        if (old->watched) {
            record(process, old->letter, seconds);
        }
    }
    for (; top > 0; top--) {
        struct process *process = busiest(&now);
        if (process == NULL) {
            break;
        }
        process->taken = true;
        if (!process->watched) {
            process->watched = true;
            machine_watched(process->pid, process->born, process->name);
            counts.containers++;
            record(process, '\0', seconds);
        }
    }
}
