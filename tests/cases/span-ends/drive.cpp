// Ends of spans with parameters, and guards that end with their block without.
#include "ends_trace.h"

#include <utility>

static uint64_t now = 1000000;
static uint64_t ticks() { return now; }
static void at(uint64_t microseconds) { now = 1000000 + microseconds; }

static void fails() {
    ends_wait_scope wait(2);
    at(20);
    throw 1;
}

int main() {
    const uint16_t values[2] = {7, 8};
    if (tumit1_set_clock(ticks, 1000000, "ends") != 0) {
        return 1;
    }
    {
        ends_wait_scope wait(1);
        at(10);
        wait.end(-3, uint64_t(1) << 40);
    }
    try {
        fails();
    } catch (int) {
    }
    at(30);
    {
        ends_wait_scope first(3);
        ends_wait_scope wait(std::move(first));
        ends_probe_scope probe;
        ends_tick();
        at(40);
        probe.end(0);
        first.end(9, 9); // the end of the other object
        wait.end(0, 0);
        wait.end(1, 1); // it ended before
    }
    { ends_probe_scope probe; }
    at(50);
    for (int n = 0; n < 2; n++) {
        auto load = ends_load_scope("input");
        if (n == 0) {
            load.end("done", "a text", values, 2);
        }
    }
    {
        ends_fetch_scope fetch(9, "a");
        auto placed = ends_placed_scope(UINT64_MAX);
        at(60);
        placed.end(true);
        fetch.end(404);
    }
    at(70);
    auto placed = ends_placed_scope(5);
    ends_fetch_scope fetch(9, "b");
    at(80);
    return 0;
}
